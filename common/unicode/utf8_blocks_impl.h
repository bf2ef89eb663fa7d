/* utf8_blocks_impl.h - the loop over blocks that finds invalid UTF-8 with vectors: the part that is the same for all
 * instruction sets. utf8_sse2.c and utf8_avx2.c include it after they have defined
 *
 *     vec          a vector of bytes
 *     load         reads a vector from memory
 *     merge        the OR of two vectors
 *     wrong        not zero in the wrong bytes of the vector at p, given the three bytes before p
 *     any_high     whether a byte of a vector is not ASCII
 *     any          whether a byte of a vector is not zero
 *
 * and utf8_blocks as the name of the function. A block that is ASCII, together with the three bytes before it, is only
 * skipped. The bytes before a vector are loaded again instead of being kept from the vector before: so a block depends
 * on its position only, and the last block may overlap the one before it.
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
