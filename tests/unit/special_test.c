/* special_test.c - finding special tokens, compared with trying each one at every place.
 *
 *   SEED=N  random seed (printed)
 */
#include "pretok/special.h"
#include "random.h"

#include <string.h>

enum { TOKENS = 4, LONGEST = 5, TEXT = 300, TRIALS = 20000 };

/* Does literally what the header says of special_next. */
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

/* Whether special_next finds the same as naive() from each hit to the next. `same` bytes begin all tokens. */
static bool agree(size_t same)
{
    static const unsigned char letter[] = {'<', '|', 0xFF};
    unsigned char bytes[TOKENS][LONGEST], begin[2], text[TEXT];
    struct special_token token[TOKENS] = {0};
    struct special_set set;
    struct err e;
    size_t n_tokens = 1 + rnd(TOKENS), n = rnd(TEXT), from = 0, pos = 0, len = 0, want_pos = 0, want_len = 0;
    bool final = rnd(2), good = true;
    begin[0] = letter[rnd(3)];
    begin[1] = letter[rnd(3)];
    for (size_t i = 0; i < n_tokens; i++) {
        size_t min = same ? same : 1;
        token[i].text = (struct str){.p = bytes[i], .len = min + rnd(LONGEST + 1 - min)};
        for (size_t k = 0; k < LONGEST; k++)
            bytes[i][k] = k < same ? begin[k] : letter[rnd(3)];
    }
    for (size_t i = 0; i < n; i++)
        text[i] = rnd(3) ? 'x' : letter[rnd(3)]; /* so that blocks without any occur too */
    if (rnd(2) && n > 80)
        memset(text + rnd(n - 80), 'x', 80);
    if (special_init(&set, token, n_tokens, &e))
        return false;
    for (enum special_hit want = SPECIAL_FOUND; want == SPECIAL_FOUND && good; from = pos + len) {
        want = naive(token, n_tokens, text, n, from, final, &want_pos, &want_len);
        good = special_next(&set, text, n, from, final, &pos, &len) == want;
        if (want != SPECIAL_NONE)
            good = good && pos == want_pos;
        if (want == SPECIAL_FOUND)
            good = good && len == want_len;
    }
    special_free(&set);
    return good;
}

/* Whether special_before finds, at each place that no match crosses, the token that ended there, both from the text's
 * start and from no more bytes before the place than it asks for. */
static bool agree_before(size_t *n_ended, size_t *n_more)
{
    static const unsigned char letter[] = {'a', 'b', '\n'};
    unsigned char bytes[TOKENS][LONGEST], text[TEXT];
    struct special_token token[TOKENS] = {0};
    struct special_set set;
    struct err e;
    size_t n_tokens = rnd(TOKENS + 1), n = 1 + rnd(rnd(2) ? 20 : TEXT - 1), from = 0, pos = 0, len = 0;
    size_t ended[TEXT + 1] = {0}; /* at each place: 1 + the token that ends there */
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
        ended[pos + len] = special_index(&set, text + pos, len) + 1;
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

int main(void)
{
    static const char *const what[] = {"tokens that begin anyhow", "tokens that begin with one byte",
                                       "tokens that begin with two bytes"};
    random_seed(20261121);
    for (size_t same = 0; same < 3; same++) {
        size_t bad = 0;
        for (size_t i = 0; i < TRIALS; i++)
            bad += !agree(same);
        tap_ok(bad == 0, "%s: %d texts, %zu bad", what[same], TRIALS, bad);
    }
    size_t bad = 0, n_ended = 0, n_more = 0;
    for (size_t i = 0; i < TRIALS; i++)
        bad += !agree_before(&n_ended, &n_more);
    tap_ok(bad == 0 && n_ended > TRIALS && n_more > TRIALS / 10,
           "which token ended right before a place: %zu times, %zu of them from farther back; %zu bad", n_ended, n_more,
           bad);
    struct special_set none;
    struct err e;
    size_t pos, len;
    tap_ok(!special_init(&none, NULL, 0, &e) &&
               special_next(&none, (const unsigned char *)"<|", 2, 0, false, &pos, &len) == SPECIAL_NONE,
           "no tokens, no hit");
    special_free(&none);
    return tap_done();
}
