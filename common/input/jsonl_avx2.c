/* jsonl_avx2.c - jsonl_fast_impl.h with AVX2. */
#ifdef __AVX2__
#include <immintrin.h>
#include <stddef.h>

enum { WIDTH = 32 };

static inline size_t first_stop(const unsigned char *p)
{
    __m256i x = _mm256_loadu_si256((const __m256i *)p), control = _mm256_set1_epi8(0x1F);
    __m256i stop =
        _mm256_or_si256(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('"')), _mm256_cmpeq_epi8(x, _mm256_set1_epi8('\\')));
    stop = _mm256_or_si256(stop, _mm256_cmpeq_epi8(_mm256_min_epu8(x, control), x));
    return _tzcnt_u32((unsigned)_mm256_movemask_epi8(stop)); /* 32 if there is none */
}

static inline void copy_block(unsigned char *to, const unsigned char *p)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)p));
}

#include "input/jsonl_fast_impl.h"

jsonl_walk_fn *const jsonl_walk_avx2 = walk_line;
#else
#include "input/jsonl_fast.h"

jsonl_walk_fn *const jsonl_walk_avx2 = NULL;
#endif
