/* batch_store.c - see batch_store.h. */
#include "wire/batch_store.h"

#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 1 << 20, /* words are kept in blocks of about this many bytes; a block is either in memory or on disk */
    AT_ONCE = 128,   /* words passed on at a time */
};

/* The part of a long pretoken that one record holds. */
struct long_part {
    uint64_t seq;
    enum words_kind kind;
    size_t at, len;           /* in long_bytes, while it is in memory */
    struct spill_block block; /* len 0: it is in memory */
};

/* Pretokens that fit in one record, in order of arrival. */
struct block {
    struct buf log;             /* while it is in memory */
    struct spill_block on_disk; /* len 0: it is in memory */
};

struct batch_store {
    struct batch_store *next, *previous; /* in the list of open batches */
    uint64_t denominator;                /* of its counts; 0: not known yet */
    struct block *block;                 /* owned; new words go to the last one */
    size_t n_block, cap_block;
    size_t n_block_on_disk;  /* the first n_block_on_disk blocks are on disk */
    size_t log_bytes;        /* memory used by the other blocks */
    struct buf long_bytes;   /* the parts of long pretokens, one after another */
    struct long_part *piece; /* owned: where each part is stored */
    size_t n_piece, cap_piece, n_piece_on_disk;
};

static const char other_denominator[] =
    "a batch whose counts have several denominators, or not the one of its end (commit or summary)";

static int damaged(struct err *e)
{
    return payload_damaged(e, "words");
}

void batch_stores_init(struct batch_stores *s, batch_store_consume *consume, void *ctx, const char *spill_dir)
{
    *s = (struct batch_stores){.consume = consume, .ctx = ctx};
    spill_init(&s->spill, spill_dir);
}

void batch_stores_free(struct batch_stores *s)
{
    spill_free(&s->spill);
}

/* Memory in use, in bytes. */
static size_t store_bytes(const struct batch_store *s)
{
    return sizeof *s + s->log_bytes + s->long_bytes.cap + s->cap_piece * sizeof *s->piece +
           s->cap_block * sizeof *s->block;
}

static struct batch_store *store_open(struct batch_stores *all, struct err *e)
{
    struct batch_store *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a batch", sizeof *s);
        return NULL;
    }
    s->next = all->first;
    if (all->first)
        all->first->previous = s;
    all->first = s;
    all->bytes += store_bytes(s);
    return s;
}

static void store_close(struct batch_stores *all, struct batch_store *s)
{
    all->bytes -= store_bytes(s);
    if (s->next)
        s->next->previous = s->previous;
    *(s->previous ? &s->previous->next : &all->first) = s->next;
    for (size_t i = s->n_block_on_disk; i < s->n_block; i++)
        buf_free(&s->block[i].log);
    buf_free(&s->long_bytes);
    free(s->block);
    free(s->piece);
    free(s);
}

/* The block for the next n bytes, with room for them and RECORD_PAD. NULL: out of memory. */
static struct buf *open_block(struct batch_store *s, size_t n, struct err *e)
{
    if (s->n_block == s->n_block_on_disk || s->block[s->n_block - 1].log.len >= BLOCK) {
        if (array_grow(&s->block, &s->cap_block, s->n_block + 1, sizeof *s->block, "the list of blocks", e))
            return NULL;
        s->block[s->n_block++] = (struct block){0};
    }
    struct buf *b = &s->block[s->n_block - 1].log;
    size_t before = b->cap;
    if (buf_reserve(b, n + RECORD_PAD, e))
        return NULL;
    s->log_bytes += b->cap - before;
    return b;
}

/* Adds the words of one record, copied. */
static int store_put(struct batch_store *s, const struct words *w, struct err *e)
{
    const struct str *in = &w->entries;
    if (w->kind == WORDS_WHOLE) {
        struct buf *log = open_block(s, in->len, e);
        return log ? buf_put(log, in->p, in->len, e) : -1;
    }
    if (in->len == 0)
        return damaged(e);
    if (array_grow(&s->piece, &s->cap_piece, s->n_piece + 1, sizeof *s->piece, "long pretokens", e))
        return -1;
    s->piece[s->n_piece] =
        (struct long_part){.seq = w->in.seq, .kind = w->kind, .at = s->long_bytes.len, .len = in->len};
    if (buf_put(&s->long_bytes, in->p, in->len, e))
        return -1;
    s->n_piece++;
    return 0;
}

static void free_block(struct batch_store *s, struct block *b)
{
    s->log_bytes -= b->log.cap;
    buf_free(&b->log);
}

/* Moves everything in memory to disk. */
static int store_spill(struct batch_store *s, struct spill *spill, struct err *e)
{
    for (; s->n_piece_on_disk < s->n_piece; s->n_piece_on_disk++) {
        struct long_part *p = &s->piece[s->n_piece_on_disk];
        if (spill_write(spill, s->long_bytes.p + p->at, p->len, &p->block, e))
            return -1;
    }
    buf_free(&s->long_bytes);
    for (; s->n_block_on_disk < s->n_block; s->n_block_on_disk++) {
        struct block *b = &s->block[s->n_block_on_disk];
        if (spill_write(spill, b->log.p, b->log.len, &b->on_disk, e))
            return -1;
        free_block(s, b);
    }
    return 0;
}

