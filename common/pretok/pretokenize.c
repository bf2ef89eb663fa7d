/* pretokenize.c - see pretokenize.h. */
#include "pretok/pretokenize.h"

#include "unicode/nfc.h"
#include "unicode/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 }; /* pretokens at a time; with 512, scanner and sink evict each other from caches: 3 % slower */

/* Opens the scanner for the pattern, which is a name or regexes. */
static int open_scanner(struct pretokenizer *w, const struct rules *r, struct err *e)
{
    const struct pattern *known = rules_builtin(r);
    if (!known && !r->n_regex)
        return err_set(e, EX_DATAERR, "unknown pattern \"%.*s\"; use the same version of all programs",
                       (int)(r->pattern.len < 60 ? r->pattern.len : 60), (const char *)r->pattern.p);
    const bool pieces = w->sink.pairs && known && known->id == PATTERN_BYTES;
    w->scanner = pieces  ? scanner_open_pairs(w->sink.pairs, e)
                 : known ? scanner_open(known, NULL, 0, e)
                         : scanner_open_split(r->regex, r->split.p, r->n_regex, e);
    return w->scanner ? 0 : -1;
}

static int check_prefix(struct str prefix, struct err *e)
{
    bool cut;
    size_t n_chars = 0;
    for (size_t i = 0; i < prefix.len; i++)
        n_chars += (prefix.p[i] & 0xC0) != 0x80;
    return !prefix.len || (n_chars == 1 && utf8_valid_len(prefix.p, prefix.len, &cut) == prefix.len)
               ? 0
               : err_set(e, EX_DATAERR, "the prefix is not one character: it has %zu bytes", prefix.len);
}

/* Appends the prefix and the normal form of a special token that is found in normalized text; *len is their length. */
static int put_late(struct buf *text, const struct rules *r, struct str prefix, size_t i, size_t *len, struct err *e)
{
    const struct str s = r->special[i].text;
    const size_t before = text->len;
    bool cut;
    if (utf8_valid_len(s.p, s.len, &cut) != s.len)
        return err_set(e, EX_DATAERR, "special token %zu is \"normalized\" but not valid UTF-8", i);
    if (buf_put(text, prefix.p, prefix.len, e) ||
        (r->normalizer == NORMALIZER_NFC ? nfc_put(text, s.p, s.len, SIZE_MAX, e) < 0 : buf_put(text, s.p, s.len, e)))
        return -1;
    *len = text->len - before;
    return 0;
}

/* Whether a normalizer puts the prefix before text, and so before special tokens that are found in normalized text. */
static bool is_prepended(struct str prefix, const struct metaspace *s)
{
    return prefix.len && s->place == PREFIX_ALWAYS;
}

/* Sets the normal forms of the special tokens that are found in normalized text. Each goes to to[i]. If the prefix is
 * prepended, to[n_special + i] is a second form, because the prefix can be either a space or U+2581 in the text. */
static int set_late(struct pretokenizer *w, const struct rules *r, struct special_token *to, struct err *e)
{
    const bool twice = is_prepended(r->prefix, &r->metaspace);
    const struct str first = twice ? r->prefix : (struct str){0}, second = str_of(METASPACE);
    const size_t n = r->n_special, n_to = twice ? 2 * n : n;
    for (size_t i = 0; i < n_to; i++) {
        to[i] = r->special[i % n];
        if (to[i].flags & SPECIAL_NORMALIZED &&
            put_late(&w->late_text, r, i < n ? first : second, i % n, &to[i].text.len, e))
            return -1;
    }
    for (size_t i = 0, at = 0; i < n_to; i++) {
        if (to[i].flags & SPECIAL_NORMALIZED) {
            to[i].text.p = w->late_text.p + at;
            at += to[i].text.len;
        }
    }
    if (special_init_normalized(&w->late, to, n_to, e))
        return -1;
    for (size_t i = 0; i < w->late.n; i++)
        w->late.token[i].index %= n;
    return 0;
}

