/* count_lines.c - see count_lines.h. */
#include "count/count_lines.h"

#include "unicode/utf8.h"
#include "wire/record.h"
#include "wire/record_text.h"

#include <stdio.h>

/* A line; its newline is at `end`. */
struct line {
    const unsigned char *p, *end;
};

static size_t line_len(const struct line *l)
{
    return (size_t)(l->end - l->p);
}

/* Whether it begins with `start`; if so, *rest is what follows. */
static bool line_begins(const struct line *l, const char *start, struct str *rest)
{
    size_t n = strlen(start);
    *rest = (struct str){l->p + n, 0};
    if (line_len(l) < n || memcmp(l->p, start, n) != 0)
        return false;
    rest->len = line_len(l) - n;
    return true;
}

/* ---- Errors ---- */

/* Sets the error: what is wrong with the line, how it begins, and a hint, which may be empty. */
static int bad_line(const struct line *l, const char *what, const char *hint, struct err *e)
{
    enum { SHOWN = 60 };
    struct buf text = {0};
    if (record_text_quote(&text, l->p, line_len(l), SHOWN, e) == 0)
        err_set(e, EX_DATAERR, "%s: %.*s%s%s", what, (int)text.len, (const char *)text.p, *hint ? "; " : "", hint);
    buf_free(&text);
    return -1;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the first line may name columns: it has no digit. */
static bool is_header(const struct count_lines *c, const struct line *l)
{
    const unsigned char *p = l->p;
    while (p < l->end && !is_digit(*p))
        p++;
    return c->n_lines == 1 && p == l->end && p > l->p;
}

#define END_LINES "end lines with a newline only (tr -d '\\r' removes carriage returns)"

static int bad_first(const struct count_lines *c, const struct line *l, struct err *e)
{
    const unsigned char *p = l->end;
    while (p > l->p && is_digit(p[-1]))
        p--;
    bool turned = p < l->end && p > l->p && p[-1] == '\t';
    return bad_line(l, "not a whole number, a tab and a pretoken",
                    turned            ? "if the count comes last, use --counts=last"
                    : is_header(c, l) ? "leave out the header"
                                      : "",
                    e);
}

static int bad_last(const struct count_lines *c, const struct line *l, struct err *e)
{
    const unsigned char *p = l->p;
    while (is_digit(*p))
        p++;
    bool turned = p > l->p && *p == '\t';
    return bad_line(l, "not a pretoken, a tab and a whole number",
                    turned                                ? "if the count comes first, leave out =last"
                    : l->end > l->p && l->end[-1] == '\r' ? END_LINES
                    : is_header(c, l)                     ? "leave out the header"
                                                          : "",
                    e);
}

/* ---- Lines of bpe-view that are not counts ---- */

/* Checks that the rules in a line of bpe-view, after the id, are those of the options. after: what follows them. */
static int check_rules(const struct count_lines *c, struct str shown, const char *after, struct err *e)
{
    const size_t id = 2 * ID_LEN, n = strlen(after);
    if (shown.len < id)
        return err_set(e, EX_DATAERR, "a line of bpe-view that is cut off");
    struct str rest = {shown.p + id, shown.len - id};
    if (rest.len > 6 && memcmp(rest.p, " part=", 6) == 0) /* bpe-view does not show the rules */
        return 0;
    if (rest.len >= c->rules.len + n && memcmp(rest.p, c->rules.p, c->rules.len) == 0 &&
        memcmp(rest.p + c->rules.len, after, n) == 0 && (n || rest.len == c->rules.len))
        return 0;
    const unsigned char *end = n ? memmem(rest.p, rest.len, after, n) : NULL;
    size_t len = end ? (size_t)(end - rest.p) : rest.len;
    return err_set(e, EX_DATAERR, "these counts were made with%.*s; give the same options, as for bpe-chunk",
                   (int)(len < 500 ? len : 500), (const char *)rest.p);
}

/* A line that begins with #. bpe-view writes some beside counts. Returns 0: it is one of them; -1: it is an error. */
static int take_comment(const struct count_lines *c, const struct line *l, struct err *e)
{
    struct str rest;
    if (line_begins(l, "# commit batch=", &rest) || line_begins(l, "# summary batch=", &rest))
        return check_rules(c, rest, " words-records=", e);
    if (line_begins(l, "# promise run=", &rest))
        return check_rules(c, rest, "", e);
    if (line_begins(l, "#  run ", &rest) || line_begins(l, "#  source ", &rest))
        return 0;
    if (line_begins(l, "# failure ", &rest))
        return err_set(e, EX_DATAERR, "these counts are incomplete: %.*s", (int)(rest.len < 500 ? rest.len : 500),
                       (const char *)rest.p);
    return bad_first(c, l, e);
}

/* ---- The parts of a line ---- */

/* The number in p[0 .. n), all digits, n > 0. -1: more than 2^64-1. */
static int get_count(const unsigned char *p, size_t n, uint64_t *count, struct err *e)
{
    enum { SAFE = 19 }; /* digits that never overflow */
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = p[i] - '0';
        if (i < SAFE)
            v = 10 * v + digit;
        else if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return err_set(e, EX_DATAERR, "a count of more than 2^64-1");
    }
    *count = v;
    return 0;
}