/* Passes on every pretoken encoded in p[0 .. n); RECORD_PAD bytes after it are readable. */
static int take_entries(const struct batch_stores *all, const unsigned char *p, size_t n, struct err *e)
{
    struct cursor c = cursor_over(p, n);
    struct pretoken word[AT_ONCE];
    while (cursor_left(&c)) {
        size_t k = 0;
        while (k < AT_ONCE && cursor_left(&c))
            word[k++] = pretoken_get(&c);
        if (c.bad)
            return damaged(e);
        if (all->consume(all->ctx, word, k, e))
            return -1;
    }
    return 0;
}

static int by_seq(const void *x, const void *y)
{
    const struct long_part *a = x, *b = y;
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Appends the bytes of a part, from memory or disk. */
static int get_piece(const struct batch_store *s, const struct spill *spill, const struct long_part *p, struct buf *out,
                     struct err *e)
{
    return p->block.len ? spill_read(spill, &p->block, out, e) : buf_put(out, s->long_bytes.p + p->at, p->len, e);
}

/* Assembles one long pretoken, starting with its first part; *i moves past its last part. */
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

static int take_long(const struct batch_stores *all, struct batch_store *s, struct err *e)
{
    struct buf word = {0};
    uint64_t count;
    int rc = 0;
    if (s->n_piece)
        qsort(s->piece, s->n_piece, sizeof *s->piece, by_seq);
    for (size_t i = 0; i < s->n_piece && rc == 0;)
        rc = get_long(s, &all->spill, &i, &word, &count, e) ||
                     all->consume(all->ctx, &(struct pretoken){word.p, word.len, count}, 1, e)
                 ? -1
                 : 0;
    buf_free(&word);
    return rc;
}

/* Passes on every pretoken of a batch, freeing its memory step by step. Its records may have come in any order. */
static int store_take(const struct batch_stores *all, struct batch_store *s, struct err *e)
{
    struct buf read = {0};
    int rc = 0;
    for (size_t i = 0; i < s->n_block && rc == 0; i++) {
        struct block *b = &s->block[i];
        const struct buf *log = &b->log;
        if (b->on_disk.len) {
            read.len = 0;
            rc = spill_read(&all->spill, &b->on_disk, &read, e) || buf_reserve(&read, RECORD_PAD, e) ? -1 : 0;
            log = &read;
        }
        if (rc == 0)
            rc = take_entries(all, log->p, log->len, e);
        free_block(s, b);
    }
    buf_free(&read);
    return rc ? rc : take_long(all, s, e);
}

/* ---- The functions for the ledger ---- */

/* Checks that all records that may be passed on together have one denominator. */
static int check_denominator(uint64_t *denominator, const struct words *w, const char *why, struct err *e)
{
    if (w->kind == WORDS_MORE)
        return 0;
    if (!*denominator)
        *denominator = w->denominator;
    return w->denominator == *denominator ? 0 : err_set(e, EX_DATAERR, "%s", why);
}

static int put_words(struct batch_stores *all, void **state, const struct record *rec, struct err *e)
{
    struct words w;
    if (words_get(&w, rec, e))
        return -1;
    if (all->eager && !all->any_kind &&
        check_denominator(&all->denominator, &w, "the input has several sums; add them up with bpe-sum first", e))
        return -1;
    if (w.kind == WORDS_WHOLE && all->eager)
        return take_entries(all, w.entries.p, w.entries.len, e);
    struct batch_store *s = *state ? *state : store_open(all, e);
    if (!s)
        return -1;
    *state = s;
    if (check_denominator(&s->denominator, &w, other_denominator, e))
        return -1;
    size_t before = store_bytes(s);
    int rc = store_put(s, &w, e);
    all->bytes += store_bytes(s) - before;
    return rc;
}

static int put(void *ctx, void **state, const struct record *rec, struct err *e)
{
    struct batch_stores *all = ctx;
    struct tokens t;
    if (rec->type == RECORD_WORDS)
        return put_words(all, state, rec, e);
    if (!all->any_kind)
        return err_set(e, EX_DATAERR,
                       "these are tokens, from bpe-encode; only counts, from bpe-count, can be added up");
    return tokens_get(&t, rec, e);
}

static int consume(void *ctx, void *state, const struct commit *k, struct err *e)
{
    struct batch_stores *all = ctx;
    struct batch_store *s = state;
    size_t before = store_bytes(s);
    all->denominator = s->denominator ? s->denominator : 1;
    if (all->denominator != k->denominator)
        return err_set(e, EX_DATAERR, "%s", other_denominator);
    int rc = store_take(all, s, e);
    all->bytes -= before - store_bytes(s);
    return rc;
}

static void drop(void *ctx, void *state)
{
    store_close(ctx, state);
}

const struct ledger_content batch_store_content = {.put = put, .consume = consume, .drop = drop};

int batch_stores_spill(struct batch_stores *all, struct err *e)
{
    struct batch_store *largest = all->first;
    for (struct batch_store *s = all->first; s; s = s->next) {
        if (store_bytes(s) > store_bytes(largest))
            largest = s;
    }
    if (!largest)
        return 0;
    all->bytes -= store_bytes(largest);
    int rc = store_spill(largest, &all->spill, e);
    all->bytes += store_bytes(largest);
    return rc;
}
