/* frame_cutter.h - compressed files by reference: which of the inputs these are, and their pieces, each a group of
 * whole frames (base/io/frames.h). No text is read; where the text of a piece begins and ends is found by who
 * decompresses it (chunk/frame_text.h). */
#ifndef BPE_CHUNK_FRAME_CUTTER_H
#define BPE_CHUNK_FRAME_CUTTER_H

#include "base/io/frames.h"
#include "base/sys/err.h"
#include "chunk/chunk_writer.h"
#include "chunk/range_writer.h"
#include "input/cut.h"

#include <stddef.h>
#include <stdint.h>

struct frame_cutter {
    struct chunk_writer *writer; /* borrowed */
    const struct cutter *cutter; /* borrowed */
    uint64_t piece;              /* bytes of text a piece should have; set before frame_cutter_cut */
    const struct source *source; /* the one whose borders were found last; NULL: none */
    struct frames borders;       /* of its pieces; owned */
};

/* Decides which compressed files go by reference: all if there are several, else one whose frames are known, so that it
 * makes several pieces. block: as in chunk_plan_make. -1: EX_NOINPUT, EX_IOERR. */
int frame_cutter_choose(struct frame_cutter *c, uint64_t block, struct err *e);

/* Adds the pieces of bytes [begin, end) of a source to range records: one, if its text may not be cut wherever a frame
 * begins. -1: EX_NOINPUT, EX_IOERR. */
int frame_cutter_cut(struct frame_cutter *c, struct range_writer *ranges, size_t source, uint64_t begin, uint64_t end,
                     struct err *e);

void frame_cutter_free(struct frame_cutter *c);

#endif
