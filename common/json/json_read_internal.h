/* json_read_internal.h - what the files that implement json_read.h share: the window over the input, errors with an
 * offset, white space and punctuation. Only those files include it.
 *
 * A file is read through a window. A string that crosses the end of the window is moved to its front, and the window
 * grows if the string is longer. For memory, the window never changes. Loops over white space and text use vectors that
 * may read past the window's end, into the padding; they ignore matches there.
 *
 * Functions that return int return -1 on error and fill *r->e.
 */
#ifndef BPE_JSON_JSON_READ_INTERNAL_H
#define BPE_JSON_JSON_READ_INTERNAL_H

#include "base/sys/swar.h"
#include "json/json_read.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* An error at this offset of the input. Always -1. */
int json_fail_at(struct json_reader *r, uint64_t at, const char *what);

/* The same for a violation of the grammar: for a file, the message begins with "bad JSON". */
int json_bad_at(struct json_reader *r, uint64_t at, const char *what);

/* The same for the byte at r->at, or the end of the input, if `wanted` should be there. */
int json_bad_next(struct json_reader *r, const char *wanted);

/* Reads more bytes, and drops those before both `at` and `keep`. 1: done; 0: the end. */
int json_fill(struct json_reader *r);

/* Makes sure that n bytes are in the window from `at` on, or all that are left. */
int json_look_ahead(struct json_reader *r, size_t n);

/* Consumes the byte c, which must come next. */
int json_expect(struct json_reader *r, char c, const char *wanted);

/* Consumes the closing bracket `end` (0), or the comma before an item or member (1); the first has none. */
int json_separate(struct json_reader *r, char end);

/* Skips a number of any length, which must come next; a window of one character is enough. */
int json_skip_number(struct json_reader *r);

/* As json_read_key, for an object whose members are skipped. */
int json_skip_key(struct json_reader *r);

static inline const unsigned char *json_window_end(const struct json_reader *r)
{
    return r->window.p + r->window.len;
}

/* The end of the white space at p, or `end`. It is mostly a newline and an indent, fewer than 16 bytes. */
static inline const unsigned char *json_skip_white(const unsigned char *p, const unsigned char *end)
{
#ifdef __SSE2__
    for (; p < end; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i white = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
        white = _mm_or_si128(
            white, _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\t')), _mm_cmpeq_epi8(x, _mm_set1_epi8('\r'))));
        unsigned other = ~(unsigned)_mm_movemask_epi8(white) & 0xFFFF;
        if (other) {
            p += __builtin_ctz(other);
            break;
        }
    }
#else
    for (; p < end; p += 8) {
        uint64_t x = swar_load(p);
        uint64_t white = swar_equal(x, ' ') | swar_equal(x, '\n') | swar_equal(x, '\t') | swar_equal(x, '\r');
        if (white != SWAR_HIGH) {
            p += swar_first(white ^ SWAR_HIGH);
            break;
        }
    }
#endif
    return p < end ? p : end;
}

/* Skips white space. Returns the next byte, at `at`, or 0 at the end. The slow version handles white space and the end
 * of the window. */
int json_next_slow(struct json_reader *r);

static inline int json_next(struct json_reader *r)
{
    unsigned char c = r->window.p[r->at];
    return c > ' ' && r->at < r->window.len ? c : json_next_slow(r);
}

#endif
