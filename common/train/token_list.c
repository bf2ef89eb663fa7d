/* token_list.c - see token_list.h. */
#include "train/token_list.h"

#include "base/io/fd.h"
#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stdlib.h>
#include <string.h>

/* Decodes a JSON string in its own place, which is long enough. */
static int decode(struct json_reader *r, unsigned char *p, size_t *n, struct err *e)
{
    struct str token;
    json_read_memory(r, p, *n, false, e);
    if (json_read_string(r, &token))
        return err_add(e, "a line that begins with a double quote must be a JSON string");
    memmove(p, token.p, token.len); /* before the next call */
    *n = token.len;
    if (json_read_end(r))
        return err_add(e, "a line must be one JSON string");
    return token.len ? 0 : err_set(e, EX_DATAERR, "an empty token, which every token contains");
}

static int add_line(struct token_list *l, struct json_reader *r, unsigned char *p, size_t n, struct err *e)
{
    if (n && p[n - 1] == '\r')
        n--;
    if (n == 0)
        return 0;
    if ((p[0] == '"' && decode(r, p, &n, e)) ||
        array_grow(&l->at, &l->cap, l->n + 1, sizeof *l->at, "the list of tokens", e))
        return -1;
    l->at[l->n++] = (struct str){p, n};
    return 0;
}

int token_list_read(struct token_list *l, const char *path, struct err *e)
{
    struct json_reader r = {0};
    if (fd_read_file(path, &l->text, e) || buf_reserve(&l->text, JSON_READ_PAD, e))
        return -1;
    unsigned char *p = l->text.p, *end = p + l->text.len, *stop;
    memset(end, 0, JSON_READ_PAD);
    int rc = 0;
    p += utf8_mark_len(p, l->text.len);
    for (uint64_t line = 1; p < end && rc == 0; line++, p = stop + 1) {
        stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        rc = add_line(l, &r, p, (size_t)(stop - p), e);
        if (rc && e->code == EX_DATAERR)
            err_place_line(e, fd_name(path), line);
    }
    json_read_free(&r);
    return rc;
}

void token_list_free(struct token_list *l)
{
    free(l->at);
    buf_free(&l->text);
    *l = (struct token_list){0};
}
