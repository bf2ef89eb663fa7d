/* base64.h - base64: RFC 4648 section 4, with padding and without line breaks. */
#ifndef BPE_BASE_SYS_BASE64_H
#define BPE_BASE_SYS_BASE64_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>

/* Appends n bytes in base64. -1: out of memory. */
int base64_put(struct buf *out, const unsigned char *p, size_t n, struct err *e);

/* Decodes n characters to `to` (3 bytes for 4 characters). Returns the length, or SIZE_MAX if they are not base64, have
 * wrong padding, or set bits that must be 0. */
size_t base64_get(unsigned char *to, const unsigned char *p, size_t n);

#endif