static int open_late(struct pretokenizer *w, const struct rules *r, struct err *e)
{
    struct special_token *token = calloc(2 * r->n_special + 1, sizeof *token);
    if (!token)
        return err_mem(e, "special tokens", 2 * r->n_special * sizeof *token);
    int rc = set_late(w, r, token, e);
    for (size_t i = 1; i < w->late.n && !rc; i++) {
        const struct special_entry *t = &w->late.token[i];
        if (str_equal((struct str){t[-1].p, t[-1].len}, (struct str){t->p, t->len}))
            rc = err_set(e, EX_DATAERR, "two special tokens have the same normal form, %.*s: not supported",
                         (int)(t->len < 60 ? t->len : 60), (const char *)t->p);
    }
    free(token);
    return rc ? -1 : 0;
}

int pretokenizer_open(struct pretokenizer *w, const struct rules *rules, enum invalid_policy invalid,
                      const struct pretoken_sink *sink, struct err *e)
{
    bool cut;
    *w = (struct pretokenizer){.invalid = invalid,
                               .sink = *sink,
                               .normalizer = rules->normalizer,
                               .prefix = rules->prefix,
                               .metaspace = rules->metaspace};
    if (check_prefix(rules->prefix, e) || open_scanner(w, rules, e) ||
        special_init(&w->special, rules->special, rules->n_special, e) || open_late(w, rules, e)) {
        pretokenizer_close(w);
        return -1;
    }
    w->special_valid = true;
    for (size_t i = 0; i < rules->n_special; i++)
        w->special_valid = w->special_valid && utf8_valid_len(rules->special[i].text.p, rules->special[i].text.len,
                                                              &cut) == rules->special[i].text.len;
    return 0;
}

void pretokenizer_close(struct pretokenizer *w)
{
    scanner_close(w->scanner);
    special_free(&w->special);
    special_free(&w->late);
    buf_free(&w->clean);
    buf_free(&w->normal);
    buf_free(&w->prefixed);
    buf_free(&w->traced);
    buf_free(&w->late_text);
    buf_free(&w->spaced);
    *w = (struct pretokenizer){0};
}

void pretokenizer_begin(struct pretokenizer *w, bool inside, bool later)
{
    w->inside = inside;
    w->later = later;
    w->skip = 0;
    w->place = w->late_place = (struct special_place){0};
}

/* Passes on those of n pieces that are not dropped. */
static int pass_kept(const struct pretokenizer *w, const unsigned char *text, size_t start, const uint32_t *ends,
                     const unsigned char *dropped, size_t n, struct err *e)
{
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && !dropped[i])
            i++;
        if (i > from && w->sink.words(w->sink.ctx, text, start, ends + from, i - from, e))
            return -1;
        while (i < n && dropped[i])
            i++;
        start = ends[i - 1];
    }
    return 0;
}

/* Passes on the pretokens of valid text that no further text can change; returns the bytes they take. */
static ptrdiff_t pass_pretokens(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                size_t *where, struct err *e)
{
    uint32_t ends[BATCH];
    size_t base = 0; /* 32-bit offsets limit the length of a scan, so long text is scanned in windows from here */
    while (base < n) {
        size_t len = n - base, pos = 0;
        enum window_end how = end;
        if (len > SCAN_WINDOW_MAX) {
            for (len = SCAN_WINDOW_MAX; (p[base + len] & 0xC0) == 0x80; len--)
                ;
            how = TEXT_MORE;
        }
        for (;;) {
            size_t start = pos;
            ptrdiff_t got = scanner_scan(w->scanner, p + base, len, how, &pos, ends, BATCH, e);
            if (got < 0) {
                *where = base + start;
                return -1;
            }
            if (got == 0)
                break;
            const unsigned char *dropped = scanner_dropped(w->scanner);
            if (dropped ? pass_kept(w, p + base, start, ends, dropped, (size_t)got, e)
                        : w->sink.words(w->sink.ctx, p + base, start, ends, (size_t)got, e)) {
                *where = base + start;
                return -1;
            }
        }
        if (pos == 0 && how == TEXT_MORE && len >= SCAN_WINDOW_MAX - 3) {
            *where = base;
            return err_set(e, EX_DATAERR, "a pretoken of more than 4 GiB is not supported; use another pattern");
        }
        base += pos;
        if (how == end)
            break;
    }
    return (ptrdiff_t)base;
}

