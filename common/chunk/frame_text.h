/* frame_text.h - reads the text of a piece of a compressed file: bytes [begin, end) of the file, which are whole frames
 * (or members). */
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

/* Offsets in the text count from the first byte of the piece's first frame. */
struct frame_text {
    const struct range_source *file; /* borrowed */
    const struct cutter *cutter;     /* borrowed */
    uint64_t begin, end;
    struct input *in;
    struct buf *space; /* borrowed; the window: text from offset `at` on */
    uint64_t at;
    size_t left;      /* bytes of the window that were passed on but not used */
    uint64_t border;  /* offset in the text where the piece's own frames end; UINT64_MAX: not known yet */
    bool ended;       /* the window ends at the end of all text of the file */
    bool empty;       /* the piece has no text: the text of its frames belongs to an earlier piece */
    uint64_t before;  /* the special token right before the text, as in struct chunk */
    uint64_t n_lines; /* newlines between the first frame and the text */
};

/* Opens the piece and finds where its text begins. cutter: made from the run's rules and the source's reading; a local
 * one, unless the piece is the whole file. `space` holds the windows. -1: EX_DATAERR (no such frame, damaged, cut off),
 * EX_IOERR, EX_OSERR; t is then closed. */
int frame_text_open(struct frame_text *t, const struct range_source *file, uint64_t begin, uint64_t end,
                    const struct cutter *cutter, struct buf *space, struct err *e);
void frame_text_close(struct frame_text *t);

/* Passes the text of the piece to `use`, unless the piece is empty. *inside is set before the last window is passed:
 * whether the text ends inside a document or right after a special token. -1: as above, or an error of `use`. */
int frame_text_windows(struct frame_text *t, bool *inside, window_fn *use, void *ctx, struct err *e);

#endif
