/* merge.h - a merge: two adjacent tokens become one. */
#ifndef BPE_MODEL_MERGE_H
#define BPE_MODEL_MERGE_H

#include <stdint.h>

/* In a model the numbers are ids. From the trainer (train/learn.h) they are symbols: 0 .. 255 are the bytes by value,
 * 256 + k is the result of merge k. */
struct merge {
    uint32_t left, right, result; /* the result's bytes are left's, then right's */
};

#endif
