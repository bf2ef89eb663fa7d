/* counter.c - see counter.h. */
#include "bpe/counter.h"

#include "sys/utf8.h"

enum { BATCH = 4096 }; /* pretokens between scanner and table; with 512, each drives the other out of caches: 3 % */

int counter_open(struct counter *c, const struct pattern *pattern, const unsigned char *regex, size_t regex_len,
                 const struct special_token *special, size_t n_special, enum counter_invalid invalid, struct err *e)
{
    *c = (struct counter){.invalid = invalid};
    c->scanner = scanner_open(pattern, (const char *)regex, regex_len, e);
    if (!c->scanner || special_init(&c->special, special, n_special, e) || table_init(&c->table, e)) {
        counter_close(c);
        return -1;
    }
    return 0;
}

void counter_close(struct counter *c)
{
    scanner_close(c->scanner);
    special_free(&c->special);
    table_free(&c->table);
    buf_free(&c->clean);
    *c = (struct counter){0};
}

/* Counts the pretokens of valid text that no further text can change; returns the bytes they take. */
static ptrdiff_t count_valid(struct counter *c, const unsigned char *p, size_t n, enum scan_end end, size_t *where,
                             struct err *e)
{
    uint32_t ends[BATCH];
    size_t base = 0; /* windows of what 32-bit offsets can reach */
    while (base < n) {
        size_t len = n - base, pos = 0;
        enum scan_end how = end;
        if (len > SCAN_MAX_WINDOW) {
            for (len = SCAN_MAX_WINDOW; (p[base + len] & 0xC0) == 0x80; len--)
                ;
            how = SCAN_MORE;
        }
        for (;;) {
            size_t start = pos;
            ptrdiff_t got = scanner_scan(c->scanner, p + base, len, how, &pos, ends, BATCH, e);
            if (got < 0) {
                *where = base + start;
                return -1;
            }
            if (got == 0)
                break;
            if (table_add_ends(&c->table, p + base, start, ends, (size_t)got, e))
                return -1;
        }
        if (pos == 0 && how == SCAN_MORE && len >= SCAN_MAX_WINDOW - 3) {
            *where = base;
            return err_set(e, EX_DATAERR, "a pretoken of more than 4 GiB; this pattern cannot be used on it");
        }
        base += pos;
        if (how == end)
            break;
    }
    return (ptrdiff_t)base;
}

/* The same for text that is not valid, by the policy. Where the document goes on, offsets in the cleaned text are
 * traced back. */
static ptrdiff_t count_cleaned(struct counter *c, const unsigned char *p, size_t n, enum scan_end end, size_t *where,
                               struct err *e)
{
    bool replace = c->invalid == COUNTER_REPLACE;
    c->clean.len = 0;
    if (utf8_clean(&c->clean, p, n, replace, SIZE_MAX, e) < 0 || buf_reserve(&c->clean, SCAN_PAD, e))
        return -1;
    ptrdiff_t used = count_valid(c, c->clean.p, c->clean.len, end, where, e);
    if (used < 0)
        return -1;
    if (end != SCAN_MORE || (size_t)used == c->clean.len)
        return (ptrdiff_t)n;
    c->clean.len = 0;
    return utf8_clean(&c->clean, p, n, replace, (size_t)used, e);
}

/* One stretch without special tokens. Returns the bytes used: all, unless SCAN_MORE. */
static ptrdiff_t count_stretch(struct counter *c, const unsigned char *p, size_t n, enum scan_end end, size_t *where,
                               struct err *e)
{
    bool cut;
    if (n == 0 || (end == SCAN_MORE && !scanner_streams(c->scanner)))
        return 0;
    size_t valid = utf8_valid_len(p, n, &cut);
    if (end == SCAN_MORE && cut)
        n = valid;
    if (valid == n)
        return count_valid(c, p, n, end, where, e);
    if (c->invalid == COUNTER_ERROR) {
        *where = valid;
        return err_set(e, EX_DATAERR, "invalid UTF-8 (0x%02X); see --invalid", p[valid]);
    }
    if (end == SCAN_MORE) { /* leave a character that is not all here to the next window */
        size_t tail = n;
        while (tail > 0 && n - tail < 3 && (p[tail - 1] & 0xC0) == 0x80)
            tail--;
        if (tail > 0 && p[tail - 1] >= 0xC0) {
            (void)utf8_valid_len(p + tail - 1, n - tail + 1, &cut);
            if (cut)
                n = tail - 1;
        }
    }
    return count_cleaned(c, p, n, end, where, e);
}

ptrdiff_t counter_feed(struct counter *c, const unsigned char *p, size_t n, enum counter_end end, size_t *where,
                       struct err *e)
{
    size_t at = 0, pos, len, bad = 0;
    for (;;) {
        enum special_hit hit = special_next(&c->special, p, n, at, end != COUNTER_MORE, &pos, &len);
        size_t stop = hit == SPECIAL_NONE ? n : pos;
        enum scan_end how = hit == SPECIAL_FOUND || end == COUNTER_DOC ? SCAN_DOC
                            : end == COUNTER_LETTER                    ? SCAN_LETTER
                                                                       : SCAN_MORE;
        if (how == SCAN_LETTER && stop > at && (p[stop - 1] != '\n' || !scanner_streams(c->scanner))) {
            *where = stop;
            return err_set(e, EX_DATAERR,
                           "the piece ends where no text is cut: it changed, or the record is damaged; run bpe-chunk "
                           "again");
        }
        ptrdiff_t used = count_stretch(c, p + at, stop - at, how, &bad, e);
        if (used < 0) {
            *where = at + bad;
            return -1;
        }
        if (hit != SPECIAL_FOUND)
            return (ptrdiff_t)at + used;
        at = pos + len;
    }
}
