/* id_text.c - see id_text.h. */
#include "encode/id_text.h"

#include "base/sys/bytes.h"

enum { LONGEST = 20 }; /* digits; more than any valid id has */

static inline bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Reports that the word at p is not an id. */
static int no_id(const unsigned char *p, size_t n, uint64_t line, struct err *e)
{
    enum { SHOWN = 24 };
    size_t len = 0;
    while (len < n && len < SHOWN && p[len] > ' ' && p[len] < 0x7f)
        len++;
    if (len)
        err_set(e, EX_DATAERR, "\"%.*s\" is not an id; ids are decimal numbers separated by spaces", (int)len,
                (const char *)p);
    else
        err_set(e, EX_DATAERR, "byte 0x%02X is not part of an id; ids are decimal numbers separated by spaces", *p);
    e->line = line;
    return -1;
}

ptrdiff_t id_text_read(const unsigned char *text, size_t n, bool ended, struct buf *ids, uint64_t *line, struct err *e)
{
    const size_t max = n / 2 + 1; /* maximum number of ids in the text */
    if (buf_reserve(ids, max * 4, e))
        return -1;
    unsigned char *to = ids->p + ids->len;
    size_t at = 0;
    bool bad = false;
    while (at < n && !bad) {
        if (is_blank(text[at])) {
            *line += text[at++] == '\n';
            continue;
        }
        uint64_t id = 0;
        size_t i = at;
        for (unsigned digit; i < n && i - at < LONGEST && (digit = text[i] - (unsigned)'0') <= 9; i++)
            id = id > UINT32_MAX ? id : id * 10 + digit;
        if (i == n && i - at < LONGEST && !ended)
            break;
        bad = i == at || id > UINT32_MAX || (i < n && !is_blank(text[i]));
        if (bad)
            break;
        store_le(to, 4, id);
        to += 4;
        at = i;
    }
    ids->len = (size_t)(to - ids->p);
    return bad ? no_id(text + at, n - at, *line, e) : (ptrdiff_t)at;
}

uint64_t id_text_line(const unsigned char *text, size_t i, uint64_t line)
{
    for (bool in_word = false;; text++) {
        if (is_blank(*text)) {
            line += *text == '\n';
            in_word = false;
        } else if (!in_word) {
            in_word = true;
            if (i-- == 0)
                return line;
        }
    }
}
