/* batch_store.c - see batch_store.h. */
#include "records/batch_store.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 64 << 20, /* what goes to disk goes in blocks of about this many bytes, if there are as many */
    AT_ONCE = 128,    /* words handed on at a time */
};

/* What one record has of a pretoken that is too long for one. */
struct long_part {
    uint64_t seq;
    enum words_kind kind;
    size_t at, len;           /* in long_bytes, as long as it is in memory */
    struct spill_block block; /* len 0: in memory */
};

static int damaged(struct err *e)
{
    return err_set(e, EX_DATAERR, "words records with damaged fields");
}

int batch_store_put(struct batch_store *s, const struct words *w, struct err *e)
{
    const struct str *in = &w->entries;
    if (w->kind == WORDS_WHOLE) {
        size_t last = s->n_border ? s->border[s->n_border - 1] : 0;
        if (s->log.len - last >= BLOCK) {
            if (array_grow(&s->border, &s->cap_border, s->n_border + 1, sizeof *s->border, "words", e))
                return -1;
            s->border[s->n_border++] = s->log.len;
        }
        return buf_put(&s->log, in->p, in->len, e) || buf_reserve(&s->log, RECORD_PAD, e) ? -1 : 0;
    }
    if (in->len == 0)
        return damaged(e);
    if (array_grow(&s->piece, &s->cap_piece, s->n_piece + 1, sizeof *s->piece, "long pretokens", e))
        return -1;
    s->piece[s->n_piece] = (struct long_part){.seq = w->seq, .kind = w->kind, .at = s->long_bytes.len, .len = in->len};
    if (buf_put(&s->long_bytes, in->p, in->len, e))
        return -1;
    s->n_piece++;
    return 0;
}

size_t batch_store_bytes(const struct batch_store *s)
{
    return s->log.cap + s->long_bytes.cap + s->cap_piece * sizeof *s->piece;
}

static int spill_log(struct batch_store *s, struct spill *spill, struct err *e)
{
    size_t from = 0;
    for (size_t i = 0; from < s->log.len; i++) {
        size_t to = i < s->n_border ? s->border[i] : s->log.len;
        if (array_grow(&s->block, &s->cap_block, s->n_block + 1, sizeof *s->block, "the list of blocks", e) ||
            spill_write(spill, s->log.p + from, to - from, &s->block[s->n_block], e))
            return -1;
        s->n_block++;
        from = to;
    }
    buf_free(&s->log);
    s->n_border = 0;
    return 0;
}

int batch_store_spill(struct batch_store *s, struct spill *spill, struct err *e)
{
    for (; s->n_piece_on_disk < s->n_piece; s->n_piece_on_disk++) {
        struct long_part *p = &s->piece[s->n_piece_on_disk];
        if (spill_write(spill, s->long_bytes.p + p->at, p->len, &p->block, e))
            return -1;
    }
    buf_free(&s->long_bytes);
    return spill_log(s, spill, e);
}

int batch_store_take_entries(const unsigned char *p, size_t n, batch_store_take_fn *take, void *ctx, struct err *e)
{
    struct cursor c = cursor_over(p, n);
    struct pretoken word[AT_ONCE];
    while (cursor_left(&c)) {
        size_t k = 0;
        bool empty = false;
        for (; k < AT_ONCE && cursor_left(&c); k++) {
            word[k].p = get_string(&c, &word[k].len);
            word[k].count = get_varint(&c);
            empty |= (word[k].len == 0) | (word[k].count == 0);
        }
        if (c.bad || empty)
            return damaged(e);
        if (take(ctx, word, k, e))
            return -1;
    }
    return 0;
}

static int by_seq(const void *x, const void *y)
{
    const struct long_part *a = x, *b = y;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Appends the bytes of a piece, wherever they are. */
static int get_piece(const struct batch_store *s, const struct spill *spill, const struct long_part *p, struct buf *out,
                     struct err *e)
{
    return p->block.len ? spill_read(spill, &p->block, out, e) : buf_put(out, s->long_bytes.p + p->at, p->len, e);
}

/* Puts one long pretoken together, from its first piece on; *i moves past the last. */
static int get_long(const struct batch_store *s, const struct spill *spill, size_t *i, struct buf *word,
                    uint64_t *count, struct err *e)
{
    const struct long_part *first = &s->piece[(*i)++];
    word->len = 0;
    if (get_piece(s, spill, first, word, e))
        return -1;
    struct cursor c = cursor_over(word->p, word->len);
    uint64_t len = get_varint(&c);
    *count = get_varint(&c);
    if (c.bad || first->kind != WORDS_FIRST || len == 0 || *count == 0)
        return damaged(e);
    word->len = cursor_left(&c);
    memmove(word->p, c.p, word->len);
    for (; word->len < len && *i < s->n_piece; ++*i) {
        const struct long_part *more = &s->piece[*i];
        if (more->kind != WORDS_MORE || more->seq != more[-1].seq + 1)
            return damaged(e);
        if (get_piece(s, spill, more, word, e))
            return -1;
    }
    return word->len == len ? buf_reserve(word, RECORD_PAD, e) : damaged(e);
}

static int take_long(struct batch_store *s, const struct spill *spill, batch_store_take_fn *take, void *ctx,
                     struct err *e)
{
    struct buf word = {0};
    uint64_t count;
    int rc = 0;
    if (s->n_piece)
        qsort(s->piece, s->n_piece, sizeof *s->piece, by_seq);
    for (size_t i = 0; i < s->n_piece && rc == 0;)
        rc = get_long(s, spill, &i, &word, &count, e) || take(ctx, &(struct pretoken){word.p, word.len, count}, 1, e)
                 ? -1
                 : 0;
    buf_free(&word);
    return rc;
}

int batch_store_take(struct batch_store *s, const struct spill *spill, batch_store_take_fn *take, void *ctx,
                     struct err *e)
{
    struct buf block = {0};
    int rc = 0;
    for (size_t i = 0; i < s->n_block && rc == 0; i++) {
        block.len = 0;
        rc = spill_read(spill, &s->block[i], &block, e) || buf_reserve(&block, RECORD_PAD, e) ||
                     batch_store_take_entries(block.p, block.len, take, ctx, e)
                 ? -1
                 : 0;
    }
    buf_free(&block);
    if (rc == 0 && s->log.len)
        rc = batch_store_take_entries(s->log.p, s->log.len, take, ctx, e);
    return rc ? rc : take_long(s, spill, take, ctx, e);
}

void batch_store_free(struct batch_store *s)
{
    buf_free(&s->log);
    buf_free(&s->long_bytes);
    free(s->border);
    free(s->block);
    free(s->piece);
    *s = (struct batch_store){0};
}
