/* sha256.h - SHA-256. Only sha256.c calls libmd. */
#ifndef BPE_BASE_SYS_SHA256_H
#define BPE_BASE_SYS_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX 65 /* 64 lower-case hexadecimal digits and a terminating NUL */

/* The digest of n bytes (p may be NULL when n is 0), as sha256sum(1) shows it. */
void sha256_hex(char hex[SHA256_HEX], const void *p, size_t n);

/* The digest of any number of parts. */
struct sha256 {
    uint64_t state[32]; /* libmd's */
};
void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, char hex[SHA256_HEX]); /* call sha256_begin before using s again */

#endif
