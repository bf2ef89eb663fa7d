/* shard_ids.c - see shard_ids.h.
 *
 * The loops over blocks have a fixed number of iterations and no branches, so that compilers vectorize them at -O2.
 */
#include "shard/shard_ids.h"

#include "base/sys/bytes.h"

#include <string.h>

enum { BLOCK = 64, LINE = 64 /* bytes of a cache line */, AHEAD = 4096 };

/* Whether integers in memory have the byte order of ids, so that whole blocks can be loaded. */
enum { LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static unsigned any_beyond2(const unsigned char *p, uint16_t max)
{
    uint16_t v[BLOCK], bad = 0;
    memcpy(v, p, sizeof v);
    for (int i = 0; i < BLOCK; i++)
        bad |= (uint16_t) - (v[i] > max);
    return bad;
}

static unsigned any_beyond4(const unsigned char *p, uint32_t max)
{
    uint32_t v[BLOCK], bad = 0;
    memcpy(v, p, sizeof v);
    for (int i = 0; i < BLOCK; i++)
        bad |= (uint32_t) - (v[i] > max);
    return bad;
}

/* The number of leading ids in whole blocks that are all below the limit. The ids are read from memory here for the
 * first time since they arrived, and the hardware prefetcher does not cross pages: so prefetch them. */
static size_t good_blocks(const unsigned char *p, size_t n, unsigned width, uint64_t limit)
{
    size_t i = 0;
    for (; n - i >= BLOCK; i += BLOCK) {
        const unsigned char *block = p + i * width;
        for (unsigned line = 0; line < BLOCK * width; line += LINE)
            __builtin_prefetch(block + AHEAD + line);
        if (width == 2 ? any_beyond2(block, (uint16_t)(limit - 1)) : any_beyond4(block, (uint32_t)(limit - 1)))
            break;
    }
    return i;
}

/* Converts whole blocks; returns the number of ids. */
static size_t convert_blocks(unsigned char *to, unsigned width, const unsigned char *p, size_t n)
{
    uint16_t narrow[BLOCK];
    uint32_t wide[BLOCK];
    size_t i = 0;
    for (; n - i >= BLOCK; i += BLOCK) {
        if (width == 4) {
            memcpy(narrow, p + 2 * i, sizeof narrow);
            for (int k = 0; k < BLOCK; k++)
                wide[k] = narrow[k];
            memcpy(to + 4 * i, wide, sizeof wide);
        } else {
            memcpy(wide, p + 4 * i, sizeof wide);
            for (int k = 0; k < BLOCK; k++)
                narrow[k] = (uint16_t)wide[k];
            memcpy(to + 2 * i, narrow, sizeof narrow);
        }
    }
    return i;
}

size_t shard_ids_beyond(const unsigned char *p, size_t n, unsigned width, uint64_t limit)
{
    if (limit >> 8 * width)
        return n;
    size_t i = LITTLE && limit ? good_blocks(p, n, width, limit) : 0;
    while (i < n && load_le(p + i * width, width) < limit)
        i++;
    return i;
}

void shard_ids_convert(unsigned char *to, unsigned width, const unsigned char *p, unsigned from, size_t n)
{
    if (width == from) {
        memcpy(to, p, n * width);
        return;
    }
    for (size_t i = LITTLE ? convert_blocks(to, width, p, n) : 0; i < n; i++)
        store_le(to + i * width, width, load_le(p + i * from, from));
}
