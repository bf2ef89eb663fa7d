/* jsonl_sse2.c - jsonl_fast_impl.h with SSE2. */
#ifdef __SSE2__
#include <emmintrin.h>
#include <stddef.h>

enum { WIDTH = 32 };

/* A bit for each quote, backslash and control character among 16 bytes. */
static inline unsigned stops(const unsigned char *p)
{
    __m128i x = _mm_loadu_si128((const __m128i *)p), control = _mm_set1_epi8(0x1F);
    __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, control), x)));
}

static inline size_t first_stop(const unsigned char *p)
{
    unsigned marks = stops(p) | stops(p + 16) << 16;
    return marks ? (size_t)__builtin_ctz(marks) : WIDTH;
}

static inline void copy_block(unsigned char *to, const unsigned char *p)
{
    __builtin_memcpy(to, p, WIDTH);
}

#include "input/jsonl_fast_impl.h"

jsonl_walk_fn *const jsonl_walk_sse2 = walk_line;
#else
#include "input/jsonl_fast.h"

jsonl_walk_fn *const jsonl_walk_sse2 = NULL;
#endif
