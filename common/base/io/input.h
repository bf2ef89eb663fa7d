/* input.h - a stream of bytes read from start to end: a file, standard input, or a range of a file; plain, zstd or gzip
 * (recognized by its first bytes, not by its name). Errors in compressed data report the offset in the file and the
 * offset in its text. */
#ifndef BPE_BASE_IO_INPUT_H
#define BPE_BASE_IO_INPUT_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input; /* opaque */

/* Opens a file, or "-" for standard input. NULL with EX_NOINPUT, EX_IOERR or EX_OSERR. path is borrowed until
 * input_close. */
struct input *input_open(const char *path, struct err *e);

/* The same for a stream that may stall: on_idle is called before each read, and every second while waiting for input.
 * If it fails, the read fails with its error, and it is not called again. */
typedef int input_idle(void *ctx, struct err *e);
void input_on_idle(struct input *in, input_idle *on_idle, void *ctx); /* from now on */
struct input *input_open_idle(const char *path, input_idle *on_idle, void *ctx, struct err *e);
/* The same for a file that was a regular one earlier; see fd_open_regular. */
struct input *input_open_regular(const char *path, struct err *e);

/* Accepts the end of a stream only if `confirm` succeeds. It is called once, at the end; if it fails, the read fails
 * with its error. -1: the stream had already ended, and `confirm` failed. */
int input_confirm_end(struct input *in, input_idle *confirm, void *ctx, struct err *e);

void input_close(struct input *in); /* NULL is fine */

/* Opens bytes [begin, end) of a compressed file, which must be whole frames. fd and name are borrowed until
 * input_close; fd is read with pread(2) and remains open. NULL with EX_DATAERR (no frame begins there), EX_IOERR or
 * EX_OSERR. */
struct input *input_open_range(int fd, const char *name, uint64_t begin, uint64_t end, struct err *e);

/* Extends the range of such an input, which was read to its end, to a new end. */
void input_extend(struct input *in, uint64_t end);

const char *input_name(const struct input *in); /* for messages */

/* Whether it is a regular, named and uncompressed file, so that another process can read the same bytes by offset. */
bool input_is_plain_file(const struct input *in);
uint64_t input_position(const struct input *in); /* offset of the next byte to read, before decompression */

/* Whether it is a message socket (packet.h), which other processes may also read: each message goes to only one of
 * them. At most one message is read ahead of what input_read returns. */
bool input_is_shared(const struct input *in);
/* Whether the data read from such a socket ends with a complete message. False if it is compressed. */
bool input_message_ended(const struct input *in);

/* Reads 1 to n bytes to p; 0 is the end; -1 with EX_IOERR, or EX_DATAERR for compressed data that is damaged, truncated
 * or would need too much memory. */
ptrdiff_t input_read(struct input *in, void *p, size_t n, struct err *e);

bool input_is_compressed(const struct input *in);

/* Checks that a regular file (or standard input, if it is one) that was read to its end has not changed since it was
 * opened. -1: EX_DATAERR, EX_IOERR. */
int input_unchanged(const struct input *in, struct err *e);

/* Looks for the cause of the error *e (EX_DATAERR) in the text of a file. If the file has changed since it was opened,
 * or its compressed data is damaged, sets *e to that error. Reads the rest of a compressed file to find out. */
void input_blame(struct input *in, struct err *e);

#endif
