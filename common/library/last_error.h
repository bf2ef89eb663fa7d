/* last_error.h - why the last call failed in this thread. */
#ifndef BPE_LIBRARY_LAST_ERROR_H
#define BPE_LIBRARY_LAST_ERROR_H

#include "base/sys/err.h"

#include <stdint.h>

/* This thread's error, cleared, for the functions that a call consists of. */
struct err *last_error(void);

/* The call has failed, and that error is set: text is the index of the text, or BPE_UNKNOWN. Returns -1. */
int last_error_tell(uint64_t text);

#endif
