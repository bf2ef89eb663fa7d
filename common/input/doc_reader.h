/* doc_reader.h - reads the documents in the bytes of a source, piece by piece and window by window, and passes them
 * on. Each form of input (input_form.h) has a reader of its own, whose state begins with a struct doc_reader.
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

enum { DOCUMENT_ID_MAX = 900 }; /* bytes of an id: it is in a record of RECORD_ATOMIC bytes (wire/record.h) */

/* Where a text is that is passed on: a document, or (plain text) a piece. Offsets are those of windows.h. */
struct text_place {
    uint64_t begin; /* of its bytes in the source; of the whole line (JSON Lines) */
    uint64_t end;   /* after them, and what ends the document: a newline, a NUL; set when the last part is passed */
    uint64_t line;  /* JSON Lines: number of the lines of the piece that come before it; else 0 */
    struct str id;  /* JSON Lines: see struct document_mark; borrowed */
};

/* The start of a line in a file, and how many lines are before it. Zeroed: the first line. */
struct line_place {
    uint64_t offset, n_before; /* n_before: number of lines before it */
};

/* Lines that were left out (--on-error=skip). */
struct bad_lines {
    uint64_t n;
    struct buf first; /* where the first one was: "name: line 7"; owned */
};

struct doc_reader {
    struct text_place place; /* of the text that is passed on just now */
    bool valid;              /* that text is valid UTF-8; false: not known */
    uint64_t n_lines;        /* JSON Lines: lines of the piece read so far */
};

/* A piece of a source, which begins with a document (plain text: where it may be cut). In a file by reference lines
 * can be counted: `file` is the last place in it whose line number was counted, and fd that file; else it is NULL, and
 * first_line the number of the first line, 0 if it is not known. All is borrowed until the piece ends. */
struct doc_piece {
    const char *name; /* of its source, for messages */
    uint64_t begin;   /* its offset in the source */
    uint64_t first_line;
    struct line_place *file;
    int fd;
    struct bad_lines *skipped; /* lines that are left out are added; may be NULL where none are */
};

/* A window: p[0 .. n), at this offset of the source, where the window before was used up. WINDOW_PAD bytes after it
 * may be read. */
struct doc_window {
    const unsigned char *p;
    size_t n;
    uint64_t offset;
    bool last;   /* the piece ends with it */
    bool inside; /* plain text, if last: the piece is not the last one; inside a document, a letter follows */
};

/* Takes text of a document, p[0 .. n); WINDOW_PAD bytes after it may be read. TEXT_DOC: the document ends with it (n
 * may be 0); TEXT_MORE: the rest, from the bytes used on, is passed again, with more after it. Returns the bytes used:
 * all, unless TEXT_MORE; or -1, an error without a place. */
typedef ptrdiff_t document_fn(void *ctx, const unsigned char *p, size_t n, enum window_end end, struct err *e);

#endif
