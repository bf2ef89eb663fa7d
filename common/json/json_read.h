/* json_read.h - reads JSON (RFC 8259) from a file or from memory, piece by piece as the caller asks for it. Nothing but
 * white space may follow the value. Duplicate keys are left to the caller. NaN and Infinity, NUL bytes and other
 * control characters in strings are errors. The rest depends on the kind of reader:
 *
 *   - strict, like Rust's serde_json: valid UTF-8, no lone surrogates, at most JSON_READ_DEPTH levels of arrays and
 *     objects;
 *   - lenient, like Python's json module: bytes that are not UTF-8 stay in strings as they are, a lone surrogate
 * (\ud800
 *     without its other half, which UTF-8 cannot express) becomes one byte 0xFF, and JSON_READ_LENIENT_DEPTH levels are
 *     allowed.
 *
 *     json_read_object(&r);                                  {
 *     while ((more = json_read_key(&r, &key)) > 0)             "key":
 *         json_read_string(&r, &value);                               "value"
 *                                                        }
 *
 * Of functions that return int, -1 is an error: *e is filled, for a file with its name and the offset of the byte. All
 * offsets count from 0. Strings are borrowed until the next call; JSON_READ_PAD bytes past them may be read.
 *
 * A lenient reader needs little memory for values that are skipped and for strings of which only the place is asked
 * for, however long they are.
 */
#ifndef BPE_JSON_JSON_READ_H
#define BPE_JSON_JSON_READ_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READ_DEPTH 127
#define JSON_READ_LENIENT_DEPTH 2048
enum { JSON_WORD_MAX = 32 }; /* a word has fewer bytes: see json_read_choice */
#define JSON_READ_PAD 64     /* readable bytes (any content) after what is read, and after strings */

/* Reads the next bytes, at most n. 0: there are no more; -1: error. */
typedef ptrdiff_t json_read_more(void *ctx, unsigned char *p, size_t n, struct err *e);

struct json_reader {
    json_read_more *more; /* what is read instead of a file, with its ctx, which is borrowed; or NULL */
    void *ctx;
    int fd;            /* borrowed; -1: memory is read */
    const char *name;  /* borrowed; the file's, or NULL */
    struct err *e;     /* borrowed */
    struct buf buffer; /* owned: the part of a file in the window, and JSON_READ_PAD bytes of room after it */
    struct buf text;   /* owned: a string without its escapes */
    struct str window; /* borrowed from the buffer, or from the caller's memory: bytes base .. base + window.len */
    uint64_t base;
    size_t at;   /* in the window: the next byte to read */
    size_t keep; /* in the window: bytes from here on must be kept; SIZE_MAX: none */
    bool ended;  /* the window reaches to the end of the input */
    bool fresh;  /* nothing has been read yet in the innermost array or object */
    bool lenient;
    unsigned depth;
};

/* A strict reader of the bytes in head (*taken*) and then of the rest of fd. -1: out of memory (head is freed). */
int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e);

/* Starts reading p[0 .. n), which is borrowed; JSON_READ_PAD bytes after it must be readable. r is zeroed, or has read
 * other memory before, and reuses its buffers. Error messages are only the reason; e->offset says where. */
void json_read_memory(struct json_reader *r, const unsigned char *p, size_t n, bool lenient, struct err *e);

/* Starts reading what `more` gives, leniently. r is zeroed, or has read something else before, and reuses its buffers.
 * Error messages are only the reason; e->offset says where. -1: out of memory. */
int json_read_stream(struct json_reader *r, json_read_more *more, void *ctx, struct err *e);

void json_read_free(struct json_reader *r);

/* The kind of the next value: one of { [ " 0 (a number) t f n. */
int json_read_peek(struct json_reader *r);

/* Enters an object or array, which must come next. */
int json_read_object(struct json_reader *r);
int json_read_array(struct json_reader *r);

/* 1: the next key; its value comes next; 0: the object has ended. Raw: the key is not yet known to be valid UTF-8. */
int json_read_key(struct json_reader *r, struct str *key);
int json_read_raw_key(struct json_reader *r, struct str *key);

/* The index of a key in names (which ends with NULL), or the index of that NULL if it is not in names; -1: the key came
 * before; *seen has a bit for each key that came. */
int json_read_which(struct json_reader *r, struct str key, const char *const *names, uint32_t *seen);

/* Reads an object: take is called for each key that is in names, with its index, and reads the value (0; -1: an error);
 * other members are skipped. A key of names that comes twice is an error. Bit i of *seen, which must be 0 before, says
 * that names[i] was there. */
int json_read_members(struct json_reader *r, const char *const *names, uint32_t *seen,
                      int (*consume)(void *ctx, int key), void *ctx);

/* 1: there is another item, which comes next; 0: the array has ended. */
int json_read_item(struct json_reader *r);

/* Read a value of that type, which must come next. Raw: a string that is not yet known to be valid UTF-8. */
int json_read_string(struct json_reader *r, struct str *s);
int json_read_raw_string(struct json_reader *r, struct str *s);

/* A string as written, with its escapes, which are checked, not decoded: json_unescape (json_escape.h) does that. When
 * reading from memory, it is borrowed from there. */
int json_read_written(struct json_reader *r, struct str *s);

/* Appends a string that json_write_any wrote (json_unescape_any). */
int json_read_any(struct json_reader *r, struct buf *to);

/* A short string that is one of these words (ends with NULL): its number. *choice is set if it is one. */
int json_read_choice(struct json_reader *r, const char *const *words, unsigned *choice);

/* Where a string is: bytes [begin, end) of the input, as written, without its quotes. */
struct json_place {
    uint64_t begin, end;
    bool escapes; /* it holds some */
    bool lone;    /* and a lone surrogate among them */
};

/* The place of a string; its escapes are checked. For a lenient reader. */
int json_read_place(struct json_reader *r, struct json_place *s);

/* As json_read_key: the place of the key; and its first `max` bytes, as written. For a lenient reader. */
int json_read_key_place(struct json_reader *r, size_t max, struct json_place *s, struct str *start);

int json_read_uint(struct json_reader *r, uint64_t *v); /* no fraction, no exponent, at most 64 bits */
int json_read_bool(struct json_reader *r, bool *v);
int json_read_null(struct json_reader *r); /* 1: it was null; 0: something else comes next */

/* Fast versions for the most frequent case: no escapes, all of it in the window. 1; or 0, and nothing is consumed.
 * Pair: json_read_item, and in it an array of two raw strings. Member: json_read_raw_key and json_read_uint. */
int json_read_try_pair(struct json_reader *r, struct str pair[2]);
int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v);

int json_read_utf8(struct json_reader *r, struct str s); /* checks a raw string; before the next call */

int json_read_skip(struct json_reader *r); /* any value */
int json_read_end(struct json_reader *r);  /* nothing but white space may follow */

/* An error about what was read last. Always -1. */
int json_read_fail(struct json_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
