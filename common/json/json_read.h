/* json_read.h - reads JSON (RFC 8259) from a file or from memory, a piece at a time as the caller asks for it. Nothing
 * but white space may follow the value. Keys may come twice: that is the caller's affair. NaN and Infinity, NUL bytes
 * and other control characters in strings are errors. The rest depends:
 *
 *   - strict, as Rust's serde_json: valid UTF-8, no lone surrogates, at most JSON_READ_DEPTH levels of arrays and
 *     objects;
 *   - lenient, as Python's json module: bytes that are not UTF-8 stay in strings as they are, a lone surrogate (\ud800
 *     without its other half, which UTF-8 cannot express) is one byte 0xFF, and JSON_READ_LENIENT_DEPTH levels pass.
 *
 *     json_read_object(&r);                                  {
 *     while ((more = json_read_key(&r, &key)) > 0)             "key":
 *         json_read_string(&r, &value);                               "value"
 *                                                        }
 *
 * Of functions that return int, -1 is an error: *e is filled, for a file with its name and the offset of the byte. All
 * offsets count from 0. Strings are borrowed until the next call; JSON_READ_PAD bytes past them may be read.
 */
#ifndef BPE_JSON_JSON_READ_H
#define BPE_JSON_JSON_READ_H

#include "sys/buf.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READ_DEPTH 127
#define JSON_READ_LENIENT_DEPTH 2048
#define JSON_READ_PAD 64 /* readable bytes (any content) after what is read, and after strings */

struct json_reader {
    int fd;            /* borrowed; -1: memory is read */
    const char *name;  /* borrowed; of the file, or NULL */
    struct err *e;     /* borrowed */
    struct buf buffer; /* owned: what the window shows of a file, and JSON_READ_PAD bytes of room after it */
    struct buf text;   /* owned: a string without its escapes */
    struct str window; /* borrowed: of the buffer, or the memory that is read; bytes base .. base + window.len */
    uint64_t base;
    size_t at;   /* in the window: what comes next */
    size_t keep; /* in the window: what must not go yet; SIZE_MAX: nothing */
    bool ended;  /* the window reaches to the end */
    bool fresh;  /* nothing was read yet in the innermost array or object */
    bool lenient;
    unsigned depth;
};

/* A strict reader of what is in head, which is taken, and what else fd has. -1: out of memory (head is freed). */
int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e);

/* Begins to read p[0 .. n), which is borrowed; JSON_READ_PAD bytes past it must be readable. r is zeroed, or has read
 * other memory before, and keeps its room. The messages of errors are the reason alone, and e->offset says where. */
void json_read_memory(struct json_reader *r, const unsigned char *p, size_t n, bool lenient, struct err *e);

void json_read_free(struct json_reader *r);

/* What value comes next: one of { [ " 0 (a number) t f n. */
int json_read_peek(struct json_reader *r);

/* Enters an object or array, which must come next. */
int json_read_object(struct json_reader *r);
int json_read_array(struct json_reader *r);

/* 1: the next key, its value comes next; 0: the object has ended. Raw: the same, not yet known to be UTF-8. */
int json_read_key(struct json_reader *r, struct str *key);
int json_read_raw_key(struct json_reader *r, struct str *key);

/* The place of a key in names (that end with NULL), which is where NULL is if it is none of them; -1: it came before,
 * which is noted in *seen. */
int json_read_which(struct json_reader *r, struct str key, const char *const *names, uint32_t *seen);

/* Reads an object: take is called for each key that is in names, with its place there, and reads the value (0; -1: an
 * error); other members are skipped. A key of names that comes twice is an error. Bit i of *seen, which is 0 before,
 * says that names[i] was there. */
int json_read_members(struct json_reader *r, const char *const *names, uint32_t *seen, int (*take)(void *ctx, int key),
                      void *ctx);

/* 1: there is another item, which comes next; 0: the array has ended. */
int json_read_item(struct json_reader *r);

/* Values of a type, which must come next. Raw: a string that is not yet known to be UTF-8. */
int json_read_string(struct json_reader *r, struct str *s);
int json_read_raw_string(struct json_reader *r, struct str *s);

/* A string as it is written, escapes and all (which are checked): json_unescape makes the string of it. When memory is
 * read, it is borrowed from there. */
int json_read_written(struct json_reader *r, struct str *s);

/* Appends to *to, with room for JSON_READ_PAD bytes after it, what a lenient reader makes of a string that
 * json_read_written gave. -1: out of memory. */
int json_unescape(struct buf *to, struct str written, struct err *e);

int json_read_uint(struct json_reader *r, uint64_t *v); /* no fraction, no exponent, at most 64 bits */
int json_read_bool(struct json_reader *r, bool *v);
int json_read_null(struct json_reader *r); /* 1: it was null; 0: something else comes next */

/* The same in one step where all is plain and in the window, which it mostly is: 1, or 0 and nothing is taken.
 * Pair: json_read_item, and in it an array of two raw strings. Member: json_read_raw_key and json_read_uint. */
int json_read_try_pair(struct json_reader *r, struct str pair[2]);
int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v);

int json_read_utf8(struct json_reader *r, struct str s); /* checks a raw string, before the next call */

int json_read_skip(struct json_reader *r); /* any value */
int json_read_end(struct json_reader *r);  /* nothing but white space may follow */

/* An error about what was read last. Always -1. */
int json_read_fail(struct json_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
