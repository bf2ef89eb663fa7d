/* model.h - a trained BPE vocabulary, and the files other programs read it from.
 *
 * Symbols are numbered as the trainer does (learn.h): 0 .. 255 bytes by value, 256 + k the result of merge k. Ids are
 * those of the written file: the 256 bytes in the order of the GPT-2 byte-to-unicode map ("!" first), then the merges
 * in order, with the special tokens before or after all of these.
 */
#ifndef BPE_FORMATS_TRAINED_H
#define BPE_FORMATS_TRAINED_H

#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trained_special {
    const unsigned char *p; /* valid UTF-8, not empty; borrowed */
    size_t len;
};

struct trained_merge {
    uint32_t left, right; /* symbols smaller than the merge's own */
};

struct trained {
    const struct trained_merge *merges; /* borrowed */
    size_t n_merges;
    const struct trained_special *special; /* borrowed, in the order of their ids */
    size_t n_special;
    bool special_first;
    const char *pattern; /* "gpt2", "cl100k", "bytes"; NULL: regex */
    const char *regex;   /* the regex text, valid UTF-8, regex_len bytes; also set for built-in patterns that have one;
                            else NULL */
    size_t regex_len;
    bool merges_as_strings; /* tokenizer.json: "a b" instead of ["a","b"], for readers older than tokenizers 0.20 */
};

/* Each appends one whole file to *out. -1: out of memory, or (EX_USAGE) the format cannot express the model: the
 * message says what. */
int model_put_json(struct buf *out, const struct trained *m, struct err *e);  /* Hugging Face tokenizer.json */
int model_put_vocab(struct buf *out, const struct trained *m, struct err *e); /* GPT-2 vocab.json */
int model_put_merges(struct buf *out, const struct trained *m,
                     struct err *e); /* GPT-2 merges.txt, with its #version line */
int model_put_tiktoken(struct buf *out, const struct trained *m,
                       struct err *e); /* .tiktoken: base64 and rank; no special tokens */
/* JSON for a .tiktoken file: pat_str, special_tokens, explicit_n_vocab, sha256 (of the file's bytes, given). */
int model_put_sidecar(struct buf *out, const struct trained *m, const struct buf *tiktoken, struct err *e);
int model_put_readable(struct buf *out, const struct trained *m,
                       struct err *e); /* one `left right` line a merge, for people */

#endif
