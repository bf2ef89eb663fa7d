/* last_error.h - why the last call failed in this thread. */
#ifndef BPE_LIBRARY_LAST_ERROR_H
#define BPE_LIBRARY_LAST_ERROR_H

#include "base/sys/err.h"

#include <stdint.h>

/* Clears this thread's error and returns it, for the functions that carry out a call. */
struct err *last_error(void);

/* Publishes that error as bpe_last_error, after a call has failed and set it. text is the index of the text, or
 * BPE_UNKNOWN. Returns -1. */
int last_error_tell(uint64_t text);

#endif
