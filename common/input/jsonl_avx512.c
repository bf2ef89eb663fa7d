/* jsonl_avx512.c - jsonl_fast_impl.h with AVX-512. All escapes in 64 bytes are decoded at the same time: each is
 * overwritten in the vector by the character that it means, and a compression removes the rest of the escape.
 */
#ifdef __AVX512VBMI2__
#include "input/jsonl_fast.h"

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

/* The backslashes in b that begin an escape, given that the first one does: every other one of adjacent backslashes. */
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

/* For each byte, the byte n positions after it; arbitrary at the end of the vector. */
static inline __m512i after(__m512i v, int n)
{
    const __m512i places =
        _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40,
                        39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                        15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutexvar_epi8(_mm512_add_epi8(places, _mm512_set1_epi8((char)n)), v);
}

/* A decoded block. */
struct block {
    __m512i text;  /* its bytes, with characters in place of escapes */
    uint64_t kept; /* which bytes remain */
    uint64_t ends; /* something that cannot be decoded here, or the end of the string, begins at these bits */
    uint64_t cut;  /* escapes that continue after the block begin at these bits */
};

/* Decodes the escapes \uXXXX in a block v, which begin at the bits u. The bytes of a character overwrite the backslash,
 * the u and the first digit; a character of fewer than 3 bytes overwrites only the last of these positions. */
static inline void decode_u(struct block *b, __m512i v, uint64_t u)
{
    const __m512i high = _mm512_set1_epi8((char)0x80);
    __m512i digit = _mm512_xor_si512(look_up(jsonl_digit, v), high);
    uint64_t wrong = (uint64_t)_mm512_movepi8_mask(_mm512_or_si512(digit, v));
    __m512i low = _mm512_and_si512(digit, _mm512_set1_epi8(0x0F));
    /* At the first of two digits, the byte they make; an escape at i has its two bytes at i + 2 and i + 4. */
    __m512i byte = _mm512_or_si512(_mm512_slli_epi16(low, 4), after(low, 1));
    __m512i after1 = after(byte, 1), after2 = after(byte, 2), after3 = after(byte, 3);
    uint64_t long3 = u & _mm512_cmpge_epu8_mask(after2, _mm512_set1_epi8(8));
    uint64_t long2 = u & (_mm512_test_epi8_mask(byte, byte) | (uint64_t)_mm512_movepi8_mask(after2)) >> 2;
    const __m512i six = _mm512_set1_epi8(0x3F), four = _mm512_set1_epi8(0x0F), two = _mm512_set1_epi8(3);
    __m512i first = _mm512_and_si512(_mm512_srli_epi16(after2, 4), four);
    __m512i second = _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(after1, four), 2),
                                     _mm512_and_si512(_mm512_srli_epi16(after3, 6), two));
    __m512i third = _mm512_mask_mov_epi8(after2, long2 << 2, _mm512_or_si512(_mm512_and_si512(after2, six), high));
    b->text = _mm512_mask_add_epi8(b->text, u, first, _mm512_set1_epi8((char)0xE0));
    b->text = _mm512_mask_add_epi8(b->text, long2 << 1, second, _mm512_set1_epi8((char)0xC0));
    b->text = _mm512_mask_add_epi8(b->text, long3 << 1, second, high);
    b->text = _mm512_mask_mov_epi8(b->text, u << 2, third);
    uint64_t surrogates =
        _mm512_cmpeq_epi8_mask(_mm512_and_si512(after2, _mm512_set1_epi8((char)0xF8)), _mm512_set1_epi8((char)0xD8));
    uint64_t no_digits = wrong >> 2 | wrong >> 3 | wrong >> 4 | wrong >> 5;
    uint64_t half = u | u << 1 | u << 2;
    b->kept = (b->kept & ~(half | half << 3)) | long3 | long2 << 1 | u << 2;
    b->ends |= u & (surrogates | no_digits);
    b->cut |= u & ~0ULL << 59;
}

/* Decodes a block with these backslashes, the first of which begins an escape, and these other ends of text. */
static inline struct block decode(__m512i v, uint64_t backslashes, uint64_t stops)
{
    uint64_t escapes = escaping(backslashes), escaped = escapes << 1;
    uint64_t u = escapes & equal(v, 'u') >> 1;
    __m512i meant = look_up(jsonl_escape, v);
    uint64_t none = _mm512_testn_epi8_mask(meant, meant) | (uint64_t)_mm512_movepi8_mask(v);
    struct block b = {.text = _mm512_mask_mov_epi8(v, escaped, meant),
                      .kept = ~escapes,
                      .ends = (stops & ~escaped) | (escapes & ~u & none >> 1),
                      .cut = escapes & 1ULL << 63};
    if (u)
        decode_u(&b, v, u);
    return b;
}

/* See jsonl_fast_impl.h. */
static const unsigned char *unescape(struct jsonl_walk *w, const unsigned char *p, unsigned char *to,
                                     unsigned char **end)
{
    while (to <= w->limit) {
        __m512i v = _mm512_loadu_si512(p);
        struct block b = decode(v, equal(v, '\\'), controls(v) | equal(v, '"'));
        uint64_t until = b.ends | b.cut, kept = b.kept & ((until & -until) - 1);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, b.text));
        to += (size_t)_mm_popcnt_u64(kept);
        if (!until) { /* a separate path, so that the next block does not wait for the masks of this one: saves 6% of
                         the time to count */
            p += 64;
            continue;
        }
        p += _tzcnt_u64(until);
        if (until & -until & b.cut) /* the next block begins with the escape */
            continue;
        if (*p == '"') {
            *end = to;
            return p + 1;
        }
        if (*p != '\\' || p[1] != 'u' || !(to = jsonl_unescape_u(to, &p))) /* usually a pair of surrogates */
            return NULL;
    }
    w->full = true;
    return NULL;
}
#define HAS_UNESCAPE
#include "input/jsonl_fast_impl.h"

jsonl_walk_fn *const jsonl_walk_avx512 = walk_line;
#else
#include "input/jsonl_fast.h"

jsonl_walk_fn *const jsonl_walk_avx512 = NULL;
#endif
