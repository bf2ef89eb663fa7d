/* live_choice.h - chooses the live pairs of a round (live_pairs.h) from a sum of pairs, for bpe-merge --live. */
#ifndef BPE_SUPERWORDS_LIVE_CHOICE_H
#define BPE_SUPERWORDS_LIVE_CHOICE_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* Reads a sum of pairs from n files, chooses the live pairs, and writes them as a sum to path (NULL: standard output),
 * with the single ids. Pairs are live that reach the lowest count with which all their counts together are within the
 * budget (> 0); if no count does that, those with the greatest count. If `enough` > 0, the file has that many of the
 * most frequent pairs, and those that are as frequent as the last; the live ones are those of them within the budget.
 * -1: an error of sum_reader_read; EX_DATAERR: not a sum of pairs, or of other text than that of the earlier round;
 * EX_CANTCREAT, EX_IOERR, or out of memory. */
int live_choice_make(char *const *files, size_t n, uint64_t budget, uint64_t enough, const char *path, struct err *e);

#endif
