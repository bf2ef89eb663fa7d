/* cobs_internal.h - the parts of cobs.h, one file each: stuffing by vectors. For cobs*.c only; others include
 * cobs.h. */
#ifndef BPE_WIRE_COBS_INTERNAL_H
#define BPE_WIRE_COBS_INTERNAL_H

#include "wire/cobs.h"

enum { COBS_NEWLINE = '\n', COBS_BLOCK = 254, COBS_STEP = 64 };

/* Writes the code of a block, whose bytes are those between the code and `end`. */
static inline void cobs_put_code(unsigned char *code, const unsigned char *end)
{
    *code = (unsigned char)(end - code) ^ COBS_NEWLINE;
}

/* Stuffs whole steps of p[0 .. n), all that there are; returns how many it has stuffed. Only these n bytes are
 * read. One for each level of simd.h that has one. */
size_t cobs_put_sse2(struct cobs_writer *s, const unsigned char *p, size_t n);
size_t cobs_put_avx512(struct cobs_writer *s, const unsigned char *p, size_t n);

#endif