static bool begins_with(const unsigned char *p, size_t n, struct str s)
{
    return n >= s.len && memcmp(p, s.p, s.len) == 0;
}

/* Sets w->prefixed to `first` followed by p[0 .. n), padded for a scanner. */
static int set_prefixed(struct pretokenizer *w, struct str first, const unsigned char *p, size_t n, struct err *e)
{
    struct buf *b = &w->prefixed;
    b->len = 0;
    w->prefixed_from = p;
    w->n_prefixed = first.len;
    if (buf_reserve(b, first.len + n + SCAN_PAD, e) || buf_put(b, first.p, first.len, e) || buf_put(b, p, n, e))
        return -1;
    memset(b->p + b->len, 0, SCAN_PAD);
    return 0;
}

/* Like pass_pretokens, for text that gets the prefix, in a copy. A scanner that streams gets only as much of the text
 * as it needs for the first pretokens; any other scanner gets all of it. *used: the bytes of p that these pretokens
 * take. */
static int pass_prefixed(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end, size_t *used,
                         size_t *where, struct err *e)
{
    enum { FIRST = 128 };
    struct buf *b = &w->prefixed;
    const size_t prefix = w->prefix.len;
    for (size_t len = scanner_streams(w->scanner) ? FIRST : n;; len *= 2) {
        while (len < n && (p[len] & 0xC0) == 0x80)
            len++;
        bool all = len >= n;
        len = all ? n : len;
        if (set_prefixed(w, w->prefix, p, len, e))
            return -1;
        ptrdiff_t got = pass_pretokens(w, b->p, b->len, all ? end : TEXT_MORE, where, e);
        if (got < 0) {
            *where = *where > prefix ? *where - prefix : 0;
            return -1;
        }
        if (got) {
            assert((size_t)got >= prefix);
            *used = (size_t)got - prefix;
            w->inside = true;
            return 0;
        }
        if (all) {
            *used = 0;
            return 0;
        }
    }
}

/* Whether the prefix goes before this text. */
static bool wants_prefix(const struct pretokenizer *w, const unsigned char *p, size_t n)
{
    const enum prefix_place place = w->metaspace.place;
    return w->prefix.len && !w->inside && !(place == PREFIX_FIRST && w->later) &&
           (place == PREFIX_ALWAYS || !begins_with(p, n, w->prefix));
}

/* Passes on the pretokens of valid text, with the prefix if the text gets it. */
static ptrdiff_t pretokenize_spaced(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                    size_t *where, struct err *e)
{
    size_t used = 0;
    if (n && wants_prefix(w, p, n)) {
        if (pass_prefixed(w, p, n, end, &used, where, e))
            return -1;
        if (!w->inside)
            return 0; /* more text is needed */
    }
    ptrdiff_t rest = pass_pretokens(w, p + used, n - used, end, where, e);
    if (rest < 0) {
        *where += used;
        return -1;
    }
    w->inside = w->inside || rest;
    return (ptrdiff_t)used + rest;
}

/* The same, but first replaces each U+2581 with a space, in a copy, if the rules treat it as a space. */
static ptrdiff_t pretokenize_valid(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                   size_t *where, struct err *e)
{
    struct buf *b = &w->spaced;
    if (!w->metaspace.on || !metaspace_in(p, n))
        return pretokenize_spaced(w, p, n, end, where, e);
    b->len = 0;
    if (buf_reserve(b, n + SCAN_PAD, e))
        return -1;
    b->len = metaspace_replace(b->p, p, n);
    w->spaced_from = p;
    w->spaced_in = w->spaced_out = 0;
    memset(b->p + b->len, 0, SCAN_PAD);
    ptrdiff_t used = pretokenize_spaced(w, b->p, b->len, end, where, e);
    if (used < 0)
        *where = metaspace_origin(p, *where);
    return used < 0 ? -1 : (ptrdiff_t)metaspace_origin(p, (size_t)used);
}

