/* json_fields.h - the fields of a JSON object that have strings, for messages: what --jsonl=FIELD may name. */
#ifndef BPE_INPUT_JSON_FIELDS_H
#define BPE_INPUT_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct json_fields {
    char names[200];  /* as --jsonl takes them: "id, text, meta.url"; those for which there is room */
    char longest[80]; /* the one with the longest string; empty: there is none */
};

/* Finds the fields of a line, or of the start of one (!whole), after a byte order mark and white space; fields of an
 * object in it, too, but not of objects in that. JSON_READ_PAD bytes after the line must be readable. Returns whether
 * it is an object that has members. */
bool json_fields_find(struct json_fields *f, const unsigned char *line, size_t n, bool whole);

/* " (fields with strings: id, text; the longest: --jsonl=text)"; "" if there are none. Returns `to`. */
enum { JSON_FIELDS_TEXT = 400 };
const char *json_fields_text(const struct json_fields *f, char to[JSON_FIELDS_TEXT]);

#endif
