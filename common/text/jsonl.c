/* jsonl.c - see jsonl.h.
 *
 * jansson parses. It is stricter than Python's json in four things: numbers that C cannot hold, lone surrogates,
 * invalid UTF-8 and \u0000 in keys. A line that it refuses is rewritten so that these pass (relax) and tried again;
 * what then fails is no JSON. What is no text becomes a stand-in, a noncharacter that the line does not have otherwise.
 */
#include "text/jsonl.h"

#include "unicode/utf8.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { STAND_INS = 32 }; /* U+FDD0 .. U+FDEF: EF B7 90 .. EF B7 AF */

/* jansson does not check all of its allocations (2.14 crashes, or takes a line that it could not read for bad), so none
 * may fail: the one that would ends the parse. What it held then is lost, but so is the program. */
static jmp_buf no_memory;

static void *allocate(size_t n)
{
    void *p = malloc(n);
    if (!p)
        longjmp(no_memory, 1);
    return p;
}

/* NULL: out of memory, or EX_DATAERR. */
static json_t *parse(const void *p, size_t n, struct err *e)
{
    json_error_t why;
    if (setjmp(no_memory)) {
        err_mem(e, "a line of JSON", n);
        return NULL;
    }
    json_t *root = json_loadb(p, n, JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    if (!root)
        err_set(e, EX_DATAERR, "no JSON (%s)", why.text);
    return root;
}

void jsonl_init(struct jsonl *j, struct str field, enum invalid_policy invalid)
{
    json_set_alloc_funcs(allocate, free);
    *j = (struct jsonl){.field = field, .invalid = invalid};
}

void jsonl_free(struct jsonl *j)
{
    buf_free(&j->line);
    buf_free(&j->text);
}

/* The value of the four hex digits at p, or -1. */
static int hex4(const unsigned char *p, const unsigned char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = p[i] | 0x20, d = p[i] >= '0' && p[i] <= '9' ? p[i] - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* The code unit of an escape \uXXXX at p, or -1. */
static int escape(const unsigned char *p, const unsigned char *end)
{
    return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
}

static bool is_high(int unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low(int unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

/* A stand-in (its last byte) that is not in the line, neither plain nor escaped; 0 if all are. */
static unsigned char pick_stand_in(const unsigned char *p, size_t n)
{
    uint32_t used = 0;
    const unsigned char *end = p + n;
    for (; p < end; p++) {
        int unit = *p == '\\' ? escape(p, end) : -1;
        if (unit >= 0xFDD0 && unit < 0xFDD0 + STAND_INS)
            used |= 1u << (unit - 0xFDD0);
        else if (*p == 0xEF && end - p >= 3 && p[1] == 0xB7 && p[2] >= 0x90 && p[2] < 0x90 + STAND_INS)
            used |= 1u << (p[2] - 0x90);
    }
    for (unsigned i = 0; i < STAND_INS; i++) {
        if (!(used >> i & 1))
            return (unsigned char)(0x90 + i);
    }
    return 0;
}

/* The end of the string that begins after the quote before p: at its closing quote, or at end. */
static const unsigned char *string_end(const unsigned char *p, const unsigned char *end)
{
    for (; p < end && *p != '"'; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
    }
    return p;
}

/* Whether a colon follows the string that ends before p; what is invalid is looked through if it will be left out. */
static bool is_key(const unsigned char *p, const unsigned char *end, enum invalid_policy invalid)
{
    bool cut;
    while (p < end && *p != ':') {
        size_t left = (size_t)(end - p);
        if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
            p++;
        else if (invalid == INVALID_SKIP && utf8_valid_len(p, left < 4 ? left : 4, &cut) == 0)
            p += utf8_bad_len(p, left);
        else
            break;
    }
    return p < end && *p == ':';
}

/* One string, without its quotes. */
static int relax_string(struct jsonl *j, const unsigned char *p, const unsigned char *end, bool key,
                        unsigned char stand_in, struct err *e)
{
    const unsigned char stand[3] = {0xEF, 0xB7, stand_in};
    const unsigned char *stop = p; /* the next backslash, or the end: no further need text be looked at */
    bool cut;
    while (p < end) {
        size_t n = 1;
        bool no_text = false;
        int unit = escape(p, end);
        if (unit >= 0) {
            n = 6;
            if (is_high(unit) && is_low(escape(p + 6, end)))
                n = 12;
            else
                no_text = is_high(unit) || is_low(unit) || (key && unit == 0);
        } else if (*p == '\\') {
            n = end - p > 1 && p[1] < 0x80 ? 2 : 1;
        } else if (*p >= 0x80) {
            if (stop <= p) {
                stop = memchr(p, '\\', (size_t)(end - p));
                stop = stop ? stop : end;
            }
            n = utf8_valid_len(p, (size_t)(stop - p), &cut);
            no_text = n == 0;
            if (no_text)
                n = utf8_bad_len(p, (size_t)(end - p));
        }
        if (!no_text) {
            if (buf_put(&j->line, p, n, e))
                return -1;
        } else if (!(key && unit < 0 && j->invalid == INVALID_SKIP) && buf_put(&j->line, stand, 3, e)) {
            return -1;
        }
        p += n;
    }
    return 0;
}

/* Rewrites the line so that jansson reads what Python reads. */
static int relax(struct jsonl *j, const unsigned char *p, size_t n, unsigned char stand_in, struct err *e)
{
    const unsigned char *end = p + n;
    size_t digits = 0;
    bool cut;
    j->line.len = 0;
    while (p < end) {
        const unsigned char *from = p++;
        bool keep = true;
        if (*from == '"') {
            p = string_end(p, end);
            bool key = p < end && is_key(p + 1, end, j->invalid);
            if (buf_put_byte(&j->line, '"', e) || relax_string(j, from + 1, p, key, stand_in, e))
                return -1;
            keep = p < end;
            p += keep;
        } else if (*from >= '0' && *from <= '9') {
            keep = ++digits <= 2; /* two tell whether the number is well-formed ("01" is not) */
            if (keep && buf_put_byte(&j->line, *from, e))
                return -1;
            continue;
        } else if (*from >= 0x80 && j->invalid == INVALID_SKIP &&
                   utf8_valid_len(from, end - from < 4 ? (size_t)(end - from) : 4, &cut) == 0) {
            p = from + utf8_bad_len(from, (size_t)(end - from));
            continue;
        }
        digits = 0;
        if (keep && buf_put_byte(&j->line, *from, e)) /* the closing quote is the same as the opening one */
            return -1;
    }
    return 0;
}

static bool is_blank(const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r'))
        i++;
    return i == n;
}

/* The string at the field, or NULL. A name with dots is looked for as nested objects. */
static const json_t *find(const json_t *object, struct str field)
{
    const unsigned char *p = field.p, *end = p + field.len;
    while (object) {
        const unsigned char *dot = memchr(p, '.', (size_t)(end - p));
        size_t n = (size_t)((dot ? dot : end) - p);
        object = json_object_getn(object, (const char *)p, n);
        if (!dot)
            return json_is_string(object) ? object : NULL;
        p = dot + 1;
    }
    return NULL;
}

/* Copies the text, stand-ins as 0xFF. */
static int copy_text(struct jsonl *j, const json_t *string, unsigned char stand_in, bool *no_text, struct err *e)
{
    const unsigned char *p = (const unsigned char *)json_string_value(string);
    const unsigned char *end = p + json_string_length(string);
    const unsigned char stand[3] = {0xEF, 0xB7, stand_in};
    j->text.len = 0;
    *no_text = false;
    while (p < end) {
        const unsigned char *hit = stand_in ? memmem(p, (size_t)(end - p), stand, 3) : NULL;
        if (buf_put(&j->text, p, (size_t)((hit ? hit : end) - p), e))
            return -1;
        p = hit ? hit + 3 : end;
        *no_text |= hit != NULL;
        if (hit && buf_put_byte(&j->text, 0xFF, e))
            return -1;
    }
    if (buf_reserve(&j->text, SCAN_PAD, e))
        return -1;
    memset(j->text.p + j->text.len, 0, SCAN_PAD);
    return 0;
}

enum jsonl_line jsonl_read(struct jsonl *j, const unsigned char *p, size_t n, struct str *text, struct err *e)
{
    unsigned char stand_in = 0;
    bool no_text;
    if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
        p += 3;
        n -= 3;
    }
    while (n && (p[n - 1] == '\n' || p[n - 1] == '\r' || p[n - 1] == ' ' || p[n - 1] == '\t'))
        n--;
    if (is_blank(p, n))
        return JSONL_BLANK;
    if (memchr(p, 0, n)) { /* jansson (2.14) overlooks one behind a number or a literal */
        err_set(e, EX_DATAERR, "no JSON (a NUL byte)");
        return JSONL_BAD;
    }
    json_t *root = parse(p, n, e);
    if (!root && e->code != EX_DATAERR)
        return JSONL_ERROR;
    if (!root) {
        stand_in = pick_stand_in(p, n);
        if (stand_in && relax(j, p, n, stand_in, e))
            return JSONL_ERROR;
        if (stand_in && is_blank(j->line.p, j->line.len)) /* all of it was invalid, and is left out */
            return JSONL_BLANK;
        if (stand_in)
            root = parse(j->line.p, j->line.len, e);
    }
    if (!root)
        return e->code == EX_DATAERR ? JSONL_BAD : JSONL_ERROR;
    const json_t *string = find(root, j->field);
    enum jsonl_line rc = JSONL_TEXT;
    if (!string) {
        err_set(e, EX_DATAERR, "no string at \"%.*s\"", (int)j->field.len, (const char *)j->field.p);
        rc = JSONL_BAD;
    } else if (copy_text(j, string, stand_in, &no_text, e)) {
        rc = JSONL_ERROR;
    } else if (no_text && j->invalid == INVALID_ERROR) {
        err_set(e, EX_DATAERR, "a lone surrogate in the text; see --invalid");
        rc = JSONL_ERROR;
    }
    json_decref(root);
    *text = (struct str){j->text.p, j->text.len};
    return rc;
}
