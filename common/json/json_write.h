/* json_write.h - writes JSON byte for byte like Rust's serde_json, which Hugging Face tokenizers uses.
 *
 * Pretty: indents of two spaces, ": " after a key, LF, empty arrays and objects as [] and {}. Compact: no white space
 * at all. Neither ends with a newline. In strings, only `"`, `\` and controls below U+0020 are escaped (\b \t \n \f \r,
 * else \u00xx in lower case); everything else, including U+007F, is written unchanged.
 *
 *     struct json_writer w = json_write_over(out, true, e);
 *     json_write_begin(&w, '{');
 *     json_write_key(&w, "version");
 *     json_write_str(&w, "1.0");
 *     json_write_end(&w, '}');
 *     return json_write_done(&w);
 */
#ifndef BPE_JSON_JSON_WRITE_H
#define BPE_JSON_JSON_WRITE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer {
    struct buf *out; /* borrowed */
    struct err *e;   /* borrowed */
    unsigned depth;
    bool pretty;
    bool empty;  /* the innermost array or object is still empty */
    bool keyed;  /* a key was written; its value comes next */
    bool failed; /* out of memory, or set by the caller: further calls do nothing, and json_write_done reports it */
};

/* A writer that appends to *out. */
struct json_writer json_write_over(struct buf *out, bool pretty, struct err *e);

void json_write_begin(struct json_writer *w, char bracket); /* '{' or '[' */
void json_write_end(struct json_writer *w, char bracket);   /* '}' or ']' */

void json_write_key(struct json_writer *w, const char *key);
void json_write_key_bytes(struct json_writer *w, const unsigned char *p, size_t len);

/* Values, in an array or after a key. Bytes and strings are valid UTF-8. */
void json_write_bytes(struct json_writer *w, const unsigned char *p, size_t len);
void json_write_bytes2(struct json_writer *w, const unsigned char *p, size_t len, const unsigned char *q,
                       size_t q_len); /* "p q" */
void json_write_str(struct json_writer *w, const char *s);
/* A string that may be invalid UTF-8, such as a file name: an invalid byte becomes \udcXX, as in Python's
 * surrogateescape; json_unescape_any (json_escape.h) restores it. */
void json_write_any(struct json_writer *w, const unsigned char *p, size_t len);
void json_write_uint(struct json_writer *w, uint64_t v);
void json_write_real(struct json_writer *w, double v); /* finite; the shortest form that reads back as the same value */
/* The same, but whole numbers below 10^15 without an exponent. */
void json_write_number(struct json_writer *w, double v);
void json_write_bool(struct json_writer *w, bool v);
void json_write_null(struct json_writer *w);
void json_write_verbatim(struct json_writer *w, const unsigned char *p, size_t len); /* JSON, written unchanged */

/* 0; -1: out of memory. */
int json_write_done(const struct json_writer *w);

#endif
