/* cobs.h - byte stuffing: a payload as bytes without 0x0A, and back (COBS; see record.h).
 *
 * The payload is cut into blocks of up to 254 bytes without a newline; each is written as a code byte and its bytes.
 * The code is (length + 1) XOR 0x0A, which is never 0x0A. A code for less than 254 bytes stands for a newline after the
 * block, except after the last one.
 */
#ifndef BPE_WIRE_COBS_H
#define BPE_WIRE_COBS_H

#include <stddef.h>

#define COBS_PAD 64 /* bytes that may be read or written past the end: copying is done in steps of this length */

/* The room needed for n bytes, put in any number of parts. */
#define COBS_ROOM(n) ((n) + (n) / 254 + 2 + COBS_PAD)

/* A payload that is being written. */
struct cobs_writer {
    unsigned char *begin;
    unsigned char *code; /* where the code of the open block goes; NULL: the last block is full */
    unsigned char *out;  /* where the next byte is written */
};

void cobs_begin(struct cobs_writer *s, unsigned char *out); /* out: borrowed; COBS_ROOM of all bytes to be put */
void cobs_put(struct cobs_writer *s, const unsigned char *p, size_t n); /* the next bytes; p may be NULL if n is 0 */
size_t cobs_end(struct cobs_writer *s);                                 /* returns the length of what was written */

/* The inverse. May read COBS_PAD bytes past p[0 .. n), and write as many past out[0 .. n). Returns the length, or
 * SIZE_MAX if p is not a stuffed payload. */
size_t cobs_decode(unsigned char *out, const unsigned char *p, size_t n);

/* The same for the beginning of a stuffed payload, cut off anywhere; reads and writes nothing past n. Returns the
 * length of the decoded bytes; decoding stops at bytes that cannot be in a stuffed payload. */
size_t cobs_decode_start(unsigned char *out, const unsigned char *p, size_t n);

#endif
