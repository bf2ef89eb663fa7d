/* jsonl_avx512.c - jsonl_blocks.h with AVX-512. All escapes of one character in 64 bytes are decoded at once, by a table
 * and a compression; so are up to eight escapes \uXXXX that follow each other.
 */
#ifdef __AVX512VBMI2__
#include "text/jsonl_fast.h"

#include <immintrin.h>

enum { WIDTH = 64 };

static inline uint64_t controls(__m512i v)
{
    return _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20));
}

static inline uint64_t equal(__m512i v, char c)
{
    return _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(c));
}

static inline size_t first_stop(const unsigned char *p)
{
    __m512i v = _mm512_loadu_si512(p);
    return _tzcnt_u64(controls(v) | equal(v, '"') | equal(v, '\\')); /* 64 if there is none */
}

/* Looks up each byte, by its low seven bits, in a table of 128. */
static inline __m512i look_up(const unsigned char *table, __m512i v)
{
    return _mm512_permutex2var_epi8(_mm512_loadu_si512(table), v, _mm512_loadu_si512(table + 64));
}

/* Of the backslashes in b those that begin an escape, if the first one does: in a run, every other one. */
static inline uint64_t escaping(uint64_t b)
{
    if (!(b & b >> 1))
        return b;
    uint64_t first = 0;
    while (b) {
        uint64_t low = b & -b;
        first |= low;
        b &= ~(low | low << 1);
    }
    return first;
}

/* ---- \uXXXX ---- */

/* The worth of hexadecimal digits, with the highest bit set; 0 for all others. */
static const unsigned char digit_table[128] = {
    ['0'] = 0x80, ['1'] = 0x81, ['2'] = 0x82, ['3'] = 0x83, ['4'] = 0x84, ['5'] = 0x85, ['6'] = 0x86, ['7'] = 0x87,
    ['8'] = 0x88, ['9'] = 0x89, ['a'] = 0x8A, ['b'] = 0x8B, ['c'] = 0x8C, ['d'] = 0x8D, ['e'] = 0x8E, ['f'] = 0x8F,
    ['A'] = 0x8A, ['B'] = 0x8B, ['C'] = 0x8C, ['D'] = 0x8D, ['E'] = 0x8E, ['F'] = 0x8F};

/* Where the digits of eight escapes are. */
static const unsigned char digit_places[64] = {2,  3,  4,  5,  8,  9,  10, 11, 14, 15, 16, 17, 20, 21, 22, 23,
                                               26, 27, 28, 29, 32, 33, 34, 35, 38, 39, 40, 41, 44, 45, 46, 47};

/* Decodes up to eight escapes \uXXXX, as many as follow each other at *p and are no surrogates. Writes 32 bytes.
 * Returns the end of what counts. */
static inline unsigned char *unescape_eight(unsigned char *to, const unsigned char **p)
{
    const uint64_t begins = 0x041041041041; /* every sixth of 48 bits */
    __m512i v = _mm512_loadu_si512(*p);
    uint64_t begun = equal(v, '\\') & equal(v, 'u') >> 1;
    __m512i digits = _mm512_permutexvar_epi8(_mm512_loadu_si512(digit_places), v);
    __m256i worth = _mm512_castsi512_si256(look_up(digit_table, digits));
    worth = _mm256_xor_si256(worth, _mm256_set1_epi8((char)0x80));
    __m256i wrong = _mm256_or_si256(worth, _mm512_castsi512_si256(digits)); /* the highest bit: no digit */
    __m256i bytes = _mm256_maddubs_epi16(worth, _mm256_set1_epi16(0x0110));
    __m256i c = _mm256_madd_epi16(bytes, _mm256_set1_epi32(0x00010100));
    unsigned stop = (unsigned)_pext_u64(~begun, begins) | 1U << 8;
    stop |= _mm256_test_epi32_mask(wrong, _mm256_set1_epi32((int)0x80808080));
    stop |= _mm256_cmpeq_epi32_mask(_mm256_and_si256(c, _mm256_set1_epi32(0xF800)), _mm256_set1_epi32(0xD800));
    unsigned n = _tzcnt_u32(stop);
    /* Each character in three bytes of its four; a shorter one in the last of these. */
    __mmask8 one = _mm256_cmplt_epu32_mask(c, _mm256_set1_epi32(0x80));
    __mmask8 two = _mm256_cmplt_epu32_mask(c, _mm256_set1_epi32(0x800));
    __m256i bits = _mm256_multishift_epi64_epi8(_mm256_set1_epi64x(0x0020262C0000060C), c);
    __m256i take = _mm256_set1_epi32(0x003F3F0F), mark = _mm256_set1_epi32(0x008080E0);
    __m256i keep = _mm256_set1_epi32(0x00808080);
    take = _mm256_mask_mov_epi32(take, two, _mm256_set1_epi32(0x003F1F00));
    mark = _mm256_mask_mov_epi32(mark, two, _mm256_set1_epi32(0x0080C000));
    keep = _mm256_mask_mov_epi32(keep, two, _mm256_set1_epi32(0x00808000));
    take = _mm256_mask_mov_epi32(take, one, _mm256_set1_epi32(0x007F0000));
    mark = _mm256_mask_mov_epi32(mark, one, _mm256_setzero_si256());
    keep = _mm256_mask_mov_epi32(keep, one, _mm256_set1_epi32(0x00800000));
    __mmask32 kept = _bzhi_u32((unsigned)_mm256_movepi8_mask(keep), 4 * n);
    __m256i utf8 = _mm256_or_si256(_mm256_and_si256(bits, take), mark);
    _mm256_storeu_si256((__m256i *)to, _mm256_maskz_compress_epi8(kept, utf8));
    *p += 6 * (size_t)n;
    return to + (size_t)_mm_popcnt_u32(kept);
}

