/* buf.h - a growing array of bytes, and growing arrays of anything. */
#ifndef BPE_BASE_SYS_BUF_H
#define BPE_BASE_SYS_BUF_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes p[0 .. len), room for cap. A zeroed struct is an empty buffer. The memory is owned by the struct. */
struct buf {
    unsigned char *p;
    size_t len, cap;
};

/* The contents, borrowed until they change. */
static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->p, b->len};
}

/* Makes room for `more` bytes past len; the capacity at least doubles. -1: out of memory, b is unchanged. */
int buf_reserve(struct buf *b, size_t more, struct err *e);

/* Appends n bytes, copied. */
int buf_put(struct buf *b, const void *p, size_t n, struct err *e);
int buf_put_byte(struct buf *b, unsigned char c, struct err *e);
int buf_put_str(struct buf *b, const char *s, struct err *e);

/* Appends printf output of at most 500 bytes: only numbers and short names. */
int buf_printf(struct buf *b, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Replaces the first occurrence of `is`, if any, with `by`. */
int buf_replace(struct buf *b, const char *is, const char *by, struct err *e);

void buf_free(struct buf *b); /* frees the memory; b is empty again */

/* Grows *p, an array of *cap items of `size` bytes, to at least `want` items, by doubling. `what` names the array in
 * the error. -1: out of memory, the array is unchanged. p is the address of any object pointer. */
int array_grow(void *p, size_t *cap, size_t want, size_t size, const char *what, struct err *e);

#endif