/* Passes on the prefix alone as one pretoken, before p. */
static int pass_prefix(struct pretokenizer *w, const unsigned char *p, struct err *e)
{
    const uint32_t end = (uint32_t)w->prefix.len;
    if (set_prefixed(w, w->prefix, p, 0, e))
        return -1;
    w->inside = true;
    return w->sink.words(w->sink.ctx, w->prefixed.p, 0, &end, 1, e);
}

/* ---- Special tokens and their positions ---- */

/* Maps byte `at` of derived text (struct made_text) to an offset in the original. The offsets never decrease from call
 * to call. Inside a part that was replaced as a whole, returns the offset where the part begins, and sets *past to the
 * number of bytes from the start of its replacement to `at`. */
static ptrdiff_t trace(struct pretokenizer *w, struct made_text *m, size_t at, size_t *past, struct err *e)
{
    struct buf *b = &w->traced;
    const unsigned char *p = m->p + m->in;
    b->len = 0;
    ptrdiff_t used = m->normal ? nfc_put(b, p, m->n - m->in, at - m->out, e)
                               : utf8_clean(b, p, m->n - m->in, w->invalid == INVALID_REPLACE, at - m->out, e);
    if (used < 0)
        return -1;
    m->in += (size_t)used;
    m->out += b->len;
    *past = at - m->out;
    return (ptrdiff_t)m->in;
}

/* Maps byte `at` of the text that is searched for late tokens to an offset in the window. Inside a replaced part, this
 * is as many bytes after the start of the part, moved to the next character boundary. */
static ptrdiff_t place_in_window(struct pretokenizer *w, size_t at, struct err *e)
{
    size_t past = 0, none;
    ptrdiff_t to = (ptrdiff_t)at;
    if (w->normalized.p && (to = trace(w, &w->normalized, w->normalized.skip + at, &past, e)) < 0)
        return -1;
    for (at = (size_t)to + past; past && at < w->normalized.n && (w->normalized.p[at] & 0xC0) == 0x80; at++)
        ;
    if (past && at > w->normalized.n)
        at = w->normalized.n;
    if (w->cleaned.p) {
        if (trace(w, &w->cleaned, (size_t)to, &none, e) < 0)
            return -1;
        struct made_text rest = w->cleaned; /* a copy, because the next position may be the start of this part */
        if ((to = trace(w, &rest, at, &none, e)) < 0)
            return -1;
        at = (size_t)to;
    }
    return (ptrdiff_t)(w->stretch + w->segment + at);
}

/* Passes on a special token. begin, end: where it begins and ends in the text that is searched. */
static int pass_special(struct pretokenizer *w, bool late, const struct special_entry *t, size_t begin, size_t end,
                        struct err *e)
{
    const bool place = late && w->sink.special;
    ptrdiff_t before = place ? place_in_window(w, begin, e) : (ptrdiff_t)begin;
    ptrdiff_t after = before >= 0 && place ? place_in_window(w, end, e) : (ptrdiff_t)end;
    w->inside = (late && is_prepended(w->prefix, &w->metaspace)) || t->flags & SPECIAL_INSIDE;
    w->later = true;
    w->special_begin = before < 0 ? 0 : (size_t)before;
    return before < 0 || after < 0 || (w->sink.special && w->sink.special(w->sink.ctx, t->index, (size_t)after, e)) ? -1
                                                                                                                    : 0;
}

/* Passes on a late token that begins with the prefix, which a normalizer puts before p[0 .. n). Returns how many bytes
 * of p the token takes; 0 if there is no such token. *more: more text is needed to decide. */
static ptrdiff_t pass_first(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end, bool *more,
                            struct err *e)
{
    const size_t prefix = w->prefix.len, len = n < w->late.max_len ? n : w->late.max_len;
    if (set_prefixed(w, w->prefix, p, len, e))
        return -1;
    const struct special_entry *t = special_at(&w->late, w->prefixed.p, w->prefixed.len, more);
    *more = *more && end == TEXT_MORE;
    return !t || *more ? 0 : pass_special(w, true, t, 0, t->len - prefix, e) ? -1 : (ptrdiff_t)(t->len - prefix);
}

