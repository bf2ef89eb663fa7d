/* documents.h - what reads the documents in the bytes of a source passes them on by this function. */
#ifndef BPE_READER_DOCUMENTS_H
#define BPE_READER_DOCUMENTS_H

#include "core/text_end.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stddef.h>
#include <stdint.h>

/* Where a text is that is passed on: a document, or (plain text) a piece. Offsets are those of windows.h. */
struct text_place {
    uint64_t begin; /* of its bytes in the source; of the whole line (JSON Lines) */
    uint64_t end;   /* after them, and what ends the document: a newline, a NUL; set when the last part is passed */
    uint64_t line;  /* JSON Lines: number of the lines of the piece that come before it; else 0 */
    struct str id;  /* JSON Lines: see struct document_mark; borrowed */
};

/* Takes text of a document, p[0 .. n); RECORD_PAD bytes after it may be read. TEXT_DOC: the document ends with it (n
 * may be 0); TEXT_MORE: the rest, from the bytes used on, is passed again, with more after it. Returns the bytes used:
 * all, unless TEXT_MORE; or -1, an error without a place. */
typedef ptrdiff_t document_fn(void *ctx, const unsigned char *p, size_t n, enum text_end end, struct err *e);

#endif
