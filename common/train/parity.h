/* parity.h - parity-aware BPE: the languages, and which of them chooses the next merge. For trainer.c.
 *
 * Foroutan, Meister, Paul, Niklaus, Ahmadi, Bosselut and Sennrich, "Parity-Aware Byte-Pair Encoding: Improving
 * Cross-lingual Fairness in Tokenization" (arXiv 2508.04796). The language whose text has the most tokens chooses its
 * most frequent pair, which is merged in all languages. ParityBpeTrainer of Hugging Face tokenizers 0.23.3 does the
 * same, and where the authors' program differs, this follows it: it does not stop at a language without a pair that is
 * frequent enough, which only no longer chooses.
 *
 * Each language is a corpus of its own, in which every pair has a list, since another language may choose it; only the
 * numbers of symbols are common to all.
 */
#ifndef BPE_TRAIN_PARITY_H
#define BPE_TRAIN_PARITY_H

#include "base/sys/err.h"
#include "train/train_corpus.h"
#include "train/train_pretokens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parity_opts {
    uint64_t global_merges; /* the first merges are the most frequent pairs of all languages together */
    bool has_dev;           /* there are development texts, whose tokens count instead of those of the training texts */
    const double *ratio;    /* a language chooses if its compression, divided by this, is the lowest; by language;
                               borrowed. NULL: if its text has the most tokens */
    bool windowed;          /* a language that made more than alpha/n of the last `window` choices is passed over */
    uint64_t window;
    double alpha;
};

struct language {
    struct train_pretokens pretokens, dev_pretokens;
    struct corpus corpus, dev;
    uint64_t initial, tokens;     /* of the development text if there is any, else of the training text */
    bool exhausted;               /* no pair is frequent enough */
    struct pair taken, dev_taken; /* for merging */
    bool passed;                  /* for choosing */
    uint64_t n_chosen;            /* choices among the last `window` */
};

struct parity {
    struct parity_opts o;
    struct language *language; /* owned */
    size_t n;
    size_t *chosen; /* a ring of the last `window` choices */
    uint64_t n_choices;
};

/* Zeroed except for these. -1: out of memory; call parity_free in any case. */
int parity_init(struct parity *p, size_t n_languages, const struct parity_opts *o, struct err *e);
void parity_free(struct parity *p);

/* Adds a pretoken, which is *copied*, to the training or development text of a language. -1 as train_pretokens_add. */
int parity_add(struct parity *p, size_t language, bool dev, const unsigned char *bytes, size_t len, uint64_t count,
               struct err *e);

/* Lays out all texts. o->floor must be 1. -1 as corpus_init. */
int parity_lay_out(struct parity *p, const struct corpus_opts *o, struct err *e);

/* Takes the pair to merge, which occurs min_frequency (> 0) times in the language that chooses. 1: *top is set, and
 * *language chose it; 0: no language has such a pair; -1: error. */
int parity_pop(struct parity *p, uint64_t min_frequency, struct pair *top, size_t *language, struct err *e);

/* Merges a pair to the symbol z in all languages. top is that of `language`, or of none (SIZE_MAX). *replaced: as in
 * corpus_merge, for all training texts together. */
int parity_merge(struct parity *p, const struct pair *top, size_t language, uint32_t z, uint64_t *replaced,
                 struct err *e);

#endif
