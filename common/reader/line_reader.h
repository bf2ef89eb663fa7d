/* line_reader.h - the lines of a JSON Lines text, window by window: the text in each line, bad lines, and the number of
 * a line for messages.
 *
 * In a file that is read by reference a piece begins anywhere, so the number of its first line is not known. It is
 * counted when a message needs it, at most once for a piece: from the nearest place before it whose line number is
 * known.
 */
#ifndef BPE_READER_LINE_READER_H
#define BPE_READER_LINE_READER_H

#include "core/rules.h"
#include "reader/documents.h"
#include "reader/kept_line.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "text/jsonl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of a line in a file, and how many lines are before it. Zeroed: the first line. */
struct line_place {
    uint64_t offset, n_before; /* n_before: number of lines before it */
};

/* Lines that were left out (--on-error=skip). */
struct bad_lines {
    uint64_t n;
    struct buf first; /* where the first one was: "name: line 7"; owned */
};

struct line_reader { /* zeroed: nothing to free */
    struct jsonl jsonl;
    struct jsonl id;              /* reads the id of a document; its field is empty if none is wanted */
    struct buf long_id, clean_id; /* an id of a long line; without its invalid bytes */
    bool check_utf8, skip_bad;
    bool valid;              /* the text that is passed on just now is valid UTF-8 */
    struct text_place place; /* of the line of that text */
    /* The current piece. */
    const char *name;         /* of its source, for messages; borrowed */
    int fd;                   /* the file in which lines can be counted; -1: text by value */
    struct line_place *known; /* of that file; borrowed; updated when lines are counted */
    uint64_t begin;           /* offset of the piece in the source */
    uint64_t first;           /* number of its first line, 0: not known yet */
    uint64_t n_passed;        /* number of its lines read so far */
    /* A line that is too long for memory. */
    size_t longest;        /* bytes of a line at the end of a window that make it one; at least 16 */
    struct kept_line kept; /* what was read of it; its name is NULL if there is none */
    uint64_t kept_begin;   /* its offset in the source */
};

/* `how` says how the source is read; its strings are borrowed. */
void line_reader_init(struct line_reader *l, const struct reading *how);
void line_reader_free(struct line_reader *l);

/* Begins a piece, which starts with a new line. In a file by reference lines can be counted: fd is that file, `known`
 * the last place in it whose line number was counted. Otherwise fd is -1, known NULL, and first the number of the first
 * line, 0 if it is not known. name, fd and known are borrowed while the piece is read. */
void line_reader_begin(struct line_reader *l, const char *name, uint64_t begin, uint64_t first);
void line_reader_begin_file(struct line_reader *l, const char *name, uint64_t begin, int fd, struct line_place *known);

/* Ends the piece at this offset. */
void line_reader_end(struct line_reader *l, uint64_t end);

/* Reads the whole lines in a window that begins with a line or where the one before was used up, at this offset of the
 * source (if last: also a line at its end that has no newline), and passes on their texts. A line of which many bytes
 * are at the window's end is taken as well, part by part (long_line.h): a file by reference is read again then, other
 * text is kept in a temporary file. Bad lines are added to *bad, or are an error. Returns the bytes used; -1: *where is
 * the offset of the error in the source, and the message names the line. */
ptrdiff_t line_reader_window(struct line_reader *l, const unsigned char *p, size_t n, uint64_t offset, bool last,
                             document_fn *text, void *ctx, struct bad_lines *bad, uint64_t *where, struct err *e);

#endif
