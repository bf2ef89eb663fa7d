/* special_test.c - finding special tokens, compared with trying each token at every offset.
 *
 *   SEED=N  random seed (printed)
 */
#include "base/sys/simd.h"
#include "input/cut.h"
#include "pretok/special.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS = 4, MANY = 40, LONGEST = 5, LONG = 14, TEXT = 300, TRIALS = 20000 };

/* Does literally what the header specifies for special_next. */
static enum special_hit naive(const struct special_token *t, size_t n_tokens, const unsigned char *p, size_t n,
                              size_t from, bool final, size_t *pos, size_t *len)
{
    for (size_t i = from; i < n; i++) {
        bool more = false;
        size_t best = 0;
        for (size_t k = 0; k < n_tokens; k++) {
            bool whole = t[k].text.len <= n - i;
            if (memcmp(p + i, t[k].text.p, whole ? t[k].text.len : n - i) != 0)
                continue;
            more |= !whole;
            if (whole && t[k].text.len > best)
                best = t[k].text.len;
        }
        *pos = i;
        *len = best;
        if (more && !final)
            return SPECIAL_MAYBE;
        if (best)
            return SPECIAL_FOUND;
    }
    return SPECIAL_NONE;
}

/* Whether special_next finds the same matches as naive(). All tokens begin with the same bytes, `same` of them. */
static bool agree(size_t same)
{
    static const unsigned char letter[] = {'<', '|', 0xFF};
    unsigned char bytes[MANY][LONG], begin[2], text[TEXT];
    struct special_token token[MANY] = {0};
    struct special_set set;
    struct err e;
    size_t n_tokens = 1 + rnd(rnd(8) ? TOKENS : MANY), n = rnd(TEXT), from = 0, want_pos = 0, want_len = 0;
    struct special_place place = {0};
    struct special_match m;
    size_t shortest = rnd(2) ? 1 : 1 + rnd(LONG), longest = shortest < LONGEST ? LONGEST : LONG;
    bool final = rnd(2), good = true;
    begin[0] = letter[rnd(3)];
    begin[1] = letter[rnd(3)];
    for (size_t i = 0; i < n_tokens; i++) {
        size_t min = same > shortest ? same : shortest;
        token[i].text = (struct str){.p = bytes[i], .len = min + rnd(longest + 1 - min)};
        for (size_t k = 0; k < LONG; k++)
            bytes[i][k] = k < same ? begin[k] : letter[rnd(3)];
    }
    for (size_t i = 0; i < n; i++)
        text[i] = rnd(3) ? 'x' : letter[rnd(3)]; /* mostly 'x', so that some blocks contain no token */
    if (rnd(2) && n > 80)
        memset(text + rnd(n - 80), 'x', 80);
    for (size_t i = rnd(4); i-- && n > LONG;) { /* some tokens, whole or truncated */
        const struct str t = token[rnd(n_tokens)].text;
        memcpy(text + rnd(n - LONG), t.p, t.len - rnd(2));
    }
    if (special_init(&set, token, n_tokens, &e))
        return false;
    for (enum special_hit want = SPECIAL_FOUND; want == SPECIAL_FOUND && good; from = want_pos + want_len) {
        want = naive(token, n_tokens, text, n, from, final, &want_pos, &want_len);
        good = special_next(&set, text, n, final ? TEXT_DOC : TEXT_MORE, &place, &m) == want;
        good = good && m.begin == (want == SPECIAL_NONE ? n : want_pos);
        if (want == SPECIAL_FOUND)
            good = good && m.end == want_pos + want_len;
    }
    special_free(&set);
    return good;
}

/* The index of the first of these tokens with this text, or n. */
static size_t index_of(const struct special_token *t, size_t n, const unsigned char *p, size_t len)
{
    size_t i = 0;
    while (i < n && !str_equal(t[i].text, (struct str){p, len}))
        i++;
    return i;
}

/* Whether special_before finds, at each offset that no match crosses, the token that ended there: from the text's
 * start, and from only as many bytes before the offset as it asks for. */
