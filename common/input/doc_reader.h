/* doc_reader.h - reads the documents in the bytes of a source, piece by piece and window by window, and passes them on.
 * Each input form (input_form.h) has its own reader, whose state begins with a struct doc_reader.
 */
#ifndef BPE_INPUT_DOC_READER_H
#define BPE_INPUT_DOC_READER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_PAD 64 /* bytes that may be read after a window */

enum { DOCUMENT_ID_MAX = 900 }; /* bytes of an id; it must fit into a record of RECORD_ATOMIC bytes (wire/record.h) */

/* The place of a text that is passed on: a document or, in plain text, a piece. Offsets are those of windows.h. */
struct text_place {
    uint64_t begin; /* start of its bytes in the source; JSON Lines: start of its line */
    uint64_t end;   /* end of its bytes, including the newline or NUL that ends it; set when its last part is passed */
    uint64_t line;  /* JSON Lines: number of lines of the piece before it; else 0 */
    struct str id;  /* JSON Lines: see struct document_mark; borrowed */
};

/* The start of a line in a file. Zeroed: the first line. */
struct line_place {
    uint64_t offset, n_before; /* n_before: number of lines before this one */
};

/* Lines that were left out (--on-error=skip). */
struct bad_lines {
    uint64_t n;
    struct buf first; /* place of the first one: "name: line 7"; owned */
};

struct doc_reader {
    struct text_place place; /* of the text being passed on */
    bool valid;              /* that text is valid UTF-8; false: unknown */
    uint64_t n_lines;        /* JSON Lines: lines of the piece read so far */
};

/* A piece of a source, which begins with a document (plain text: at a cut). In a file by reference, lines can be
 * counted: `file` is the last place whose line number was counted, and `fd` is the file. Otherwise `file` is NULL, and
 * first_line is the number of the first line, 0 if unknown. Everything is borrowed until the piece ends. */
struct doc_piece {
    const char *name; /* of its source, for messages */
    uint64_t begin;   /* its offset in the source */
    uint64_t first_line;
    struct line_place *file;
    int fd;
    struct bad_lines *skipped; /* lines left out are added to it; may be NULL if none can be */
};

/* A window: p[0 .. n), at this offset of the source, which is where the used part of the previous window ended.
 * WINDOW_PAD bytes after it may be read. */
struct doc_window {
    const unsigned char *p;
    size_t n;
    uint64_t offset;
    bool last;   /* the piece ends with it */
    bool inside; /* plain text, if last: the piece is not the last of its source; a letter follows if the cut is inside
                    a document */
};

/* Takes text of a document, p[0 .. n); WINDOW_PAD bytes after it may be read. TEXT_DOC: the document ends with it (n
 * may be 0); TEXT_MORE: the unused rest is passed again, with more text after it. Returns the number of bytes used,
 * which is n unless TEXT_MORE; or -1, an error without a place. */
typedef ptrdiff_t document_fn(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e);

#endif
