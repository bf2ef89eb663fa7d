/* shuffle_sort.c - see shuffle_sort.h.
 *
 * Keys are hashes, so eight bits of the key divide many items into 256 groups of about the same size. Each item is
 * moved to its group in place (McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993); small groups are sorted by
 * insertion.
 */
#include "shard/shuffle/shuffle_sort.h"

#include <stdbool.h>
#include <stdlib.h>

enum { DIGIT = 8, GROUPS = 1 << DIGIT, SMALL = 64 };

static bool before(const struct shuffle_item *a, const struct shuffle_item *b)
{
    return a->key < b->key || (a->key == b->key && a->at < b->at);
}

static void sort_small(struct shuffle_item *item, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct shuffle_item x = item[i];
        size_t j = i;
        for (; j > 0 && before(&x, &item[j - 1]); j--)
            item[j] = item[j - 1];
        item[j] = x;
    }
}

static int compare(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a) ? 1 : 0;
}

static size_t group_of(uint64_t key, unsigned bits)
{
    return (size_t)(key << bits >> (64 - DIGIT));
}

void shuffle_sort(struct shuffle_item *item, size_t n, unsigned bits)
{
    size_t next[GROUPS], end[GROUPS], count[GROUPS] = {0};
    if (n <= SMALL) {
        sort_small(item, n);
        return;
    }
    if (bits > 64 - DIGIT) { /* the parts of one long document, whose keys are equal */
        qsort(item, n, sizeof *item, compare);
        return;
    }
    for (size_t i = 0; i < n; i++)
        count[group_of(item[i].key, bits)]++;
    for (size_t g = 0, at = 0; g < GROUPS; g++) {
        next[g] = at;
        end[g] = at += count[g];
    }
    for (size_t g = 0; g < GROUPS; g++) {
        while (next[g] < end[g]) {
            struct shuffle_item x = item[next[g]];
            for (size_t to; (to = group_of(x.key, bits)) != g;) {
                struct shuffle_item y = item[next[to]];
                item[next[to]++] = x;
                x = y;
            }
            item[next[g]++] = x;
        }
    }
    for (size_t g = 0; g < GROUPS; g++)
        shuffle_sort(item + end[g] - count[g], count[g], bits + DIGIT);
}
