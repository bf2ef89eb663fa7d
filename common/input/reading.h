/* reading.h - how the bytes of a source are read: its form, and what is done about bad bytes and lines.
 *
 * That belongs to the source alone, and travels with its data: counts of web pages in JSON Lines and of books in plain
 * text can be added up. bpe-chunk reads all sources of a run in the same way; who wants two ways makes two runs. Its
 * bytes in records are those of reading_put (wire/payload.h).
 */
#ifndef BPE_INPUT_READING_H
#define BPE_INPUT_READING_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "input/input_form.h"
#include "unicode/utf8.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdbool.h>

/* What --on-error says; ends with NULL. */
extern const char *const on_error_names[];

/* Zeroed: plain text that must be valid. */
struct reading {
    enum invalid_policy invalid;
    enum form form;
    struct str field;    /* FORM_JSONL: "a.b": b in the object a; borrowed */
    bool skip_bad_lines; /* --on-error=skip */
    struct str id;       /* --id: FORM_JSONL: the field with the document's id; empty: none. Borrowed */
};

/* Writes to an empty buffer what differs from plain text that must be valid, for messages: "jsonl=text id=url
 * invalid=replace"; or "plain text". */
int reading_put_words(struct buf *out, const struct reading *r, struct err *e);

/* As an object in JSON: form, field, id, invalid, on_error; those that are as for plain text are left out, except form.
 * What is read borrows from *field and *id, which are emptied first. -1: not such an object, or out of memory. */
void reading_write_json(struct json_writer *w, const struct reading *r);
int reading_read_json(struct reading *r, struct json_reader *in, struct buf *field, struct buf *id);

#endif
