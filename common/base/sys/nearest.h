/* nearest.h - finds the word that a mistyped word was probably meant to be. */
#ifndef BPE_BASE_SYS_NEAREST_H
#define BPE_BASE_SYS_NEAREST_H

#include <stddef.h>

/* The nearest word in `words`, or NULL if none is near. A word is near if it differs by one letter that was omitted,
 * added, replaced or swapped with its neighbor; if `word` has six letters or more, by two such edits; if it has one or
 * two letters, by none. Case is ignored. A mistyped prefix is near the longer word: `vocb` is near `vocab-size`. The
 * first of equally near words wins. */
const char *nearest(const char *word, const char *const *words, size_t n);

#endif
