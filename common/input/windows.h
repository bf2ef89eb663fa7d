/* windows.h - reads a text that may not fit in memory in windows; each begins where the used part of the last one
 * ended. */
#ifndef BPE_INPUT_WINDOWS_H
#define BPE_INPUT_WINDOWS_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uses a window, p[0 .. n), which begins at byte `offset` of the source; WINDOW_PAD bytes after it may be read. last:
 * the text ends with it, and n may be 0. Returns the number of bytes used, n if last; the rest is passed again, with
 * more text after it. -1: error. */
typedef ptrdiff_t window_fn(void *ctx, const unsigned char *p, size_t n, uint64_t offset, bool last, struct err *e);

/* Reads bytes [begin, end) of an open file with pread(2) and passes them to `use`. `space` holds the windows and may be
 * reused for the next call. -1: EX_DATAERR (the file is too short), EX_IOERR, or an error of `use`. */
int windows_of_file(struct buf *space, int fd, const char *name, uint64_t begin, uint64_t end, window_fn *use,
                    void *ctx, struct err *e);

/* The same for an input, from start to end. `first` holds bytes of it that have already been read (copied). *len is set
 * to the length of the text. */
int windows_of_input(struct buf *space, struct input *in, const struct buf *first, window_fn *use, void *ctx,
                     uint64_t *len, struct err *e);

/* Checks that the unused text of a compressed input is not too long to read more: a small file may hold a pretoken of
 * terabytes. -1 with EX_DATAERR if it is. */
int window_check(const struct buf *b, const struct input *in, struct err *e);

/* For callers that fill windows themselves. window_room makes room at the end of one, at least 256 KiB, and returns how
 * much may be read there; 0: out of memory. window_drop removes the first n bytes, which were used. */
size_t window_room(struct buf *b, struct err *e);
void window_drop(struct buf *b, size_t n);

#endif
