/* encode_runs.c - see encode_runs.h. */
#include "encode/encode_runs.h"

enum {
    FIRST_MOST = 24, /* runs at the start, if they have */
    SHORTEST = 4,    /* bytes each, on the average, or more */
    MOST = 64,       /* runs at any time */
};

struct run {
    uint32_t symbol, n;
    uint32_t inside, after; /* the ranks of two of them, and of the last and the first of the next run; or none */
};

struct runs {
    struct run run[MOST];
    size_t n;
    bool give_up;
};

/* Appends n symbols. `inside` of a new run is to be looked up. */
static void put(struct runs *r, uint32_t symbol, uint32_t n)
{
    if (n == 0)
        return;
    if (r->n && r->run[r->n - 1].symbol == symbol) {
        r->run[r->n - 1].n += n;
    } else if (r->n == MOST) {
        r->give_up = true;
    } else {
        r->run[r->n++] = (struct run){.symbol = symbol, .n = n};
    }
}

static uint32_t find_rank(const struct merge_table *t, struct runs *r, uint32_t left, uint32_t right)
{
    uint32_t rank = merge_table_rank(t, left, right);
    if (rank != t->none && !merge_table_is_pair(t, rank, left, right))
        r->give_up = true;
    return rank;
}

/* Looks up the ranks; returns the lowest. */
static uint32_t find_ranks(const struct merge_table *t, struct runs *r)
{
    uint32_t least = t->none;
    for (size_t i = 0; i < r->n; i++) {
        struct run *x = &r->run[i];
        x->inside = x->n > 1 ? find_rank(t, r, x->symbol, x->symbol) : t->none;
        x->after = i + 1 < r->n ? find_rank(t, r, x->symbol, x[1].symbol) : t->none;
        least = x->inside < least ? x->inside : least;
        least = x->after < least ? x->after : least;
    }
    return least;
}

/* Merges all places of this rank: from one array of runs to the other. */
static void merge_rank(const struct runs *from, struct runs *to, uint32_t rank)
{
    const uint32_t result = FIRST_MERGED + rank;
    bool first_taken = false; /* by the run before */
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const struct run *x = &from->run[i];
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

/* Whether there are few runs; if so they are put into r. */
static bool find_runs(const unsigned char *p, size_t n, struct runs *r)
{
    const size_t most = n / SHORTEST < FIRST_MOST ? n / SHORTEST : FIRST_MOST;
    r->n = 0;
    r->give_up = false;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && p[end] == p[i]; end++)
            ;
        if (r->n == most)
            return false;
        put(r, p[i], (uint32_t)(end - i));
    }
    return true;
}

int encode_runs(const struct merge_table *t, const unsigned char *p, size_t n, struct id_list *out, bool *done,
                struct err *e)
{
    struct runs runs[2], *now = &runs[0], *next = &runs[1];
    *done = false;
    if (!find_runs(p, n, now))
        return 0;
    next->give_up = false;
    for (uint32_t rank; (rank = find_ranks(t, now)) != t->none;) {
        /* Between two places of this merge its result stands before its left part, until that is merged too. */
        find_rank(t, now, FIRST_MERGED + rank, t->pair[rank].left);
        merge_rank(now, next, rank);
        if (now->give_up || next->give_up)
            return 0;
        struct runs *swap = now;
        now = next;
        next = swap;
    }
    size_t n_ids = 0;
    for (size_t i = 0; i < now->n; i++)
        n_ids += now->run[i].n;
    if (id_list_reserve(out, n_ids, e))
        return -1;
    for (size_t i = 0; i < now->n; i++)
        for (uint32_t k = 0; k < now->run[i].n; k++)
            out->id[out->n++] = t->id[now->run[i].symbol];
    *done = true;
    return 0;
}
