/* file_cutter.h - cuts a file into pieces, reading only the text near the places where cuts should be. */
#ifndef BPE_CHUNK_FILE_CUTTER_H
#define BPE_CHUNK_FILE_CUTTER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/input_warnings.h"
#include "chunk/range_writer.h"
#include "input/cut.h"

#include <stddef.h>
#include <stdint.h>

struct file_cutter {
    const struct cutter *cutter;  /* borrowed; one that takes files (cut_takes_files) */
    struct range_writer *ranges;  /* borrowed */
    struct input_warnings *watch; /* borrowed; sees all text that is read */
    uint64_t piece;               /* bytes of text a piece should have */
    struct buf window;            /* owned */
};

/* Adds the pieces of bytes [begin, end) of a source, an open file, to range records. A cut is left out if no place for
 * it is found within 1 MiB after where it should be. */
int file_cutter_cut(struct file_cutter *c, size_t source, int fd, uint64_t begin, uint64_t end, struct err *e);

#endif
