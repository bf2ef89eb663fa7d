/* shuffle_sort.h - sorts the places of entries by their keys. */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_SORT_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct shuffle_item {
    uint64_t key;
    uint64_t at; /* the place of the entry in its file */
};

/* Sorts item[0 .. n) in place, by key, then by place. bits: the first bits of all keys that are equal. */
void shuffle_sort(struct shuffle_item *item, size_t n, unsigned bits);

#endif
