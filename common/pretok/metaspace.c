/* metaspace.c - see metaspace.h. */
#include "pretok/metaspace.h"

#include <string.h>

const char *const prefix_place_names[N_PREFIX_PLACES] = {"if-missing", "always", "first"};

static bool at(const unsigned char *p)
{
    return p[0] == 0xE2 && p[1] == 0x96 && p[2] == 0x81;
}

/* Blocks of a constant size, so that the compiler uses vectors. */
bool metaspace_in(const unsigned char *p, size_t n)
{
    enum { BLOCK = 256 };
    size_t i = 0;
    for (; i + BLOCK + 2 <= n; i += BLOCK) {
        unsigned char found = 0;
        for (size_t k = 0; k < BLOCK; k++)
            found |= (unsigned char)((p[i + k] == 0xE2) & (p[i + k + 1] == 0x96) & (p[i + k + 2] == 0x81));
        if (found)
            return true;
    }
    return n > i && memmem(p + i, n - i, METASPACE, METASPACE_LEN);
}

size_t metaspace_replace(unsigned char *to, const unsigned char *p, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; len++) {
        const bool space = n - i >= METASPACE_LEN && at(p + i);
        to[len] = space ? ' ' : p[i];
        i += space ? METASPACE_LEN : 1;
    }
    return len;
}

size_t metaspace_origin(const unsigned char *p, size_t n)
{
    size_t from = 0;
    while (n--)
        from += p[from] == 0xE2 && at(p + from) ? METASPACE_LEN : 1;
    return from;
}
