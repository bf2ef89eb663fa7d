/* merge_triples.c - see merge_triples.h. */
#include "encode/merge_triples.h"

#include <stdlib.h>

/* The bytes beside which merges took a part so far: to its left if it was the right part, to its right if it was the
 * left part. The bits are as in struct byte_triple. */
struct taken {
    uint64_t left;
    uint32_t right_context;
};

/* The possible parts of three bytes, indexed by their bytes. */
struct parts {
    struct taken one[256], first_two[1 << 10], last_two[1 << 12];
};

/* The entry of two bytes; NULL: they are neither the first two of three, nor the last two. */
static struct taken *two_of(struct parts *parts, uint32_t first, uint32_t second)
{
    if (first >= FIRST_MERGED || second >= FIRST_MERGED || !triple_is_later((unsigned char)second))
        return NULL;
    if (triple_is_first((unsigned char)first))
        return &parts->first_two[(first & 15) << 6 | (second & 63)];
    return triple_is_later((unsigned char)first) ? &parts->last_two[(first & 63) << 6 | (second & 63)] : NULL;
}

/* The entry of a symbol, or NULL. */
static struct taken *part_of(struct parts *parts, const struct merge_table *t, uint32_t symbol)
{
    if (symbol < FIRST_MERGED)
        return &parts->one[symbol];
    const struct symbol_pair *two = &t->pair[symbol - FIRST_MERGED];
    return two_of(parts, two->left, two->right);
}

/* Records that a merge takes its parts, if it crosses the boundary between two characters. */
static void take(struct parts *parts, const struct merge_table *t, const struct symbol_pair *pair)
{
    const unsigned char before = t->last[pair->left], after = t->first[pair->right];
    struct taken *part;
    if (triple_is_first(after) && (part = part_of(parts, t, pair->right))) {
        if (triple_is_later(before))
            part->left |= (uint64_t)1 << (before & 63);
        else
            part->right_context |= 1U << TRIPLE_LEFT_OTHER;
    }
    if (triple_is_later(before) && (part = part_of(parts, t, pair->left)))
        part->right_context |= 1U << triple_bit_before(after);
}

/* Initializes the entry of two bytes that merge. Earlier merges may have taken the outer byte; the inner byte merges
 * only with the third. For the first two bytes of a character only the left side counts, for the last two only the
 * right side. */
static void begin_two(struct parts *parts, const struct symbol_pair *pair)
{
    struct taken *two = two_of(parts, pair->left, pair->right);
    if (!two)
        return;
    const struct taken *outer = &parts->one[triple_is_first((unsigned char)pair->left) ? pair->left : pair->right];
    two->left |= outer->left;
    two->right_context |= outer->right_context;
}

/* The last merge of three bytes that, alone, become one token. */
struct last_merge {
    unsigned char byte[3];
    bool first_two; /* the first two were merged earlier, not the last two */
};

/* Whether the merge of this rank is such a last merge. */
static bool is_last(const struct merge_table *t, uint32_t rank, struct last_merge *m)
{
    const struct symbol_pair *pair = &t->pair[rank];
    m->first_two = pair->right < FIRST_MERGED;
    const uint32_t one = m->first_two ? pair->right : pair->left, two = m->first_two ? pair->left : pair->right;
    if (one >= FIRST_MERGED || two < FIRST_MERGED)
        return false;
    const uint32_t own = two - FIRST_MERGED, left = t->pair[own].left, right = t->pair[own].right;
    if (left >= FIRST_MERGED || right >= FIRST_MERGED)
        return false;
    const uint32_t b[3] = {m->first_two ? left : one, m->first_two ? right : left, m->first_two ? one : right};
    for (size_t i = 0; i < 3; i++)
        m->byte[i] = (unsigned char)b[i];
    if (!triple_is_first(m->byte[0]) || !triple_is_later(m->byte[1]) || !triple_is_later(m->byte[2]))
        return false;
    /* The rank of the other two bytes may be that of another pair or an exception. Then it is too low, which is
     * safe. */
    return (m->first_two ? merge_table_rank(t, b[1], b[2]) : merge_table_rank(t, b[0], b[1])) > own;
}

static int put_triple(struct merge_table *t, struct parts *parts, uint32_t rank, const struct last_merge *m,
                      struct err *e)
{
    enum { RIGHT = (1 << (TRIPLE_RIGHT_OTHER + 1)) - 1, LEFT = 1 << TRIPLE_LEFT_OTHER };
    const unsigned char *b = m->byte;
    const struct taken *left = m->first_two ? two_of(parts, b[0], b[1]) : &parts->one[b[0]];
    const struct taken *right = m->first_two ? &parts->one[b[2]] : two_of(parts, b[1], b[2]);
    if (!t->triple && !(t->triple = calloc(TRIPLES, sizeof *t->triple)))
        return err_mem(e, "the table of characters", TRIPLES * sizeof *t->triple);
    t->triple[triple_index(b[0], b[1], b[2])] = (struct byte_triple){
        .left = ~left->left,
        .right_context = (~left->right_context & LEFT) | (~right->right_context & RIGHT) | 1 << TRIPLE_AT_END,
        .rank = (uint16_t)(rank >> t->byte_shift),
        .low = (uint16_t)(rank & ((1U << t->byte_shift) - 1)),
    };
    return 0;
}

int merge_triples_find(struct merge_table *t, struct err *e)
{
    int rc = 0;
    struct parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return err_mem(e, "the table of characters", sizeof *parts);
    for (size_t i = 0; i < t->n_exceptions; i++)
        take(parts, t, &t->exception[i]);
    for (uint32_t i = 0; i < t->n && !rc; i++) {
        const struct symbol_pair *pair = &t->pair[i];
        struct last_merge last;
        if (pair->left == NO_SYMBOL || pair->right == NO_SYMBOL)
            continue;
        if (is_last(t, i, &last))
            rc = put_triple(t, parts, i, &last, e);
        take(parts, t, pair);
        begin_two(parts, pair);
    }
    free(parts);
    return rc;
}
