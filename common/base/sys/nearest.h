/* nearest.h - which of some words was meant by one that is mistyped. */
#ifndef BPE_BASE_SYS_NEAREST_H
#define BPE_BASE_SYS_NEAREST_H

#include <stddef.h>

/* The word of `words` that is nearest to `word`, or NULL if none is near: a letter left out, added, replaced or swapped
 * with its neighbour, twice in words of six letters and more, never in words of one or two. Upper and lower case are
 * the same. The beginning of a longer word may be mistyped, too: `vocb` is near `vocab-size`. Of equally near ones the
 * first. */
const char *nearest(const char *word, const char *const *words, size_t n);

#endif
