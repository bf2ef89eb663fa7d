/* sha256.c - see sha256.h. */
#include "sys/sha256.h"

#include <sha2.h>
#include <sys/types.h>

_Static_assert(SHA256_HEX == SHA256_DIGEST_STRING_LENGTH, "libmd writes as much as we have room for");

void sha256_hex(char hex[SHA256_HEX], const void *p, size_t n)
{
    SHA256Data(n ? p : (const void *)"", n, hex);
}