static bool agree_before(size_t *n_ended, size_t *n_more)
{
    static const unsigned char letter[] = {'a', 'b', '\n'};
    unsigned char bytes[TOKENS][LONGEST], text[TEXT];
    struct special_token token[TOKENS] = {0};
    struct special_set set;
    struct err e;
    size_t n_tokens = rnd(TOKENS + 1), n = 1 + rnd(rnd(2) ? 20 : TEXT - 1), from = 0, pos = 0, len = 0;
    size_t ended[TEXT + 1] = {0}; /* by offset: 1 + the token that ends there */
    bool inside[TEXT + 1] = {0}, good = true, more;
    for (size_t i = 0; i < n_tokens; i++) {
        token[i].text = (struct str){.p = bytes[i], .len = 1 + rnd(LONGEST)};
        for (size_t k = 0; k < LONGEST; k++)
            bytes[i][k] = letter[rnd(3)];
    }
    for (size_t i = 0; i < n; i++)
        text[i] = rnd(6) ? letter[rnd(3)] : 'x';
    if (special_init(&set, token, n_tokens, &e))
        return false;
    for (; naive(token, n_tokens, text, n, from, true, &pos, &len) == SPECIAL_FOUND; from = pos + len) {
        for (size_t i = pos + 1; i < pos + len; i++)
            inside[i] = true;
        ended[pos + len] = index_of(token, n_tokens, text + pos, len) + 1;
    }
    for (size_t at = 0; at <= n; at++) {
        if (inside[at])
            continue;
        good = good && special_before(&set, text, at, true, &more) == ended[at] && !more;
        for (size_t look = set.max_len;; look *= 2, ++*n_more) {
            size_t have = look < at ? look : at;
            uint64_t got = special_before(&set, text + at - have, have, have == at, &more);
            if (!more) {
                good = good && got == ended[at];
                break;
            }
            if (have == at) {
                special_free(&set);
                return false;
            }
        }
        *n_ended += ended[at] != 0;
    }
    special_free(&set);
    return good;
}

/* ---- Flags ---- */

struct span {
    size_t begin, end, token;
};

/* The characters of the random texts. */
static const struct {
    const char *bytes;
    bool space, word;
} characters[] = {{" ", true, false},        {"\n", true, false},          {"a", false, true},
                  {"_", false, true},        {"<", false, false},          {"\xC3\xA9", false, true},
                  {"\xC2\xA0", true, false}, {"\xE2\x80\x83", true, false}};
enum { N_CHARACTERS = sizeof characters / sizeof *characters };

static size_t random_characters(unsigned char *p, size_t n_chars)
{
    size_t n = 0;
    for (size_t i = 0; i < n_chars; i++) {
        const char *c = characters[rnd(rnd(3) ? 5 : N_CHARACTERS)].bytes;
        memcpy(p + n, c, strlen(c));
        n += strlen(c);
    }
    return n;
}

/* The index of the character that begins at p + at, or (before) ends there; -1: none. */
static int character(const unsigned char *p, size_t n, size_t at, bool before)
{
    for (int i = 0; i < N_CHARACTERS; i++) {
        size_t len = strlen(characters[i].bytes);
        if (before ? len <= at && !memcmp(p + at - len, characters[i].bytes, len)
                   : len <= n - at && !memcmp(p + at, characters[i].bytes, len))
            return i;
    }
    return -1;
}

static bool is_word(int c)
{
    return c >= 0 && characters[c].word;
}

/* The matches in a whole text, as find_matches of Hugging Face's tokenizers finds them, except that white space taken
 * by a token ends where the next match begins; this gives the same ids. Returns their number. */
static size_t slow_matches(const struct special_token *t, size_t n_tokens, const unsigned char *p, size_t n,
                           struct span *span)
{
    size_t n_spans = 0, pos = 0, len = 0;
    for (size_t at = 0; naive(t, n_tokens, p, n, at, true, &pos, &len) == SPECIAL_FOUND; at = pos + len) {
        struct span s = {pos, pos + len, index_of(t, n_tokens, p + pos, len)};
        unsigned flags = t[s.token].flags;
        struct span *last = n_spans ? &span[n_spans - 1] : NULL;
        int c;
        if (flags & SPECIAL_SINGLE_WORD &&
            (is_word(character(p, n, s.begin, true)) || is_word(character(p, n, s.end, false))))
            continue;
        if (last && last->end > s.begin)
            last->end = s.begin;
        while (flags & SPECIAL_LSTRIP && s.begin > (last ? last->end : 0) &&
               (c = character(p, n, s.begin, true)) >= 0 && characters[c].space)
            s.begin -= strlen(characters[c].bytes);
        while (flags & SPECIAL_RSTRIP && (c = character(p, n, s.end, false)) >= 0 && characters[c].space)
            s.end += strlen(characters[c].bytes);
        span[n_spans++] = s;
    }
    return n_spans;
}

/* Whether reading a piece p[0 .. n), which begins at `offset`, in windows gives the next matches of the whole text. */
static bool piece_agrees(const struct special_set *set, const unsigned char *p, size_t n, size_t offset,
                         enum window_end end, const struct span *span, size_t n_spans, size_t *at)
{
    struct special_place place = {0};
    struct special_match m;
    unsigned char window[TEXT * 3];
    for (size_t from = 0, have = 0; have < n || from < n;) {
        have += rnd(n - have + 1);
        bool last = have == n;
        memcpy(window, p + from, have - from); /* bytes after the window cannot be read */
        for (size_t used = 0;;) {
            enum special_hit hit = special_next(set, window, have - from, last ? end : TEXT_MORE, &place, &m);
            if (m.begin < used || m.begin > have - from || (last && hit == SPECIAL_MAYBE))
                return false;
            if (hit == SPECIAL_FOUND) {
                if (*at == n_spans || offset + from + m.begin != span[*at].begin ||
                    offset + from + m.end != span[*at].end || m.token->index != span[*at].token)
                    return false;
                ++*at;
                used = m.end;
                continue;
            }
            used += last ? m.begin - used : rnd(m.begin - used + 1);
            while (from + used < n && (p[from + used] & 0xC0) == 0x80) /* do not divide a character */
                used--;
            special_drop(set, &place, window, used);
            from += used;
            break;
        }
        if (last)
            return from == n;
    }
    return true;
}

