/* encode_short.c - see encode_short.h. The ranks of all neighbours are in one array, which is searched for the lowest
 * after each merge. */
#include "encode/encode_short.h"

size_t encode_short(struct merge_lookup *m, const unsigned char *p, size_t n, uint32_t *id)
{
    uint32_t rank[SHORT_MAX];
    const uint32_t *byte_id = m->model->byte_id;
    for (size_t i = 0; i < n; i++)
        id[i] = byte_id[p[i]];
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = merge_lookup_rank(m, id[i], id[i + 1]);
    while (n > 1) {
        size_t best = 0;
        uint32_t min = rank[0];
        for (size_t i = 1; i + 1 < n; i++) {
            best = rank[i] < min ? i : best;
            min = rank[i] < min ? rank[i] : min;
        }
        if (min == NO_MERGE)
            break;
        n--;
        id[best] = merge_lookup_result(m, min);
        for (size_t i = best + 1; i < n; i++)
            id[i] = id[i + 1];
        for (size_t i = best + 1; i + 1 < n; i++)
            rank[i] = rank[i + 1];
        if (best + 1 < n)
            rank[best] = merge_lookup_rank(m, id[best], id[best + 1]);
        if (best > 0)
            rank[best - 1] = merge_lookup_rank(m, id[best - 1], id[best]);
    }
    return n;
}
