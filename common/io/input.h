/* input.h - a stream of bytes read from start to end: a file or standard input, plain, zstd or gzip (recognized by its
 * first bytes, not by its name). Offsets count decompressed bytes. */
#ifndef BPE_IO_INPUT_H
#define BPE_IO_INPUT_H

#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input; /* opaque */

/* Opens a file, or "-" for standard input. NULL with EX_NOINPUT, EX_IOERR or EX_OSERR. path is borrowed until
 * input_close. */
struct input *input_open(const char *path, struct err *e);
void input_close(struct input *in); /* NULL is fine */

const char *input_name(const struct input *in); /* for messages */

/* Whether it is a regular, named and uncompressed file, so that another process can read the same bytes by offset. */
bool input_is_plain_file(const struct input *in);
int input_fd(const struct input *in); /* borrowed; for such a file */

/* Reads 1 to n bytes to p; 0 is the end; -1 with EX_IOERR, or EX_DATAERR for compressed data that is damaged or cut
 * off. */
ptrdiff_t input_read(struct input *in, void *p, size_t n, struct err *e);

#endif
