/* jsonw.h - writes JSON byte for byte as Rust's serde_json does, and so as Hugging Face tokenizers does.
 *
 * Pretty: two spaces an indent, ": " after a key, LF, an empty array or object as [] or {}. Compact: no white space at
 * all. Neither ends with a newline. In strings only `"`, `\` and the controls below U+0020 are escaped (\b \t \n \f \r,
 * else \u00xx in lower case); everything else, U+007F too, is written as it is.
 *
 *     struct jsonw w = jsonw_over(out, true, e);
 *     jsonw_begin(&w, '{');
 *     jsonw_key(&w, "version");
 *     jsonw_str(&w, "1.0");
 *     jsonw_end(&w, '}');
 *     return jsonw_done(&w);
 */
#ifndef BPE_FORMATS_JSONW_H
#define BPE_FORMATS_JSONW_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsonw {
    struct buf *out; /* borrowed */
    struct err *e;   /* borrowed */
    unsigned depth;
    bool pretty;
    bool empty;  /* nothing is yet in the innermost array or object */
    bool keyed;  /* a key was written, its value comes next */
    bool failed; /* out of memory: all that follows does nothing, jsonw_done tells */
};

/* A writer that appends to *out. */
struct jsonw jsonw_over(struct buf *out, bool pretty, struct err *e);

void jsonw_begin(struct jsonw *w, char bracket); /* '{' or '[' */
void jsonw_end(struct jsonw *w, char bracket);   /* '}' or ']' */

void jsonw_key(struct jsonw *w, const char *key);
void jsonw_key_bytes(struct jsonw *w, const unsigned char *p, size_t len);

/* Values, in an array or after a key. Bytes and strings are valid UTF-8. */
void jsonw_bytes(struct jsonw *w, const unsigned char *p, size_t len);
void jsonw_bytes2(struct jsonw *w, const unsigned char *p, size_t len, const unsigned char *q,
                  size_t q_len); /* "p q" */
void jsonw_str(struct jsonw *w, const char *s);
void jsonw_uint(struct jsonw *w, uint64_t v);
void jsonw_bool(struct jsonw *w, bool v);
void jsonw_null(struct jsonw *w);

/* 0, or -1 when memory was short. */
int jsonw_done(const struct jsonw *w);

#endif
