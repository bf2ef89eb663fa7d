/* tokenize.c - see tokenize.h. */
#include "encode/tokenize.h"

#include <stdlib.h>

enum { MANY = 1 << 15 }; /* number of ids after which flush is called */

/* To be called before more of a document: the current one, or a new one that begins here. */
static int enter(struct tokenize *t, struct err *e)
{
    if (t->in_document)
        return 0;
    t->in_document = t->some = true;
    return t->eot == EOT_BEFORE ? ids_put(&t->ids, t->eot_id, e) : 0;
}

/* Ends the current document, if one has begun. */
static int leave(struct tokenize *t, struct err *e)
{
    if (!t->in_document)
        return 0;
    t->in_document = false;
    if (t->eot == EOT_AFTER && ids_put(&t->ids, t->eot_id, e))
        return -1;
    if (array_grow(&t->end, &t->cap_ends, t->n_ends + 1, sizeof *t->end, "the documents", e))
        return -1;
    t->end[t->n_ends++] = t->ids.n;
    return 0;
}

static int pretokens(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct tokenize *t = ctx;
    if (enter(t, e) || encoder_pretokens(t->encoder, text, start, ends, n, &t->ids, e))
        return -1;
    return t->ids.n >= MANY ? t->flush(t->ctx, e) : 0;
}

static int special(void *ctx, size_t token, struct err *e)
{
    struct tokenize *t = ctx;
    bool separator = t->separator == token || (t->separator == SIZE_MAX && t->eot == EOT_NONE);
    if (t->no_special)
        return err_set(e, EX_DATAERR, "a special token; see --special");
    if (t->eot != EOT_NONE && separator)
        return leave(t, e);
    if (enter(t, e) || ids_put(&t->ids, t->special_id[token], e))
        return -1;
    if (separator && leave(t, e))
        return -1;
    return t->ids.n >= MANY ? t->flush(t->ctx, e) : 0;
}

int tokenize_open(struct tokenize *t, const struct rules *rules, enum invalid_policy invalid, struct err *e)
{
    const struct pretoken_sink sink = {pretokens, special, t};
    return pretokenizer_open(&t->pretokenizer, rules, invalid, &sink, e);
}

void tokenize_close(struct tokenize *t)
{
    pretokenizer_close(&t->pretokenizer);
    free(t->special_id);
    free(t->end);
    ids_free(&t->ids);
    *t = (struct tokenize){0};
}

void tokenize_begin(struct tokenize *t, bool inside)
{
    t->in_document = inside;
    t->some = false;
}

ptrdiff_t tokenize_text(struct tokenize *t, const unsigned char *p, size_t n, enum text_end end, size_t *where,
                        struct err *e)
{
    ptrdiff_t used = pretokenize_text(&t->pretokenizer, p, n, end, where, e);
    if (used < 0 || end != TEXT_DOC)
        return used;
    *where = n;
    if ((t->documents && !t->some && enter(t, e)) || leave(t, e))
        return -1;
    t->some = false;
    return used;
}
