/* shuffle_sort.h - sorts entries by their keys; an item holds a key and the entry's offset. */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_SORT_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct shuffle_item {
    uint64_t key;
    uint64_t at; /* offset of the entry in its file */
};

/* Sorts item[0 .. n) in place, by key, then by offset. bits: the number of leading bits that all keys share. */
void shuffle_sort(struct shuffle_item *item, size_t n, unsigned bits);

#endif