/* Splits a line: count, separator, pretoken. 0: the line is a comment. */
static int split_first(struct count_lines *c, const struct line *l, struct pretoken *w, struct err *e)
{
    const unsigned char *digits = l->p, *p;
    if (*digits == '#' && !c->raw)
        return take_comment(c, l, e);
    while (*digits == ' ')
        digits++;
    for (p = digits; is_digit(*p); p++)
        ;
    if (p == digits || (*p != ' ' && (*p != '\t' || digits > l->p)))
        return bad_first(c, l, e);
    if (!c->separator)
        c->separator = *p;
    if (*p != c->separator)
        return bad_line(l, "the count ends with another character than in the lines before, tab or space", "", e);
    w->p = p + 1;
    w->len = (size_t)(l->end - w->p);
    return get_count(digits, (size_t)(p - digits), &w->count, e) ? -1 : 1;
}

/* The same: pretoken, tab, count. */
static int split_last(const struct count_lines *c, const struct line *l, struct pretoken *w, struct err *e)
{
    const unsigned char *p = l->end;
    while (p > l->p && is_digit(p[-1]))
        p--;
    if (p == l->end || p == l->p || p[-1] != '\t')
        return bad_last(c, l, e);
    w->p = l->p;
    w->len = (size_t)(p - 1 - l->p);
    return get_count(p, (size_t)(l->end - p), &w->count, e) ? -1 : 1;
}

/* ---- Pretokens ---- */

