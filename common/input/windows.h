/* windows.h - a text that may not fit in memory, read in windows: each begins where the one before was used up. */
#ifndef BPE_INPUT_WINDOWS_H
#define BPE_INPUT_WINDOWS_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uses a window, p[0 .. n), which begins at byte `offset` of the source; WINDOW_PAD bytes after it may be read. last:
 * the text ends with it, and n may be 0. Returns the bytes used, all of them if last; the rest is passed again, with
 * more after it. -1: error. */
typedef ptrdiff_t window_fn(void *ctx, const unsigned char *p, size_t n, uint64_t offset, bool last, struct err *e);

/* Passes bytes [begin, end) of an open file to `use`, read with pread(2). `space` holds the windows and is kept from
 * call to call. -1 with EX_DATAERR if the file is too short; with EX_IOERR; or an error of `use`. */
int windows_of_file(struct buf *space, int fd, const char *name, uint64_t begin, uint64_t end, window_fn *use,
                    void *ctx, struct err *e);

/* The same for an input, from start to end. `first` are bytes of it that have been read already, copied. *len is set to
 * the length of the text. */
int windows_of_input(struct buf *space, struct input *in, const struct buf *first, window_fn *use, void *ctx,
                     uint64_t *len, struct err *e);

/* Whether so much of the text of a compressed input is unused that no more should be read: a small file may hold a
 * pretoken of terabytes. -1 with EX_DATAERR. */
int window_check(const struct buf *b, const struct input *in, struct err *e);

/* For who fills windows otherwise. window_room: makes room at the end of one, at least 256 KiB, and returns how much
 * may be read there; 0: out of memory. window_drop: the first n bytes were used. */
size_t window_room(struct buf *b, struct err *e);
void window_drop(struct buf *b, size_t n);

#endif
