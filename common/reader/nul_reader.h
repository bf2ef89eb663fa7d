/* nul_reader.h - the documents of a text in which each ends with a NUL byte, window by window. Text after the last NUL
 * is a document as well, unless it is empty.
 */
#ifndef BPE_READER_NUL_READER_H
#define BPE_READER_NUL_READER_H

#include "reader/documents.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nul_reader {          /* zeroed: at the start of a piece */
    bool inside;             /* text of a document has been passed on, and not its end */
    struct text_place place; /* of the document that is passed on */
};

/* Passes on the documents in a window, which begins where the one before was used up, at this offset of the source.
 * last: the piece ends with it. Returns the bytes used; -1: *where is the offset of what was being passed on. */
ptrdiff_t nul_reader_window(struct nul_reader *r, const unsigned char *p, size_t n, uint64_t offset, bool last,
                            document_fn *text, void *ctx, uint64_t *where, struct err *e);

#endif