typedef ptrdiff_t stretch_fn(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                             size_t *where, struct err *e);

/* Splits text at the special tokens, or (late) at the late ones; the text between them goes to `between`. */
static ptrdiff_t split(struct pretokenizer *w, bool late, stretch_fn *between, const unsigned char *p, size_t n,
                       enum window_end end, size_t *where, struct err *e)
{
    const struct special_set *set = late ? &w->late : &w->special;
    struct special_place *place = late ? &w->late_place : &w->place;
    struct special_match m;
    const bool prepended = late && is_prepended(w->prefix, &w->metaspace);
    size_t at = 0, bad = 0;
    if (prepended && n && !w->inside) {
        bool more;
        ptrdiff_t first = pass_first(w, p, n, end, &more, e);
        *where = 0;
        if (first < 0 || more)
            return first;
        place->from = at = (size_t)first;
        place->searched = place->searched > at ? place->searched : at;
    }
    for (;;) {
        enum special_hit hit = special_next(set, p, n, end, place, &m);
        enum window_end how = hit == SPECIAL_FOUND ? TEXT_DOC : end;
        if (how == TEXT_LETTER && m.begin > at && (p[m.begin - 1] != '\n' || !scanner_streams(w->scanner))) {
            *where = m.begin;
            return err_set(
                e, EX_DATAERR,
                "the piece ends where the pattern allows no cut: the input changed, or the record is damaged; "
                "run bpe-chunk again");
        }
        if (!late)
            w->stretch = at;
        ptrdiff_t used = between(w, p + at, m.begin - at, how, &bad, e);
        if (used >= 0 && hit == SPECIAL_FOUND && (prepended || m.token->flags & SPECIAL_INSIDE) &&
            wants_prefix(w, p, 0) && pass_prefix(w, p + m.begin, e))
            used = -1;
        if (used < 0) {
            *where = at + bad;
            return -1;
        }
        if (hit != SPECIAL_FOUND) {
            if (end == TEXT_MORE)
                special_drop(set, place, p, at + (size_t)used);
            else
                *place = (struct special_place){0};
            return (ptrdiff_t)at + used;
        }
        if (pass_special(w, late, m.token, m.begin, m.end, e)) {
            *where = m.begin;
            return -1;
        }
        at = m.end;
    }
}

/* ---- Text between special tokens ---- */

/* Passes on text in normal form, in which late tokens are found first. */
static ptrdiff_t pretokenize_normal(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                    size_t *where, struct err *e)
{
    return w->late.n ? split(w, true, pretokenize_valid, p, n, end, where, e)
                     : pretokenize_valid(w, p, n, end, where, e);
}

/* Like trace, for the rest of a window, which is short. If normalization changes nothing between the last settled
 * boundary and the end, the rest has as many bytes in the original. */
static ptrdiff_t trace_rest(struct pretokenizer *w, struct made_text *m, size_t at, size_t *past, struct err *e)
{
    size_t left = w->normal.len - at;
    if (left < m->n && m->n - left >= m->in) {
        size_t from = nfc_settled_len(m->p, m->n - left);
        *past = 0;
        if (nfc_checked_len(m->p + from, m->n - from) == m->n - from)
            return (ptrdiff_t)(m->n - left);
    }
    return trace(w, m, at, past, e);
}

/* Like pretokenize_normal, for valid text that is not normalized yet. Text already in normal form is not copied.
 *
 * If the document continues, the end of the text, whose normal form later text may change, is left to the next window.
 * A pretoken may end inside the normal form of a part of the text. Then the whole part is left to the next window, and
 * w->skip is where to resume in its normal form. This works because the part is complete, so it has the same normal
 * form in the next window. */
