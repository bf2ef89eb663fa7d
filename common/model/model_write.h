/* model_write.h - the files a model is written to. */
#ifndef BPE_MODEL_MODEL_WRITE_H
#define BPE_MODEL_MODEL_WRITE_H

#include "core/model.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a model that was read from one format fit to be written in another, with the same ids: merges for ranks, and
 * the other way whether ranks say the same as the merges. (A model straight from the trainer is fit.) -1 with EX_USAGE:
 * the format cannot say what the model is; the message says why. */
int model_convert(struct model *m, enum model_format format, struct err *e);

/* How many tokens of the vocabulary merging never makes, not even of their own bytes alone, and the first of them (or
 * MODEL_NO_ID). -1: out of memory. */
int model_unreached(const struct model *m, size_t *n, uint32_t *first, struct err *e);

/* Whether a regex makes a repetition such as {1,3} possessive by a plus, which Hugging Face tokenizers reads as a
 * repetition of the repetition. */
bool model_has_possessive_count(struct str regex);

/* Each appends one whole file to *out. -1: out of memory, or (EX_USAGE) the format cannot express the model: the
 * message says what. */
int model_put_json(struct buf *out, const struct model *m, struct err *e);     /* Hugging Face tokenizer.json */
int model_put_vocab(struct buf *out, const struct model *m, struct err *e);    /* GPT-2 vocab.json */
int model_put_merges(struct buf *out, const struct model *m, struct err *e);   /* GPT-2 merges.txt, with its #version */
int model_put_tiktoken(struct buf *out, const struct model *m, struct err *e); /* .tiktoken: no special tokens */
/* JSON for a .tiktoken file: pat_str, special_tokens, explicit_n_vocab, sha256 (of the file's bytes, given). */
int model_put_sidecar(struct buf *out, const struct model *m, const struct buf *tiktoken, struct err *e);
int model_put_readable(struct buf *out, const struct model *m, struct err *e); /* a line a merge, for people */

/* Writes the model at path, or (NULL; not for MODEL_GPT2) to standard output. MODEL_GPT2: a directory, which is made if
 * need be; MODEL_TIKTOKEN: at a path, with its sidecar. Files appear when they are complete. -1: as above,
 * EX_CANTCREAT, EX_IOERR. */
int model_save(const struct model *m, enum model_format format, const char *path, struct err *e);

#endif
