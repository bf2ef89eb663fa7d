/* json_read.h - a pull parser for JSON (RFC 8259), from a file or from memory. Only white space may follow the value.
 * Duplicate keys are left to the caller. NaN and Infinity, NUL bytes and other control characters in strings are
 * errors. The rest depends on the kind of reader:
 *
 *   - strict, like Rust's serde_json: valid UTF-8, no lone surrogates, at most JSON_READ_DEPTH levels of arrays and
 *     objects;
 *   - lenient, like Python's json module: invalid UTF-8 in strings is kept unchanged, a lone surrogate (\ud800 without
 *     its other half, which UTF-8 cannot express) becomes one byte 0xFF, and JSON_READ_LENIENT_DEPTH levels are
 *     allowed.
 *
 *     json_read_object(&r);                                  {
 *     while ((more = json_read_key(&r, &key)) > 0)             "key":
 *         json_read_string(&r, &value);                               "value"
 *                                                        }
 *
 * Functions that return int return -1 on error and fill *e, for a file with its name and the byte offset. All offsets
 * count from 0. Strings are borrowed until the next call; JSON_READ_PAD bytes past them may be read.
 *
 * A lenient reader needs little memory for values that are skipped and for strings that are only located
 * (json_read_place), however long they are.
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
enum { JSON_WORD_MAX = 32 }; /* words of json_read_choice have fewer bytes */
#define JSON_READ_PAD 64     /* readable bytes (any content) after the input, and after strings */

/* Reads the next bytes, at most n. 0: the end; -1: error. */
typedef ptrdiff_t json_read_more(void *ctx, unsigned char *p, size_t n, struct err *e);

struct json_reader {
    json_read_more *more; /* reads an input that is neither a file nor memory; else NULL */
    void *ctx;            /* for `more`; borrowed */
    int fd;               /* borrowed; -1: not a file */
    const char *name;     /* of the file, borrowed; or NULL */
    struct err *e;        /* borrowed */
    struct buf buffer;    /* owned: the part of a file in the window, and room for JSON_READ_PAD bytes after it */
    struct buf text;      /* owned: a string with its escapes decoded */
    struct str window;    /* borrowed from the buffer, or from the caller's memory: bytes base .. base + window.len */
    uint64_t base;
    size_t at;   /* offset in the window of the next byte to read */
    size_t keep; /* offset in the window of the first byte that must be kept; SIZE_MAX: none */
    bool ended;  /* the window extends to the end of the input */
    bool fresh;  /* nothing has been read yet in the innermost array or object */
    bool lenient;
    unsigned depth;
};

/* A strict reader of the bytes in head (*taken*), followed by the rest of fd. -1: out of memory (head is freed). */
int json_read_init(struct json_reader *r, int fd, const char *name, struct buf *head, struct err *e);

/* Starts reading p[0 .. n), which is borrowed; JSON_READ_PAD bytes after it must be readable. r is zeroed, or has read
 * other memory before, and reuses its buffers. Error messages give only the reason; e->offset has the position. */
void json_read_memory(struct json_reader *r, const unsigned char *p, size_t n, bool lenient, struct err *e);

/* Starts reading from `more`, leniently. r is zeroed, or has read something else before, and reuses its buffers. Error
 * messages give only the reason; e->offset has the position. -1: out of memory. */
int json_read_stream(struct json_reader *r, json_read_more *more, void *ctx, struct err *e);

void json_read_free(struct json_reader *r);

/* The kind of the next value: one of { [ " 0 (a number) t f n. */
int json_read_peek(struct json_reader *r);

/* Enters an object or array, which must come next. */
int json_read_object(struct json_reader *r);
int json_read_array(struct json_reader *r);

/* 1: read the next key, whose value comes next; 0: the object has ended. A raw key has not been checked for UTF-8. */
int json_read_key(struct json_reader *r, struct str *key);
int json_read_raw_key(struct json_reader *r, struct str *key);

/* The index of a key in names (which ends with NULL), or the index of that NULL if the key is not in names; -1: the key
 * is a duplicate. *seen has a bit for each key read so far. */
int json_read_which(struct json_reader *r, struct str key, const char *const *names, uint32_t *seen);

/* Reads an object. `consume` is called with the index of each key that is in names, and reads the value (0; -1: an
 * error). Other members are skipped. Duplicates of keys in names are errors. *seen must be 0 before; bit i is set if
 * names[i] was present. */
int json_read_members(struct json_reader *r, const char *const *names, uint32_t *seen,
                      int (*consume)(void *ctx, int key), void *ctx);

/* 1: there is another item, which comes next; 0: the array has ended. */
int json_read_item(struct json_reader *r);

/* Read a string, which must come next. A raw string has not been checked for UTF-8. */
int json_read_string(struct json_reader *r, struct str *s);
int json_read_raw_string(struct json_reader *r, struct str *s);

/* A string as written: its escapes are checked, but not decoded (see json_unescape in json_escape.h). When reading from
 * memory, it is borrowed from there. */
int json_read_written(struct json_reader *r, struct str *s);

/* Reads a string that json_write_any wrote, decodes it (json_unescape_any) and appends it. */
int json_read_any(struct json_reader *r, struct buf *to);

/* Reads a string that must be one of these words (NULL after the last), and sets *choice to its index. */
int json_read_choice(struct json_reader *r, const char *const *words, unsigned *choice);

/* Where a string is: bytes [begin, end) of the input, as written, without its quotes. */
struct json_place {
    uint64_t begin, end;
    bool escapes; /* it contains escapes */
    bool lone;    /* and one of them is a lone surrogate */
};

/* Locates a string and checks its escapes. Only for a lenient reader. */
int json_read_place(struct json_reader *r, struct json_place *s);

/* As json_read_key, but locates the key, and sets *start to its first `max` bytes, as written. Only for a lenient
 * reader. */
int json_read_key_place(struct json_reader *r, size_t max, struct json_place *s, struct str *start);

int json_read_uint(struct json_reader *r, uint64_t *v); /* no fraction, no exponent, at most 64 bits */
int json_read_bool(struct json_reader *r, bool *v);
int json_read_null(struct json_reader *r); /* 1: it was null; 0: another value comes next */

/* Fast versions for the most frequent case: no escapes, and everything in the window. 1: done; 0: nothing is consumed.
 * The first reads an item that is an array of two raw strings; the second, a raw key and a json_read_uint value. */
int json_read_try_pair(struct json_reader *r, struct str pair[2]);
int json_read_try_member(struct json_reader *r, struct str *key, uint64_t *v);

int json_read_utf8(struct json_reader *r, struct str s); /* checks a raw string; before the next call */

int json_read_skip(struct json_reader *r); /* any value */
int json_read_end(struct json_reader *r);  /* nothing but white space may follow */

/* Sets an error at the current position. Always -1. */
int json_read_fail(struct json_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
