/* wet_reader.h - the documents in WET files (text/wet.h), window by window. */
#ifndef BPE_READER_WET_READER_H
#define BPE_READER_WET_READER_H

#include "reader/documents.h"
#include "sys/err.h"
#include "text/wet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wet_reader { /* zeroed: at the start of a piece, which is one of a record */
    enum { WET_BORDER, WET_BLOCK, WET_LINES } at;
    struct wet_header record; /* the current one; block: what is left of it */
    uint64_t begin;           /* where it begins in the source */
    unsigned n_lines;         /* ends of lines after its block */
    struct text_place place;  /* of its block */
};

/* Passes on the documents in a window, which begins where the one before was used up, at this offset of the source.
 * last: the piece ends with it. Returns the bytes used; -1: *where is the offset of what was being passed on, or of the
 * record that is wrong. */
ptrdiff_t wet_reader_window(struct wet_reader *r, const unsigned char *p, size_t n, uint64_t offset, bool last,
                            document_fn *text, void *ctx, uint64_t *where, struct err *e);

#endif