static ptrdiff_t pretokenize_normalized(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                        size_t *where, struct err *e)
{
    const size_t skip = w->skip;
    struct buf *b = &w->normal;
    size_t past;
    w->normalized.p = NULL;
    if (w->normalizer == NORMALIZER_NONE)
        return pretokenize_normal(w, p, n, end, where, e);
    if (end == TEXT_MORE && (n = nfc_settled_len(p, n)) == 0)
        return 0;
    const size_t same = nfc_checked_len(p, n);
    if (!skip && same == n)
        return pretokenize_normal(w, p, n, end, where, e);
    b->len = 0;
    if (buf_put(b, p, same, e) || nfc_put(b, p + same, n - same, SIZE_MAX, e) < 0 || buf_reserve(b, SCAN_PAD, e))
        return -1;
    memset(b->p + b->len, 0, SCAN_PAD);
    assert(skip <= b->len);
    w->skip = 0;
    w->normalized = (struct made_text){.p = p, .n = n, .normal = true, .skip = skip};
    ptrdiff_t used = pretokenize_normal(w, b->p + skip, b->len - skip, end, where, e);
    if (used < 0) {
        ptrdiff_t at = trace(w, &w->normalized, skip + *where, &past, e);
        *where = at < 0 ? 0 : (size_t)at;
        return -1;
    }
    return end == TEXT_MORE ? trace_rest(w, &w->normalized, skip + (size_t)used, &w->skip, e) : (ptrdiff_t)n;
}

/* The same for text with invalid bytes, which are skipped or replaced. If the document continues, offsets in the
 * cleaned text are traced back to the original. */
static ptrdiff_t pretokenize_cleaned(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                     size_t *where, struct err *e)
{
    bool replace = w->invalid == INVALID_REPLACE;
    size_t past;
    w->clean.len = 0;
    if (utf8_clean(&w->clean, p, n, replace, SIZE_MAX, e) < 0 || buf_reserve(&w->clean, SCAN_PAD, e))
        return -1;
    w->cleaned = (struct made_text){.p = p, .n = n};
    ptrdiff_t used = pretokenize_normalized(w, w->clean.p, w->clean.len, end, where, e);
    if (used < 0)
        return -1;
    if (end != TEXT_MORE || (size_t)used == w->clean.len)
        return (ptrdiff_t)n;
    return trace(w, &w->cleaned, (size_t)used, &past, e);
}

/* The same for text with invalid bytes, each of which becomes a pretoken. A prefix before one is a pretoken of its own,
 * too. */
static ptrdiff_t pretokenize_bytes(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                   size_t *where, struct err *e)
{
    static const uint32_t one = 1;
    size_t at = 0;
    bool cut;
    if (utf8_valid_len(p, n, &cut) == 0 && wants_prefix(w, p, n) && pass_prefix(w, p, e)) {
        *where = 0;
        return -1;
    }
    for (;;) {
        size_t valid = utf8_valid_len(p + at, n - at, &cut);
        bool last = at + valid == n;
        w->segment = at;
        ptrdiff_t used = valid ? pretokenize_normalized(w, p + at, valid, last ? end : TEXT_DOC, where, e) : 0;
        if (used >= 0 && !last && w->sink.words(w->sink.ctx, p + at + valid, 0, &one, 1, e)) {
            *where = valid;
            used = -1;
        }
        if (used < 0) {
            *where += at;
            return -1;
        }
        if (last)
            return (ptrdiff_t)at + used;
        at += valid + 1;
    }
}

/* One stretch without special tokens. Returns the bytes used: all, unless TEXT_MORE. */
static ptrdiff_t pretokenize_stretch(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end,
                                     size_t *where, struct err *e)
{
    bool cut = false;
    if (n == 0 || (end == TEXT_MORE && !scanner_streams(w->scanner)))
        return 0;
    w->segment = 0;
    w->cleaned.p = NULL;
    size_t valid = w->valid && w->special_valid ? n : utf8_valid_len(p, n, &cut);
    if (end == TEXT_MORE && cut)
        n = valid;
    if (valid == n)
        return pretokenize_normalized(w, p, n, end, where, e);
    if (w->invalid == INVALID_ERROR) {
        *where = valid;
        return err_set(e, EX_DATAERR, "invalid UTF-8 (0x%02X); see --invalid", p[valid]);
    }
    if (end == TEXT_MORE) { /* leave an incomplete character to the next window */
        size_t tail = n;
        while (tail > 0 && n - tail < 3 && (p[tail - 1] & 0xC0) == 0x80)
            tail--;
        if (tail > 0 && p[tail - 1] >= 0xC0) {
            (void)utf8_valid_len(p + tail - 1, n - tail + 1, &cut);
            if (cut)
                n = tail - 1;
        }
    }
    return w->invalid == INVALID_BYTES ? pretokenize_bytes(w, p, n, end, where, e)
                                       : pretokenize_cleaned(w, p, n, end, where, e);
}