/* Whether a text gives the same matches as a whole, in windows, and in the pieces between cuts. */
static bool flags_agree(size_t *n_spans, size_t *n_cuts)
{
    static unsigned char bytes[TOKENS][LONGEST * 3], text[TEXT * 3];
    struct special_token token[TOKENS] = {0};
    struct span span[TEXT * 3];
    struct special_set set;
    struct cutter c;
    struct err e;
    size_t n_tokens = 1 + rnd(TOKENS), n = 0, all, done = 0, from = 0, n_found = 0, known = 0;
    for (size_t i = 0; i < n_tokens; i++) {
        token[i].text = (struct str){bytes[i], random_characters(bytes[i], 1 + rnd(LONGEST))};
        token[i].flags = (unsigned)rnd(8);
    }
    for (size_t chars = rnd(TEXT / 10); chars--;) {
        const struct special_token *t = &token[rnd(n_tokens)];
        if (rnd(60) == 0 && n < TEXT) { /* more white space than is examined at a cut */
            memset(text + n, '\n', SPECIAL_SPACE);
            n += SPECIAL_SPACE;
        } else if (rnd(3)) {
            n += random_characters(text + n, 1);
        } else {
            memcpy(text + n, t->text.p, t->text.len);
            n += t->text.len;
        }
    }
    if (n == 0)
        return true;
    all = slow_matches(token, n_tokens, text, n, span);
    if (special_init(&set, token, n_tokens, &e))
        return false;
    cutter_init(&c, &input_form_text, true, &set);
    bool good = piece_agrees(&set, text, n, 0, TEXT_DOC, span, all, &n_found) && n_found == all;
    n_found = 0;
    for (size_t piece = 0; good && done < n; done = from, piece++) {
        bool more;
        size_t cut = cut_last(&c, text + done, n - done, 0, rnd(n - done + 1), true);
        from = cut ? done + cut : n;
        *n_cuts += cut != 0;
        good =
            piece_agrees(&set, text + done, from - done, done, from == n ? TEXT_DOC : TEXT_LETTER, span, all, &n_found);
        size_t before = special_before(&set, text + done, from - done, true, &more);
        size_t want = n_found && span[n_found - 1].end == from ? span[n_found - 1].token + 1 : 0;
        good = good && (from == n || before == want);
        /* The same with less text before the cut. */
        for (size_t begin = 0; good && cut_is_local(&c) && from < n && known < 20; known++) {
            begin = from > set.before ? from - set.before : 0;
            good = cut_first(&c, text + begin, n - begin, from - begin, true) == from - begin &&
                   special_before(&set, text + begin, from - begin, begin == 0, &more) == want && !more;
        }
    }
    good = good && n_found == all;
    *n_spans += all;
    special_free(&set);
    return good;
}

int main(void)
{
    static const char *const what[] = {"tokens with any first bytes", "tokens with the same first byte",
                                       "tokens with the same first two bytes"};
    const enum simd vectors = simd_level();
    random_seed(20261121);
    for (size_t same = 0; same < 3; same++) {
        size_t bad = 0;
        for (size_t i = 0; i < TRIALS; i++) {
            simd_use(i % 2 ? SIMD_NONE : vectors);
            bad += !agree(same);
        }
        tap_ok(bad == 0, "%s: %d texts, every other one with %s; %zu bad", what[same], TRIALS, simd_name(vectors), bad);
    }
    simd_use(vectors);
    size_t bad = 0, n_ended = 0, n_more = 0;
    for (size_t i = 0; i < TRIALS; i++)
        bad += !agree_before(&n_ended, &n_more);
    tap_ok(bad == 0 && n_ended > TRIALS && n_more > TRIALS / 10,
           "the token that ends at an offset: %zu found, %zu times with more text; %zu bad", n_ended, n_more, bad);
    size_t n_spans = 0, n_cuts = 0;
    bad = 0;
    for (size_t i = 0; i < 5 * TRIALS; i++)
        bad += !flags_agree(&n_spans, &n_cuts);
    tap_ok(bad == 0 && n_spans > TRIALS && n_cuts > TRIALS, "flags: %zu matches, %zu cuts; %zu bad texts", n_spans,
           n_cuts, bad);
    struct special_set none;
    struct err e;
    struct special_place place = {0};
    struct special_match m;
    tap_ok(!special_init(&none, NULL, 0, &e) &&
               special_next(&none, (const unsigned char *)"<|", 2, TEXT_MORE, &place, &m) == SPECIAL_NONE,
           "without tokens there is no match");
    special_free(&none);
    return tap_done();
}
