/* nfc_internal.h - the tables of nfc.h, and the search for characters that may change. Only for nfc*.c and their test;
 * other files include nfc.h.
 *
 * Each character has a kind. Characters of the first few kinds *pass*, and most characters do: there is a border before
 * them, and they are in normal form unless a following character changes them.
 */
#ifndef BPE_UNICODE_NFC_INTERNAL_H
#define BPE_UNICODE_NFC_INTERNAL_H

#include "unicode/utf8.h"

#include <stddef.h>
#include <stdint.h>

#define NFC_FIRST_LEN 0x1000 /* planes 0 to 3; characters above them pass */

enum { NFC_PASSES = 4 }; /* kinds below this pass */

enum {
    NFC_NO = 1,          /* never in a normal form */
    NFC_ATTACHES = 2,    /* no border before it */
    NFC_SECOND = 4,      /* composes with some preceding characters */
    NFC_FIRST = 8,       /* composes with some following characters */
    NFC_DECOMPOSES = 16, /* has a canonical decomposition */
};

struct nfc_kind {
    uint8_t ccc; /* the canonical combining class; 0: a starter */
    uint8_t flags;
};

/* One step of a canonical decomposition. */
struct nfc_pair {
    uint32_t c, first, second; /* second 0: none */
};

/* Generated (nfc_tables.c). The pairs do not include Hangul syllables, which are computed. */
extern const uint8_t nfc_first[NFC_FIRST_LEN]; /* code point / 64 -> block */
extern const uint8_t nfc_second[];             /* 64 * block + code point % 64 -> kind */
extern const struct nfc_kind nfc_kinds[];
extern const uint8_t nfc_follow[16];      /* see nfc_may_change */
extern const struct nfc_pair nfc_pairs[]; /* sorted by c */
extern const uint16_t nfc_compositions[]; /* indexes of the pairs that compose, sorted by first and second */
extern const size_t nfc_n_pairs, nfc_n_compositions;

/* Tables indexed by nibbles. Bits 0 to 3 are for characters of two bytes, 4 to 7 for longer ones; each group has a bit
 * for each high nibble of the second byte, 8 to B. A character passes unless some bit is set in all three tables:
 * nfc_leads at the high nibble of the first byte, nfc_follow at its low nibble, and nfc_trails at the high nibble of
 * the second byte. */
static const uint8_t nfc_leads[16] = {[0xC] = 0x0F, [0xD] = 0x0F, [0xE] = 0xF0, [0xF] = 0xF0};
static const uint8_t nfc_trails[16] = {[0x8] = 0x11, [0x9] = 0x22, [0xA] = 0x44, [0xB] = 0x88};

/* Whether the character that begins with the bytes b and `next` might not pass. False for ASCII and for bytes that do
 * not begin a character. */
static inline unsigned nfc_may_change(unsigned char b, unsigned char next)
{
    return (unsigned)nfc_leads[b >> 4] & nfc_follow[b & 15] & nfc_trails[next >> 4];
}

static inline unsigned nfc_kind_of(uint32_t c)
{
    uint32_t high = c >> 6;
    return high < NFC_FIRST_LEN ? nfc_second[64U * nfc_first[high] + (c & 63)] : 0;
}

/* Whether the character at p passes. */
static inline int nfc_passes(const unsigned char *p)
{
    size_t len;
    return nfc_kind_of(utf8_char(p, &len)) < NFC_PASSES;
}

/* The offset of the first character at or after `at` that does not pass; n: none. */
size_t nfc_skip_plain(const unsigned char *p, size_t at, size_t n);
/* The same, but if all characters pass, they may stop before the last NFC_BLOCK bytes. */
enum { NFC_BLOCK = 32 };
size_t nfc_skip_sse2(const unsigned char *p, size_t at, size_t n);
size_t nfc_skip_avx2(const unsigned char *p, size_t at, size_t n);

#endif
