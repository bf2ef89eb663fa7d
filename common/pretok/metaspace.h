/* metaspace.h - text in which U+2581 means a space, as in SentencePiece (Hugging Face: Metaspace). */
#ifndef BPE_PRETOK_METASPACE_H
#define BPE_PRETOK_METASPACE_H

#include <stdbool.h>
#include <stddef.h>

#define METASPACE "\xE2\x96\x81" /* U+2581, LOWER ONE EIGHTH BLOCK */
enum { METASPACE_LEN = sizeof METASPACE - 1 };

/* When a prefix is added before the text between special tokens. */
enum prefix_place {
    PREFIX_IF_MISSING, /* unless the text begins with it */
    PREFIX_ALWAYS,
    PREFIX_FIRST, /* at the start of a source or document, unless the text begins with it */
    N_PREFIX_PLACES,
};

/* Their names in records and models. */
extern const char *const prefix_place_names[N_PREFIX_PLACES];

struct metaspace {
    bool on;
    bool split; /* a pretoken begins at each space; otherwise the text is one pretoken, split by the model's tokens */
    bool cut;   /* text may be cut between 0x0A and a letter: no token of the model spans the two */
    enum prefix_place place;
};

/* Whether p[0 .. n) has a U+2581. */
bool metaspace_in(const unsigned char *p, size_t n);

/* Copies p[0 .. n), with a space for each U+2581, to `to`, which has room for n bytes and may be p. Returns the
 * length. */
size_t metaspace_replace(unsigned char *to, const unsigned char *p, size_t n);

/* The number of bytes of p that became the first n bytes of such a copy. */
size_t metaspace_origin(const unsigned char *p, size_t n);

#endif
