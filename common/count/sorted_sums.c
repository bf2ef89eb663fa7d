/* sorted_sums.c - see sorted_sums.h.
 *
 * While a batch is in order, its words are stored, too, until their extent is large enough: merging very many small
 * extents would be slower than a table. From then on, the extent grows with each record, and the stored words are
 * dropped. Words after the extent are stored, and count in addition to it. An extent never ends inside a long pretoken,
 * because only the last part may show whether the pretoken is in order. */
#include "count/sorted_sums.h"

#include "count/sorted_extent.h"
#include "wire/word_sequence.h"

#include <stdlib.h>

enum {
    EXTENT_MIN = 1 << 20
}; /* smallest extent in bytes, or an eighth of the memory if that is less; also in man/bpe-sum.1 */

struct kept_extent {
    struct sorted_extent extent;
    struct kept_extent *next;
};

/* The words of a batch that has not ended. */
struct open_sum {
    void *stored;                /* the state of batch_store_content: what is not in the extent; or NULL */
    struct sorted_extent extent; /* end 0: there is none */
    bool in_order;               /* all records so far */
    uint64_t at, checksum;       /* then: the file offset of the next one; the sum of the checksums so far, */
    struct buf last;             /* and the last pretoken */
    struct word_sequence words;
};

void sorted_sums_init(struct sorted_sums *s, struct batch_stores *stores, struct external_merge *merge, size_t memory)
{
    *s = (struct sorted_sums){
        .stores = stores, .merge = merge, .min = memory / 8 < EXTENT_MIN ? memory / 8 : EXTENT_MIN};
}

void sorted_sums_free(struct sorted_sums *s)
{
    for (struct kept_extent *k = s->kept, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    s->kept = NULL;
}

static void end_order(struct open_sum *b)
{
    b->in_order = false;
    buf_free(&b->last);
    word_sequence_free(&b->words);
}

static struct open_sum *open_batch(const struct sorted_sums *s, const struct record *rec, struct err *e)
{
    struct open_sum *b = calloc(1, sizeof *b);
    if (!b) {
        err_mem(e, "a batch", sizeof *b);
        return NULL;
    }
    b->extent.path = s->path;
    b->extent.begin = b->at = rec->offset;
    b->in_order = s->path != NULL;
    return b;
}

/* Whether each pretoken of the last record comes after the one before it. 1; 0; -1: error. */
static int check_words(struct open_sum *b, struct err *e)
{
    struct pretoken w, last = {b->last.p, b->last.len, 0};
    bool any = false;
    int rc;
    while ((rc = word_sequence_next(&b->words, &w, e)) > 0) {
        if (last.len && str_compare(pretoken_str(&last), pretoken_str(&w)) >= 0)
            return 0;
        last = w;
        any = true;
    }
    if (rc < 0 || !any)
        return rc < 0 ? -1 : 1;
    b->last.len = 0;
    return buf_put(&b->last, last.p, last.len, e) ? -1 : 1;
}

/* Whether the record follows the previous one in the file, and in order. 1; 0; -1: error. */
static int follows(const struct sorted_sums *s, struct open_sum *b, const struct record *rec, struct err *e)
{
    if (s->path != b->extent.path || rec->offset != b->at)
        return 0;
    int rc = word_sequence_put(&b->words, rec, e) ? -1 : check_words(b, e);
    /* Damaged words become an error when they are consumed, if they count. */
    return rc < 0 && e->code == EX_DATAERR ? 0 : rc;
}

/* Whether the extent, with this record, holds all words so far. 1; 0; -1: error. */
static int extend(const struct sorted_sums *s, struct open_sum *b, const struct record *rec, struct err *e)
{
    int rc = follows(s, b, rec, e);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        end_order(b);
        return 0;
    }
    b->at += rec->raw_len;
    b->checksum += rec->checksum;
    if (b->at - b->extent.begin < s->min || word_sequence_is_open(&b->words))
        return 0;
    b->extent.end = b->at;
    b->extent.n_records = b->words.n_records;
    b->extent.denominator = b->words.denominator;
    b->extent.checksum = b->checksum;
    return 1;
}

/* ---- The functions for the ledger ---- */

static void drop_stored(struct sorted_sums *s, struct open_sum *b)
{
    if (b->stored)
        batch_store_content.drop(s->stores, b->stored);
    b->stored = NULL;
}

static int put(void *ctx, void **state, const struct record *rec, struct err *e)
{
    struct sorted_sums *s = ctx;
    struct open_sum *b = *state ? *state : open_batch(s, rec, e);
    if (!b)
        return -1;
    *state = b;
    int in_extent = b->in_order && rec->type == RECORD_WORDS ? extend(s, b, rec, e) : 0;
    if (in_extent < 0)
        return -1;
    if (in_extent == 0)
        return batch_store_content.put(s->stores, &b->stored, rec, e);
    drop_stored(s, b);
    return 0;
}

static int consume(void *ctx, void *state, const struct commit *k, struct err *e)
{
    struct sorted_sums *s = ctx;
    struct open_sum *b = state;
    if (!ratio_multiply(k->weight, (struct ratio){1, k->denominator}, &s->worth))
        return commit_no_denominator(e);
    if (b->extent.end && b->extent.denominator != k->denominator)
        return err_set(e, EX_DATAERR,
                       "a batch whose counts do not have the denominator of its end (commit or summary)");
    if (b->extent.end) {
        struct kept_extent *kept = malloc(sizeof *kept);
        if (!kept)
            return err_mem(e, "a sorted sum", sizeof *kept);
        *kept = (struct kept_extent){b->extent, s->kept};
        s->kept = kept;
        struct sorted_input source = sorted_extent_source(&kept->extent);
        source.worth = s->worth;
        if (external_merge_add(s->merge, &source, e))
            return -1;
    }
    return b->stored ? batch_store_content.consume(s->stores, b->stored, k, e) : 0;
}

static void drop(void *ctx, void *state)
{
    struct open_sum *b = state;
    drop_stored(ctx, b);
    end_order(b);
    free(b);
}

const struct ledger_content sorted_sums_content = {.put = put, .consume = consume, .drop = drop};