/* Decodes the escapes \uXXXX at *p, and single characters between them. NULL: refused, or not enough room. */
static inline unsigned char *unescape_run(struct jsonl_walk *w, unsigned char *to, const unsigned char **from)
{
    const unsigned char *p = *from;
    while (to <= w->limit) {
        const unsigned char *before = p;
        to = unescape_eight(to, &p);
        if (p[0] == '\\' && p[1] == 'u') {
            bool full = p - before == 8 * 6; /* if not, this is a surrogate, or no escape */
            if (!full && !(to = jsonl_unescape_u(to, &p)))
                return NULL;
        } else if (p[0] >= 0x20 && p[0] != '"' && p[0] != '\\' && p[1] == '\\' && p[2] == 'u') {
            *to++ = *p++;
        } else {
            *from = p;
            return to;
        }
    }
    w->full = true;
    return NULL;
}

/* ---- All escapes ---- */

/* See jsonl_blocks.h. */
static const unsigned char *unescape(struct jsonl_walk *w, const unsigned char *p, unsigned char *to,
                                     unsigned char **end)
{
    while (to <= w->limit) {
        __m512i v = _mm512_loadu_si512(p);
        uint64_t backslashes = equal(v, '\\'), stops = controls(v) | equal(v, '"');
        if (!(backslashes | stops)) {
            _mm512_storeu_si512(to, v);
            to += 64;
            p += 64;
            continue;
        }
        uint64_t escapes = escaping(backslashes), escaped = escapes << 1;
        uint64_t n = 64 - (escapes >> 63); /* the character after the last one is in the next block */
        __m512i meant = look_up(jsonl_escape, v);
        uint64_t others = escaped & (_mm512_testn_epi8_mask(meant, meant) | (uint64_t)_mm512_movepi8_mask(v));
        uint64_t ends = (stops & ~escaped) | others >> 1; /* of others, the backslash */
        uint64_t until = _tzcnt_u64(ends);
        n = until < n ? until : n;
        uint64_t kept = _bzhi_u64(~escapes, (unsigned)n);
        __m512i text = _mm512_mask_mov_epi8(v, escaped, meant);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, text));
        to += (size_t)_mm_popcnt_u64(kept);
        p += n;
        if (!ends)
            continue;
        if (*p == '"') {
            *end = to;
            return p + 1;
        }
        if (*p != '\\' || p[1] != 'u' || !(to = unescape_run(w, to, &p)))
            return NULL;
    }
    w->full = true;
    return NULL;
}
#define HAS_UNESCAPE
#include "text/jsonl_blocks.h"

jsonl_walk_fn *const jsonl_walk_avx512 = walk_line;
#else
#include "text/jsonl_fast.h"

jsonl_walk_fn *const jsonl_walk_avx512 = NULL;
#endif
