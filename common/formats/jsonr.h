/* jsonr.h - reads JSON (RFC 8259) from a file, a piece at a time as the caller asks for it, as strictly as Rust's
 * serde_json: valid UTF-8, no byte order mark, no lone surrogates, no control characters in strings, no more than
 * JSONR_DEPTH levels, nothing but white space after the value. Keys may come twice: that is the caller's affair.
 *
 *     jsonr_object(&r);                                  {
 *     while ((more = jsonr_key(&r, &key)) > 0)             "key":
 *         jsonr_string(&r, &value);                               "value"
 *                                                        }
 *
 * Of functions that return int, -1 is an error: *e of jsonr_init is filled, with the name of the file and the offset of
 * the byte. All offsets count from 0.
 */
#ifndef BPE_FORMATS_JSONR_H
#define BPE_FORMATS_JSONR_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONR_DEPTH 127
#define JSONR_PAD 64 /* bytes past a string's last that are readable */

struct jsonr_str {
    const unsigned char *p; /* borrowed, until the next call on the same reader */
    size_t len;
};

struct jsonr {
    int fd;            /* borrowed */
    const char *name;  /* borrowed */
    struct err *e;     /* borrowed */
    struct buf window; /* owned: bytes base .. base + window.len of the file, then JSONR_PAD zeros */
    struct buf text;   /* owned: a string without its escapes */
    uint64_t base;
    size_t at;   /* in the window: what comes next */
    size_t keep; /* in the window: what must not go yet; SIZE_MAX: nothing */
    bool ended;  /* the window reaches to the end of the file */
    bool fresh;  /* nothing was read yet in the innermost array or object */
    unsigned depth;
};

/* A reader of what is in head, which is taken, and what else fd has. -1: out of memory (head is freed). */
int jsonr_init(struct jsonr *r, int fd, const char *name, struct buf *head, struct err *e);
void jsonr_free(struct jsonr *r);

/* What value comes next: one of { [ " 0 (a number) t f n. */
int jsonr_peek(struct jsonr *r);

/* Enters an object or array, which must come next. */
int jsonr_object(struct jsonr *r);
int jsonr_array(struct jsonr *r);

/* 1: the next key, its value comes next; 0: the object has ended. Raw: the same, not yet known to be UTF-8. */
int jsonr_key(struct jsonr *r, struct jsonr_str *key);
int jsonr_raw_key(struct jsonr *r, struct jsonr_str *key);

/* The place of a key in names (that end with NULL), which is where NULL is if it is none of them; -1: it came before,
 * which is noted in *seen. */
int jsonr_which(struct jsonr *r, struct jsonr_str key, const char *const *names, uint32_t *seen);

/* 1: there is another item, which comes next; 0: the array has ended. */
int jsonr_item(struct jsonr *r);

/* Values of a type, which must come next. Raw: a string that is not yet known to be UTF-8. */
int jsonr_string(struct jsonr *r, struct jsonr_str *s);
int jsonr_raw_string(struct jsonr *r, struct jsonr_str *s);
int jsonr_uint(struct jsonr *r, uint64_t *v); /* no fraction, no exponent, at most 64 bits */
int jsonr_bool(struct jsonr *r, bool *v);
int jsonr_null(struct jsonr *r); /* 1: it was null; 0: something else comes next */

/* The same in one step where all is plain and in the window, which it mostly is: 1, or 0 and nothing is taken.
 * Pair: jsonr_item, and in it an array of two raw strings. Member: jsonr_raw_key and jsonr_uint. */
int jsonr_try_pair(struct jsonr *r, struct jsonr_str pair[2]);
int jsonr_try_member(struct jsonr *r, struct jsonr_str *key, uint64_t *v);

int jsonr_utf8(struct jsonr *r, struct jsonr_str s); /* checks a raw string, before the next call */

int jsonr_skip(struct jsonr *r); /* any value */
int jsonr_end(struct jsonr *r);  /* nothing but white space may follow */

/* An error about what was read last. Always -1. */
int jsonr_fail(struct jsonr *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