static int hex_digit(unsigned char c)
{
    return is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The byte that an escape stands for; p is after its backslash, and moved after it. -1: not an escape. bpe-view writes
 * the first five; the others are those of PostgreSQL's COPY, mysql --batch and ClickHouse's TabSeparated. */
static int unescape_byte(const unsigned char **p, const unsigned char *end)
{
    const unsigned char *at = *p;
    if (at == end)
        return -1;
    *p = at + 1;
    switch (*at) {
    case '\\':
    case '\'':
        return *at;
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'x':
        if (end - at < 3 || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
            return -1;
        *p = at + 3;
        return hex_digit(at[1]) << 4 | hex_digit(at[2]);
    case '0':
        return '\0';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'v':
        return '\v';
    default:
        return -1;
    }
}

/* Replaces the escapes in a pretoken, which is copied to c->unescaped; there is room. */
static int unescape(struct count_lines *c, struct pretoken *w, struct err *e)
{
    const unsigned char *p = w->p, *end = p + w->len;
    unsigned char *to = c->unescaped.p + c->unescaped.len;
    w->p = to;
    while (p < end) {
        const unsigned char *from = p;
        int byte = *p++;
        if (byte == '\\' && (byte = unescape_byte(&p, end)) < 0)
            return err_set(
                e, EX_DATAERR,
                "\"\\%.*s\" is not an escape; write a backslash as \\\\, or use --raw if backslashes stand for "
                "themselves",
                from + 1 < end && from[1] > 0x20 && from[1] < 0x7F, (const char *)from + 1);
        *to++ = (unsigned char)byte;
    }
    w->len = (size_t)(to - w->p);
    c->unescaped.len += w->len;
    return 0;
}

/* Kinds of bytes of pretokens, in addition to those of pretoken_check.h. */
enum {
    BYTE_ESCAPE = BYTE_OWN,     /* a backslash, */
    BYTE_WRONG = BYTE_OWN << 1, /* a tab or carriage return, unless the lines are raw */
};

/* Checks a pretoken, and replaces its escapes. */
static int take_pretoken(struct count_lines *c, const struct line *l, struct pretoken *w, struct err *e)
{
    unsigned kinds = 0;
    if (w->len == 0)
        return bad_line(l, "no pretoken", "if it is a newline, it is written \\n", e);
    if (pretoken_check_plain(c->check, w->p, w->len))
        return 0;
    for (size_t i = 0; i < w->len; i++)
        kinds |= c->check->kind[w->p[i]];
    if (kinds & BYTE_WRONG)
        return memchr(w->p, '\t', w->len)
                   ? bad_line(l, "more than two columns", "a tab in a pretoken is written \\t", e)
                   : bad_line(l, "a carriage return", "in a pretoken it is written \\r; " END_LINES, e);
    bool escapes = kinds & BYTE_ESCAPE;
    return (escapes && unescape(c, w, e)) ||
                   pretoken_check(c->check, w->p, w->len, !escapes, escapes || kinds & BYTE_SPECIAL, e)
               ? -1
               : 0;
}

/* Takes a line. 1: *w is set; 0: it counts nothing; -1: error, without a place. */
static int take_line(struct count_lines *c, const struct line *l, struct pretoken *w, struct err *e)
{
    uint64_t text;
    int rc = c->order == COUNTS_FIRST ? split_first(c, l, w, e) : split_last(c, l, w, e);
    if (rc <= 0 || take_pretoken(c, l, w, e))
        return rc > 0 ? -1 : rc;
    if (__builtin_add_overflow(c->total, w->count, &c->total))
        return err_set(e, EX_DATAERR, "the counts up to here add up to more than 2^64-1");
    c->text_overflows |=
        __builtin_mul_overflow(w->count, (uint64_t)w->len, &text) || __builtin_add_overflow(c->text, text, &c->text);
    return w->count > 0;
}

/* ---- Windows ---- */

void count_lines_init(struct count_lines *c, enum counts_order order, bool raw, struct str rules, struct table *table,
                      struct pretoken_check *check)
{
    *c = (struct count_lines){.order = order, .raw = raw, .rules = rules, .table = table, .check = check};
    if (raw)
        return;
    check->kind['\\'] |= BYTE_ESCAPE;
    check->kind['\t'] |= BYTE_WRONG;
    check->kind['\r'] |= BYTE_WRONG;
}

void count_lines_begin(struct count_lines *c, const char *name)
{
    c->name = name;
    c->separator = 0;
    c->n_lines = c->total = c->text = 0;
    c->text_overflows = false;
}

void count_lines_free(struct count_lines *c)
{
    buf_free(&c->unescaped);
}

/* Sets the error for a line that has this byte, which is not UTF-8. */
static int not_utf8(const struct count_lines *c, const struct line *l, unsigned char byte, struct err *e)
{
    if (c->n_lines == 1 && record_begins(l->p, line_len(l)))
        return err_set(e, EX_DATAERR, "records, not lines of counts; leave out --counts");
    return err_set(e, EX_DATAERR, "invalid UTF-8 (0x%02X)%s", byte,
                   c->raw ? "; only an escape can express it: leave out --raw" : "; write such a byte as \\xHH");
}

/* Takes whole lines. */
static int take_lines(struct count_lines *c, const unsigned char *p, const unsigned char *end, size_t *where,
                      struct err *e)
{
    enum { BATCH = 512 };
    struct pretoken batch[BATCH];
    const unsigned char *at = p;
    size_t n = 0;
    bool cut;
    const unsigned char *valid = p + utf8_valid_len(p, (size_t)(end - p), &cut);
    while (at < end) {
        const struct line line = {at, memchr(at, '\n', (size_t)(end - at))};
        c->n_lines++;
        int rc = line.end < valid ? take_line(c, &line, &batch[n], e) : not_utf8(c, &line, *valid, e);
        if (rc < 0) {
            *where = (size_t)(at - p);
            return err_place_line(e, c->name, c->n_lines);
        }
        n += (size_t)rc;
        if (n == BATCH) {
            if (table_add(c->table, batch, n, e))
                return -1;
            n = 0;
        }
        at = line.end + 1;
    }
    return table_add(c->table, batch, n, e);
}

ptrdiff_t count_lines_take(struct count_lines *c, const unsigned char *p, size_t n, bool last, size_t *where,
                           struct err *e)
{
    const unsigned char *newline = n ? memrchr(p, '\n', n) : NULL;
    size_t used = newline ? (size_t)(newline + 1 - p) : 0;
    *where = 0;
    c->unescaped.len = 0;
    if (buf_reserve(&c->unescaped, used + SCAN_PAD, e) || take_lines(c, p, p + used, where, e))
        return -1;
    if (last && used < n) {
        *where = used;
        err_set(e, EX_DATAERR, "no newline at the end: the input is cut off (if it is complete, add a newline)");
        return err_place_line(e, c->name, c->n_lines + 1);
    }
    return (ptrdiff_t)used;
}
