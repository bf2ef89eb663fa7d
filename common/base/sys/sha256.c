/* sha256.c - see sha256.h. */
#include "base/sys/sha256.h"

#include <sha2.h>
#include <sys/types.h>

_Static_assert(sizeof(SHA2_CTX) <= sizeof(struct sha256), "libmd's state fits in ours");
_Static_assert(SHA256_HEX == SHA256_DIGEST_STRING_LENGTH, "libmd writes no more than we have room for");

void sha256_hex(char hex[SHA256_HEX], const void *p, size_t n)
{
    SHA256Data(n ? p : (const void *)"", n, hex);
}

void sha256_begin(struct sha256 *s)
{
    SHA256Init((SHA2_CTX *)s);
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
    if (n)
        SHA256Update((SHA2_CTX *)s, p, n);
}

void sha256_end(struct sha256 *s, char hex[SHA256_HEX])
{
    SHA256End((SHA2_CTX *)s, hex);
}
