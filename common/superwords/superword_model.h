/* superword_model.h - the model between two rounds of training on superwords (superwords/live_pairs.h). */
#ifndef BPE_SUPERWORDS_SUPERWORD_MODEL_H
#define BPE_SUPERWORDS_SUPERWORD_MODEL_H

#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a model, and prepares it: it gets a list of merges, and loses ignore_merges, with which a whole pretoken
 * becomes a token in another way. -1: it cannot be read, or EX_USAGE: it cannot have superwords. Free it in any case.
 */
int superword_model_read(struct model *m, const char *path, struct err *e);

/* Which superwords are learned. */
enum superword_kind {
    SUPERWORDS_DOCUMENTS, /* SuperBPE's, in text split by the pattern superbpe */
    SUPERWORDS_LINES,     /* the same, by superbpe-lines */
    SUPERWORDS_JOINED,    /* of whole pretokens (struct model: joins) */
    SUPERWORDS_COMPETING, /* the same, and they compete with merges of words */
};

/* Makes the model of the first round: sets its pattern, so that merges join words, or `joins`. -1: EX_USAGE: a model
 * that cannot learn superwords; or out of memory. */
int superword_model_make(struct model *m, enum superword_kind kind, struct err *e);

/* Whether text is split by superbpe or superbpe-lines. */
bool superword_model_is(const struct model *m);

/* A hash of all that determines which ids text has, by the first merges alone, apart from special tokens: the ids of
 * bytes, these merges, the pattern. */
uint64_t superword_model_hash(const struct model *m, size_t n_merges);

/* Whether this is the hash of the first n_merges merges. */
bool superword_model_begins(const struct model *m, uint64_t n_merges, uint64_t hash);

/* Bytes of an id where the largest number is none, but separates: 2 or 4. */
unsigned superword_model_width(const struct model *m);

#endif