/* ---- Where pretokens come from ---- */

static bool lies_in(const struct buf *b, const unsigned char *p)
{
    return b->p && (uintptr_t)p >= (uintptr_t)b->p && (uintptr_t)p <= (uintptr_t)(b->p + b->len);
}

/* Maps a place in made text, whose bytes are in b, to its original. In a part that was replaced as a whole, and that
 * does not begin with the same bytes: where the part begins or, if is_end, where it ends. */
static int trace_part(struct pretokenizer *w, struct made_text *m, const struct buf *b, size_t at, bool is_end,
                      const unsigned char **to, struct err *e)
{
    struct made_text rest = *m; /* for ends, because the next place may be before this one */
    struct made_text *from = is_end ? &rest : m;
    size_t past, start = at;
    while (start > from->out && start < b->len && (b->p[start] & 0xC0) == 0x80)
        start--;
    ptrdiff_t in = trace(w, from, start, &past, e);
    past += at - start;
    if (in < 0)
        return -1;
    if (past <= m->n - (size_t)in && memcmp(m->p + in, b->p + at - past, past) == 0)
        in += (ptrdiff_t)past;
    else
        for (size_t next = at; is_end && past && next <= b->len && in >= 0; next++)
            if (next == b->len || (b->p[next] & 0xC0) != 0x80)
                in = trace(w, from, next, &past, e);
    *to = m->p + in;
    return in < 0 ? -1 : 0;
}

/* Maps a place in `spaced` to its text, from the last place on. */
static const unsigned char *spaced_origin(struct pretokenizer *w, size_t at)
{
    if (at < w->spaced_out)
        w->spaced_in = w->spaced_out = 0;
    w->spaced_in += metaspace_origin(w->spaced_from + w->spaced_in, at - w->spaced_out);
    w->spaced_out = at;
    return w->spaced_from + w->spaced_in;
}

/* The same for any place in text that was passed to the sink, to an offset in the window. */
static int origin(struct pretokenizer *w, const unsigned char *p, bool is_end, size_t *at, struct err *e)
{
    if (lies_in(&w->prefixed, p)) {
        const size_t i = (size_t)(p - w->prefixed.p);
        p = w->prefixed_from + (i > w->n_prefixed ? i - w->n_prefixed : 0);
    }
    if (lies_in(&w->spaced, p))
        p = spaced_origin(w, (size_t)(p - w->spaced.p));
    if (w->normalized.p && lies_in(&w->normal, p) &&
        trace_part(w, &w->normalized, &w->normal, (size_t)(p - w->normal.p), is_end, &p, e))
        return -1;
    if (w->cleaned.p && lies_in(&w->clean, p) &&
        trace_part(w, &w->cleaned, &w->clean, (size_t)(p - w->clean.p), is_end, &p, e))
        return -1;
    *at = (size_t)(p - w->window);
    return 0;
}

bool pretokenizer_is_window(const struct pretokenizer *w, const unsigned char *p)
{
    return !lies_in(&w->prefixed, p) && !lies_in(&w->spaced, p) && !lies_in(&w->normal, p) && !lies_in(&w->clean, p);
}

int pretokenizer_origin(struct pretokenizer *w, const unsigned char *p, size_t n, size_t *begin, size_t *end,
                        struct err *e)
{
    return origin(w, p, false, begin, e) || origin(w, p + n, true, end, e) ? -1 : 0;
}

/* ---- The whole ---- */

ptrdiff_t pretokenize_text(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end, size_t *where,
                           struct err *e)
{
    w->window = p;
    ptrdiff_t used = split(w, false, pretokenize_stretch, p, n, end, where, e);
    if (end == TEXT_DOC)
        w->inside = w->later = false;
    return used;
}
