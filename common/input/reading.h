/* reading.h - how the bytes of a source are read: its form, and how bad bytes and lines are handled.
 *
 * A reading belongs to a source only, and travels with its data, so counts of web pages in JSON Lines and of books in
 * plain text can be added up. bpe-chunk reads all sources of a run in the same way, except for their weights; for
 * different ways, use several runs. Records hold it as encoded by reading_put (wire/payload.h).
 */
#ifndef BPE_INPUT_READING_H
#define BPE_INPUT_READING_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/ratio.h"
#include "base/sys/str.h"
#include "input/input_form.h"
#include "unicode/utf8.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of --on-error; ends with NULL. */
extern const char *const on_error_names[];

/* In lines of counts (bpe-count --counts): where the count is. */
enum counts_order {
    COUNTS_NONE, /* the source is text */
    COUNTS_FIRST,
    COUNTS_LAST,
};
extern const char *const counts_order_names[]; /* from COUNTS_FIRST on; ends with NULL */

/* Zeroed: plain text, which must be valid UTF-8. */
struct reading {
    enum invalid_policy invalid;
    enum form form;
    struct str field;         /* FORM_JSONL: "a.b" is b in the object a; borrowed */
    bool skip_bad_lines;      /* --on-error=skip */
    struct str id;            /* --id, for FORM_JSONL: the field with the document's id; empty: none; borrowed */
    enum counts_order counts; /* not COUNTS_NONE: lines of counts rather than text, so the other fields are zeroed */
    bool raw;                 /* in these lines, a backslash stands for itself */
    struct ratio weight; /* by which bpe-count multiplies the source's counts. Only in records: not in words and JSON */
};

/* -1 with EX_DATAERR if the source is not text. */
int reading_check_text(const struct reading *r, struct err *e);

/* Writes to an empty buffer, for messages, the options that differ from a zeroed reading, like "jsonl=text id=url
 * invalid=replace"; or "plain text". */
int reading_put_words(struct buf *out, const struct reading *r, struct err *e);

/* Write and read it as a JSON object: form, field, id, invalid, on_error; members other than form are omitted if they
 * are as for plain text. The reading that is read borrows from *field and *id, which are emptied first. -1: not such an
 * object, or out of memory. */
void reading_write_json(struct json_writer *w, const struct reading *r);
int reading_read_json(struct reading *r, struct json_reader *in, struct buf *field, struct buf *id);

/* Formats the warning about n > 0 lines that were left out, as text of at most `size` bytes, and returns it. first: the
 * place of the first one ("name: line 7"). none: all lines were left out, so --jsonl may name the wrong field. */
const char *reading_skipped_text(uint64_t n, struct str first, bool none, char *text, size_t size);

#endif
