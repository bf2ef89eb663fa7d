/* json_fields.h - the string fields of a JSON object, for messages that suggest --jsonl=FIELD. */
#ifndef BPE_INPUT_JSON_FIELDS_H
#define BPE_INPUT_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct json_fields {
    char names[200];  /* as --jsonl takes them: "id, text, meta.url"; as many as fit */
    char longest[80]; /* the one with the longest string; empty if there is none */
};

/* Finds the string fields in a line, or in the start of one (!whole), including those one level down in nested objects.
 * Skips a byte order mark and white space at its beginning. JSON_READ_PAD bytes after the line must be readable.
 * Returns whether it is an object with members. */
bool json_fields_find(struct json_fields *f, const unsigned char *line, size_t n, bool whole);

/* Writes " (fields with strings: id, text; the longest: --jsonl=text)", or "" if there are none. Returns `to`. */
enum { JSON_FIELDS_TEXT = 400 };
const char *json_fields_text(const struct json_fields *f, char to[JSON_FIELDS_TEXT]);

#endif
