/* merge.h - a merge: two tokens that stand side by side become one. */
#ifndef BPE_CORE_MERGE_H
#define BPE_CORE_MERGE_H

#include <stdint.h>

/* In a model the numbers are ids. From the trainer (train/learn.h) they are symbols: 0 .. 255 the bytes by value,
 * 256 + k what merge k makes. */
struct merge {
    uint32_t left, right, result; /* the result's bytes are left's, then right's */
};

#endif
