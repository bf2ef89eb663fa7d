/* base64.h - bytes as text: RFC 4648 section 4, with padding and without line breaks. */
#ifndef BPE_SYS_BASE64_H
#define BPE_SYS_BASE64_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stddef.h>

/* Appends n bytes in base64. -1: out of memory. */
int base64_put(struct buf *out, const unsigned char *p, size_t n, struct err *e);

/* Writes what n characters mean to `to` (3 bytes for 4 characters). The length; SIZE_MAX: not base64, with its padding,
 * or with bits set that mean nothing. */
size_t base64_get(unsigned char *to, const unsigned char *p, size_t n);

#endif
