/* utf8_blocks.h - the loop over blocks that finds invalid UTF-8 by vectors: the part that is the same for all
 * instruction sets. For utf8_sse2.c, utf8_avx2.c and utf8_avx512.c, which include it once they have defined
 *
 *     vec          a vector of bytes                       wrong    not zero in the bytes of a vector at p that are
 * wrong, load, merge  one from memory; the OR of two                   given the three bytes before p any_high whether
 * a byte is not ASCII             any      whether a byte is not zero
 *
 * and utf8_blocks as the name of the function. A block that is ASCII as a whole, with the three bytes before it, is
 * only skipped. The bytes before a vector are loaded once more rather than kept from the vector before: so a block
 * needs nothing but its place, and the last one may overlap the one before.
 */
#include "unicode/utf8_parts.h"

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
