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

/* Adds a text that tokens point to, which is *taken*. */
static int own(struct token_list *l, struct buf *text, struct err *e)
{
    if (array_grow(&l->text, &l->texts_cap, l->n_texts + 1, sizeof *l->text, "the list of tokens", e)) {
        buf_free(text);
        return -1;
    }
    l->text[l->n_texts++] = text->p;
    return 0;
}

int token_list_read(struct token_list *l, const char *path, struct err *e)
{
    struct json_reader r = {0};
    struct buf text = {0};
    if (fd_read_file(path, &text, e) || buf_reserve(&text, JSON_READ_PAD, e)) {
        buf_free(&text);
        return -1;
    }
    unsigned char *p = text.p, *end = p + text.len, *stop;
    if (own(l, &text, e))
        return -1;
    memset(end, 0, JSON_READ_PAD);
    int rc = 0;
    p += utf8_mark_len(p, (size_t)(end - p));
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

int token_list_spell(struct token_list *l, enum spelling s, struct err *e)
{
    struct buf text = {0};
    int rc = buf_reserve(&text, 1, e);
    for (size_t i = 0; i < l->n && rc == 0; i++) {
        const size_t before = text.len;
        rc = spelling_put(s, &text, l->at[i].p, l->at[i].len, e);
        l->at[i].len = text.len - before;
    }
    if (rc)
        buf_free(&text);
    const unsigned char *p = text.p;
    if (rc || own(l, &text, e))
        return -1;
    for (size_t i = 0; i < l->n; i++) {
        l->at[i].p = p;
        p += l->at[i].len;
    }
    return 0;
}

void token_list_free(struct token_list *l)
{
    for (size_t i = 0; i < l->n_texts; i++)
        free(l->text[i]);
    free(l->text);
    free(l->at);
    *l = (struct token_list){0};
}
