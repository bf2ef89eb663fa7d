/* learn_corpus.h - the pretokens as symbols in one flat array, where every merge is carried out. For learn.c alone. */
#ifndef BPE_TRAIN_LEARN_CORPUS_H
#define BPE_TRAIN_LEARN_CORPUS_H

#include "train/learn_pairs.h"
#include "train/learn_words.h"

/* What a merge makes of one neighbour of the merged pair: weight and number of its occurrences, then where the next
 * position of the new pair is written (a place that is never read, step 0, when the pair is not kept). */
struct side {
    uint64_t weight;
    uint32_t *out;
    uint32_t n, step;
    uint32_t len; /* of the left symbol */
};

/* An occurrence of the pair that is being merged, and its neighbours. */
struct found {
    uint32_t at, x, y;
};

/* What of a symbol decides ties by bytes. */
struct spelling {
    uint64_t head;          /* its first 8 bytes, big-endian, filled up with zeros */
    const unsigned char *p; /* all of it: len[symbol] bytes; borrowed from text or a static table */
};

/* Symbols are numbered from 1 as the caller likes; 0 separates words. */
struct corpus {
    void *slot;                /* uint16_t or, with wide, uint32_t: from when numbers need it; see learn_corpus.c */
    size_t n_slots, slot_size; /* slot_size: bytes */
    bool wide, sse2;
    enum { NO_LISTS, SOME_LISTS, ALL_LISTS } harvest; /* which pairs of bytes have lists, if they are not dense */
    uint32_t n_symbols;
    const uint32_t *byte; /* borrowed: the symbol of each byte */
    uint64_t *weight;     /* the count of the word around slot p is weight[p >> shift] */
    unsigned shift;
    uint32_t *len; /* bytes of a symbol */
    uint64_t max_len;
    struct side *left, *right; /* by symbol; all but idle only during a merge */
    uint32_t *seen_left, *seen_right;
    uint32_t never_read;
    void **chunk; /* memory of the pairs' positions */
    size_t n_chunks, chunks_cap, chunk_size;
    uint32_t *fresh; /* the region lists are cut from */
    size_t n_fresh;
    unsigned char *bin[64]; /* what else of it is free, by size */
    uint64_t bins;          /* bit k: bin[k] is not empty */
    struct found *found;
    size_t found_cap;
    struct pairs pairs;
    struct spelling *spelling; /* NULL unless ties are by bytes */
    unsigned char *text;       /* with spelling: the bytes, one a slot */
};

struct corpus_opts {
    uint32_t n_symbols;   /* symbols there may ever be: 1 .. n_symbols */
    const uint32_t *byte; /* [256]: the symbol of each byte; borrowed as long as the corpus is used */
    uint64_t max_len; /* no pair is made whose symbols have this many bytes or more, but for two bytes; 0: no limit */
    uint64_t floor;   /* > 0: pairs that count less need not be found */
    bool by_bytes;    /* ties: the greatest (left bytes, right bytes) first, not the smallest (left, right) */
};

/* Lays the words (classified; emptied as soon as they are not needed) out and counts their pairs. c need not be
 * initialized. -1: out of memory, or a pair that counts more than 2^64-1 (EX_DATAERR); corpus_free is due in any case.
 */
int corpus_init(struct corpus *c, struct learn_words *ws, const struct corpus_opts *o, struct err *e);
void corpus_free(struct corpus *c);

/* Replaces every occurrence of a pair from pairs_pop (which is lost) by the symbol z, left to right, and brings all
 * counts up to date. No slot holds z before; z may be any number up to n_symbols that is not the symbol of a byte. */
int corpus_merge(struct corpus *c, struct pair *top, uint32_t z, struct err *e);

#endif
