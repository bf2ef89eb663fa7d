/* documents.h - what reads the documents in the bytes of a source passes them on by this function. */
#ifndef BPE_READER_DOCUMENTS_H
#define BPE_READER_DOCUMENTS_H

#include "core/text_end.h"
#include "sys/err.h"

#include <stddef.h>

/* Takes text of a document, p[0 .. n); RECORD_PAD bytes after it may be read. TEXT_DOC: the document ends with it (n
 * may be 0); TEXT_MORE: the rest, from the bytes used on, is passed again, with more after it. Returns the bytes used:
 * all, unless TEXT_MORE; or -1, an error without a place. */
typedef ptrdiff_t document_fn(void *ctx, const unsigned char *p, size_t n, enum text_end end, struct err *e);

#endif
