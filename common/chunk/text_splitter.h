/* text_splitter.h - splits a text that is read from start to end into pieces: all text by value, and files by reference
 * whose cuts are recognized only by reading from the start.
 */
#ifndef BPE_CHUNK_TEXT_SPLITTER_H
#define BPE_CHUNK_TEXT_SPLITTER_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/input_warnings.h"
#include "chunk/range_writer.h"
#include "input/cut.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A callback to show the progress of text by value. bytes: how many (possibly compressed) bytes were read since the
 * last call. */
struct chunk_seen {
    void (*fn)(void *ctx, uint64_t bytes);
    void *ctx;
};

struct text_splitter {
    const struct cutter *cutter;   /* borrowed */
    struct range_writer *ranges;   /* borrowed; chunks are written by its writer */
    struct input_warnings *watch;  /* borrowed; sees all text that is read */
    const struct chunk_seen *seen; /* borrowed; called as text by value is read; NULL: none */
    bool only;                     /* only the wanted ranges of a source are written */
    struct buf window;             /* owned */
};

/* Reads a source and writes its pieces, of about `block` bytes. Sets the size of a source by value. -1: EX_DATAERR if
 * the size has changed, or a very long text has no split point; or a read or write error. */
int text_splitter_split(struct text_splitter *t, size_t source, struct input *in, size_t block, struct err *e);

#endif
