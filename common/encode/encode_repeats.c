/* encode_repeats.c - see encode_repeats.h. */
#include "encode/encode_repeats.h"

enum {
    FIRST_MAX = 24,   /* maximum number of repeats at the start */
    LENGTH_MIN = 4,   /* minimum average length of these in bytes */
    REPEATS_MAX = 64, /* maximum number of repeats at any time */
};

struct repeat {
    uint32_t symbol, n;
    uint32_t inside, after; /* ranks: of two of the symbols; of the last and the first of the next repeat */
};

struct repeats {
    struct repeat repeat[REPEATS_MAX];
    size_t n;
    bool give_up;
};

/* Appends n symbols. The ranks of a new repeat are not looked up yet. */
static void put(struct repeats *r, uint32_t symbol, uint32_t n)
{
    if (n == 0)
        return;
    if (r->n && r->repeat[r->n - 1].symbol == symbol) {
        r->repeat[r->n - 1].n += n;
    } else if (r->n == REPEATS_MAX) {
        r->give_up = true;
    } else {
        r->repeat[r->n++] = (struct repeat){.symbol = symbol, .n = n};
    }
}

static uint32_t find_rank(const struct merge_table *t, struct repeats *r, uint32_t left, uint32_t right)
{
    uint32_t rank = merge_table_rank(t, left, right);
    if (rank != t->none && !merge_table_is_pair(t, rank, left, right))
        r->give_up = true;
    return rank;
}

/* Looks up the ranks; returns the lowest. */
static uint32_t find_ranks(const struct merge_table *t, struct repeats *r)
{
    uint32_t min = t->none;
    for (size_t i = 0; i < r->n; i++) {
        struct repeat *x = &r->repeat[i];
        x->inside = x->n > 1 ? find_rank(t, r, x->symbol, x->symbol) : t->none;
        x->after = i + 1 < r->n ? find_rank(t, r, x->symbol, x[1].symbol) : t->none;
        min = x->inside < min ? x->inside : min;
        min = x->after < min ? x->after : min;
    }
    return min;
}

/* Merges all positions of this rank, from one array of repeats to the other. */
static void merge_rank(const struct repeats *from, struct repeats *to, uint32_t rank)
{
    const uint32_t result = FIRST_MERGED + rank;
    bool first_taken = false; /* whether the previous repeat used the first symbol */
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const struct repeat *x = &from->repeat[i];
        bool last_taken = x->after == rank;
        if (x->inside == rank) {
            put(to, result, x->n / 2);
            put(to, x->symbol, x->n % 2);
        } else {
            put(to, x->symbol, x->n - first_taken - last_taken);
            put(to, result, last_taken);
        }
        first_taken = last_taken;
    }
}

/* Finds the repeats of p and puts them into r. False: there are too many. */
static bool find_repeats(const unsigned char *p, size_t n, struct repeats *r)
{
    const size_t max = n / LENGTH_MIN < FIRST_MAX ? n / LENGTH_MIN : FIRST_MAX;
    r->n = 0;
    r->give_up = false;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && p[end] == p[i]; end++)
            ;
        if (r->n == max)
            return false;
        put(r, p[i], (uint32_t)(end - i));
    }
    return true;
}

int encode_repeats(const struct merge_table *t, const unsigned char *p, size_t n, struct id_list *out, bool *done,
                   struct err *e)
{
    struct repeats repeats[2], *now = &repeats[0], *next = &repeats[1];
    *done = false;
    if (!find_repeats(p, n, now))
        return 0;
    next->give_up = false;
    for (uint32_t rank; (rank = find_ranks(t, now)) != t->none;) {
        /* Merging l r l r from the left makes, for a moment, the pair of the result and l. So look it up, too. */
        find_rank(t, now, FIRST_MERGED + rank, t->pair[rank].left);
        merge_rank(now, next, rank);
        if (now->give_up || next->give_up)
            return 0;
        struct repeats *swap = now;
        now = next;
        next = swap;
    }
    size_t n_ids = 0;
    for (size_t i = 0; i < now->n; i++)
        n_ids += now->repeat[i].n;
    if (id_list_reserve(out, n_ids, e))
        return -1;
    for (size_t i = 0; i < now->n; i++)
        for (uint32_t k = 0; k < now->repeat[i].n; k++)
            out->id[out->n++] = t->id[now->repeat[i].symbol];
    *done = true;
    return 0;
}
