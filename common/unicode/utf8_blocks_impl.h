/* utf8_blocks_impl.h - the loop over blocks that finds invalid UTF-8 with vectors, common to all instruction sets.
 * utf8_sse2.c and utf8_avx2.c include it after defining
 *
 *     vec          a vector of bytes
 *     load         reads a vector from memory
 *     merge        the OR of two vectors
 *     wrong        nonzero in the invalid bytes of the vector at p, given the three bytes before p
 *     any_high     whether any byte of a vector is not ASCII
 *     any          whether any byte of a vector is nonzero
 *
 * and utf8_blocks as the name of the function. A block is skipped if it and the three bytes before it are ASCII. The
 * bytes before a vector are loaded again rather than kept from the previous vector, so that the result depends only on
 * the position of the block, and the last block may overlap the one before it.
 */
#include "unicode/utf8_internal.h"

size_t utf8_blocks(const unsigned char *p, size_t at, size_t n)
{
    for (size_t last = n - UTF8_AHEAD;; at = last - at < UTF8_AHEAD ? last : at + UTF8_AHEAD) {
        const unsigned char *b = p + at;
        vec all = load(b - UTF8_BEFORE);
        for (size_t i = 0; i < UTF8_AHEAD; i += 2 * sizeof(vec))
            all = merge(all, merge(load(b + i), load(b + i + sizeof(vec))));
        if (any_high(all)) {
            all = merge(wrong(b), wrong(b + sizeof(vec)));
            for (size_t i = 2 * sizeof(vec); i < UTF8_AHEAD; i += 2 * sizeof(vec))
                all = merge(all, merge(wrong(b + i), wrong(b + i + sizeof(vec))));
            if (any(all))
                return utf8_whole(p, at);
        }
        if (at == last)
            return utf8_whole(p, n);
    }
}
