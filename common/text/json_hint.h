/* json_hint.h - whether text that is read as it is looks like JSON, or like a WARC file: a hint, for a remark. */
#ifndef BPE_TEXT_JSON_HINT_H
#define BPE_TEXT_JSON_HINT_H

#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { JSON_HINT_LOOK = 64 << 10 }; /* bytes of a text's start that are looked at, if json_hint_wants */

struct json_hint {                                   /* zeroed: nothing was found so far */
    bool found;                                      /* a text begins like one of these: */
    enum { HINT_LINES, HINT_ARRAY, HINT_WARC } what; /* lines of JSON objects; an array of objects; a WARC record */
    char fields[200]; /* names of fields with strings, as --jsonl takes them: "id, text, meta.url" */
    char longest[80]; /* the one with the longest string; empty: there is none */
    const char *name; /* of the text; borrowed */
};

/* Whether more than TEXT_KIND_LOOK bytes of a text that begins with p[0 .. n) should be looked at: nothing was found so
 * far, and it may be one of these. */
bool json_hint_wants(const struct json_hint *h, const unsigned char *p, size_t n);

/* Looks at the start of a text, of which JSON_HINT_LOOK bytes are enough. name: borrowed. -1: out of memory. */
int json_hint_look(struct json_hint *h, const unsigned char *p, size_t n, const char *name, struct err *e);

/* The remark about what was found, after the text's name; names: with the names of fields. Returns `to`. */
enum { JSON_HINT_TEXT = 1900 };
const char *json_hint_text(const struct json_hint *h, bool names, char to[JSON_HINT_TEXT]);

#endif
