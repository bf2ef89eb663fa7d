/* line_reader.h - the lines of a JSON Lines text, window by window: the text in each, those that are bad, and the
 * number of a line, for messages.
 *
 * Of a file that is read by reference, a piece begins anywhere, so that the number of its first line is not known. It
 * is counted when a message needs it, and at most once for a piece: from the nearest place of the file whose line
 * number is known already.
 */
#ifndef BPE_READER_LINE_READER_H
#define BPE_READER_LINE_READER_H

#include "core/rules.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "text/jsonl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a file where a line begins, and that line's number, from 1. Zeroed: the first line. */
struct line_place {
    uint64_t offset, n_before; /* n_before: the lines before it */
};

/* Lines that were left out (--on-error=skip). */
struct bad_lines {
    uint64_t n;
    struct buf first; /* where the first was: "name: line 7"; owned */
};

struct line_reader { /* zeroed: nothing to free */
    struct jsonl jsonl;
    bool check_utf8, skip_bad;
    /* The piece that is read now. */
    const char *name;         /* of its source, for messages; borrowed */
    int fd;                   /* of the file to count lines in; -1: not by reference */
    struct line_place *known; /* of that file; borrowed; moved on as lines are counted */
    uint64_t begin;           /* where the piece begins in the source */
    uint64_t first;           /* number of its first line, 0: not known yet */
    uint64_t n_passed;        /* lines of it that were read */
};

/* `how` says how the source is read; its field is borrowed. */
void line_reader_init(struct line_reader *l, const struct reading *how);
void line_reader_free(struct line_reader *l);

/* A piece begins, with a line. In a file by reference (fd) lines can be counted: `known` is then the place of that file
 * for which it was done last. Otherwise fd is -1, known NULL, and first the number of the first line, 0 if nobody knows
 * it. name, fd and known are borrowed while the piece is read. */
void line_reader_begin(struct line_reader *l, const char *name, uint64_t begin, uint64_t first);
void line_reader_begin_file(struct line_reader *l, const char *name, uint64_t begin, int fd, struct line_place *known);

/* The piece ended, at this offset. */
void line_reader_end(struct line_reader *l, uint64_t end);

/* Takes the text of a line; RECORD_PAD bytes past it may be read. -1: the error, without a place. */
typedef int line_text_fn(void *ctx, const unsigned char *p, size_t n, struct err *e);

/* Reads the whole lines in a window that begins with one, at this offset of the source (if last: also a line at its end
 * that has no newline), and hands their texts on. Bad lines are added to *bad, or are an error. Returns the bytes used;
 * -1: *where is the offset of what is wrong, in the source, and the message says which line. */
ptrdiff_t line_reader_window(struct line_reader *l, const unsigned char *p, size_t n, uint64_t offset, bool last,
                             line_text_fn *text, void *ctx, struct bad_lines *bad, uint64_t *where, struct err *e);

#endif
