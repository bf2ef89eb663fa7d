/* split.c - see split.h. */
#include "pretok/split.h"

const char *const split_names[SPLIT_N] = {"isolated", "previous", "next", "contiguous", "gaps", "matches"};
