/* parity.h - parity-aware BPE: the languages, and which of them chooses the next merge. For trainer.c.
 *
 * Foroutan, Meister, Paul, Niklaus, Ahmadi, Bosselut and Sennrich, "Parity-Aware Byte-Pair Encoding: Improving
 * Cross-lingual Fairness in Tokenization" (arXiv 2508.04796). The language whose text has the most tokens chooses its
 * most frequent pair, which is merged in all languages. ParityBpeTrainer of Hugging Face tokenizers 0.23.3 does the
 * same, and where the authors' program differs, this follows it: it does not stop at a language without a pair that is
 * frequent enough, which only no longer chooses.
 *
 * The texts of all languages are parts of one corpus, and so are their development texts, whose pairs do not count.
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
    uint64_t initial, tokens; /* of the development text if there is any, else of the training text */
    bool exhausted;           /* no pair is frequent enough */
    bool passed;              /* for choosing */
    uint64_t n_chosen;        /* choices among the last `window` */
};

struct parity {
    struct parity_opts o;
    struct language *language;         /* owned */
    struct train_pretokens *pretokens; /* owned: of the training texts, then of the development texts */
    size_t n, n_texts;                 /* languages, texts */
    struct corpus corpus;              /* a part for each text */
    size_t *chosen;                    /* a ring of the last `window` choices */
    uint64_t n_choices, n_merges;
    uint64_t least; /* count of a pair that is merged */
};

/* Zeroed except for these. -1: out of memory; call parity_free in any case. */
int parity_init(struct parity *p, size_t n_languages, const struct parity_opts *o, struct err *e);
void parity_free(struct parity *p);

/* Adds a pretoken, which is *copied*, to the training or development text of a language. -1 as train_pretokens_add. */
int parity_add(struct parity *p, size_t language, bool dev, const unsigned char *bytes, size_t len, uint64_t count,
               struct err *e);

/* Multiplies all counts by a factor. -1 as train_pretokens_scale. */
int parity_scale(struct parity *p, uint64_t by, struct err *e);

/* Lays out all texts, for about n_merges merges. The floor is the least count of a pair that is merged. -1 as
 * corpus_init. */
int parity_lay_out(struct parity *p, const struct corpus_opts *o, uint64_t n_merges, struct err *e);

/* Takes the pair to merge. 1: *top is set; 0: no language has a pair that is frequent enough; -1: error. */
int parity_pop(struct parity *p, struct pair *top, struct err *e);

/* Merges the pair to the symbol z. *replaced: as in corpus_merge. */
int parity_merge(struct parity *p, struct pair *top, uint32_t z, uint64_t *replaced, struct err *e);

#endif
