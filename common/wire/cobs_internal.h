/* cobs_internal.h - stuffing with vector instructions, one file per version. For cobs*.c only; others include cobs.h.
 */
#ifndef BPE_WIRE_COBS_INTERNAL_H
#define BPE_WIRE_COBS_INTERNAL_H

#include "wire/cobs.h"

enum { COBS_NEWLINE = '\n', COBS_BLOCK = 254, COBS_STEP = 64 };

/* Writes the code of the block whose bytes are between the code and `end`. */
static inline void cobs_put_code(unsigned char *code, const unsigned char *end)
{
    *code = (unsigned char)(end - code) ^ COBS_NEWLINE;
}

/* Stuffs all whole steps of p[0 .. n); returns the number of bytes stuffed. Reads only these n bytes. One version per
 * instruction set (simd.h). */
size_t cobs_put_sse2(struct cobs_writer *s, const unsigned char *p, size_t n);
size_t cobs_put_avx512(struct cobs_writer *s, const unsigned char *p, size_t n);

#endif
