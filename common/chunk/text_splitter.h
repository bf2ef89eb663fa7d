/* text_splitter.h - splits a text that is read from start to end into pieces: what goes by value, and files by
 * reference where the places to cut are only known from the text's start.
 */
#ifndef BPE_CHUNK_TEXT_SPLITTER_H
#define BPE_CHUNK_TEXT_SPLITTER_H

#include "chunk/range_writer.h"
#include "chunk/token_watch.h"
#include "io/input.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "text/cut.h"

#include <stdbool.h>
#include <stddef.h>

struct text_splitter {
    const struct cutter *cutter; /* borrowed */
    struct range_writer *ranges; /* borrowed; its writer is where chunks go */
    struct token_watch *watch;   /* borrowed; is shown what is read */
    bool only;                   /* only what is wanted of a source is put, and its size is known */
    struct buf window;           /* owned */
};

/* Reads a source and puts its pieces, of about `block` bytes. A source by value has its size afterwards. -1: EX_DATAERR
 * if it has another size than it had, or no place to cut in a very long text; or what reading and writing say. */
int text_splitter_split(struct text_splitter *t, size_t source, struct input *in, size_t block, struct err *e);

#endif
