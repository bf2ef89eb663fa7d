/* frame_text.h - the text of a piece of a compressed file: bytes [begin, end) of the file, which are whole frames (or
 * members) of it. */
#ifndef BPE_CHUNK_FRAME_TEXT_H
#define BPE_CHUNK_FRAME_TEXT_H

#include "base/io/input.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/range_source.h"
#include "input/cut.h"
#include "input/windows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in the text count from the first byte of the piece's first frame: from the start of all text if begin is
 * 0. */
struct frame_text {
    const struct range_source *file; /* borrowed */
    const struct cutter *cutter;     /* borrowed */
    uint64_t begin, end;
    struct input *in;
    struct buf *space; /* borrowed; the window: text from offset `at` on */
    uint64_t at;
    size_t left;      /* bytes of the window that were passed on and not used */
    uint64_t border;  /* where the piece's own frames end in the text; UINT64_MAX: not known yet */
    bool ended;       /* the window ends with all text of the file */
    bool empty;       /* the piece has no text: that of its frames belongs to the piece before it */
    uint64_t before;  /* the special token right before the text, as in struct chunk */
    uint64_t n_lines; /* newlines between the first frame and the text */
};

/* Opens the piece and finds where its text begins. cutter: made from the run's rules and the source's reading; a local
 * one, unless the piece is the whole file. space holds the windows. -1: EX_DATAERR (no such frame, damaged, cut off),
 * EX_IOERR, EX_OSERR; t is closed then. */
int frame_text_open(struct frame_text *t, const struct range_source *file, uint64_t begin, uint64_t end,
                    const struct cutter *cutter, struct buf *space, struct err *e);
void frame_text_close(struct frame_text *t);

/* Passes its text to `use`, unless it is empty. *inside is set, before the last window, if the text ends inside a
 * document or right after a special token. -1: as above, or an error of `use`. */
int frame_text_windows(struct frame_text *t, bool *inside, window_fn *use, void *ctx, struct err *e);

#endif
