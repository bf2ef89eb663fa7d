/* input.h - a stream of bytes read from start to end: a file, standard input, or a range of a file; plain, zstd or gzip
 * (recognized by its first bytes, not by its name). Errors in compressed data name the byte of the file and the byte of
 * its text. */
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

/* The same for a stream that may stall: on_idle is called before each read, and each second while nothing comes. If it
 * fails, so does the read, with its error; it is not called again. */
typedef int input_idle(void *ctx, struct err *e);
void input_on_idle(struct input *in, input_idle *on_idle, void *ctx); /* from now on */
struct input *input_open_idle(const char *path, input_idle *on_idle, void *ctx, struct err *e);
/* The same for a file that was a regular one before, as fd_open_regular. */
struct input *input_open_regular(const char *path, struct err *e);

/* Lets the end of a stream count only if `confirm` finds nothing wrong: it is called once, when there is nothing more
 * to read, and if it fails, so does the read, with its error. -1: the stream has ended already, and it has failed. */
int input_confirm_end(struct input *in, input_idle *confirm, void *ctx, struct err *e);

void input_close(struct input *in); /* NULL is fine */

/* Opens bytes [begin, end) of a compressed file: whole frames of it. fd and name are borrowed until input_close; fd is
 * read by pread(2), and stays open. NULL with EX_DATAERR (no frame begins there), EX_IOERR or EX_OSERR. */
struct input *input_open_range(int fd, const char *name, uint64_t begin, uint64_t end, struct err *e);

/* Lets such an input that was read to its end go on up to another end. */
void input_extend(struct input *in, uint64_t end);

const char *input_name(const struct input *in); /* for messages */

/* Whether it is a regular, named and uncompressed file, so that another process can read the same bytes by offset. */
bool input_is_plain_file(const struct input *in);
uint64_t input_position(const struct input *in); /* bytes that were read, compressed as they may be */

/* Whether it is a socket of messages (packet.h), which other processes may read as well: each takes what it reads from
 * the others. No more than one message is taken in advance of what input_read returns. */
bool input_is_shared(const struct input *in);
/* Whether what was read from such a socket ends with a message. False if it is compressed. */
bool input_message_ended(const struct input *in);

/* Reads 1 to n bytes to p; 0 is the end; -1 with EX_IOERR, or EX_DATAERR for compressed data that is damaged, cut off,
 * or would take too much memory. */
ptrdiff_t input_read(struct input *in, void *p, size_t n, struct err *e);

bool input_is_compressed(const struct input *in);

/* Checks that a regular file that was read to its end is as it was when it was opened; also standard input that is
 * one. -1: EX_DATAERR, EX_IOERR. */
int input_unchanged(const struct input *in, struct err *e);

/* After the error *e (EX_DATAERR) in the text of a file: if what explains it is that the file has changed since it was
 * opened, or that its compressed data is damaged, for which the rest of it is read, *e is that error. */
void input_blame(struct input *in, struct err *e);

#endif
