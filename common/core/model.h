/* model.h - a BPE model as encoding and decoding see it, whatever file it was read from.
 *
 * Text becomes ids so: added tokens are found in the raw text (leftmost, of several the longest); what is between them
 * is split into pretokens by the regexes; a pretoken that is a token as a whole is that token (if ignore_merges); else
 * it starts as its bytes, and as long as two neighbours can merge, the pair of the lowest rank does, of several the
 * leftmost. That is what Hugging Face tokenizers (add_special_tokens=False) and tiktoken (allowed_special="all") do
 * with the same file; what could not be done so is refused when the file is read.
 */
#ifndef BPE_CORE_MODEL_H
#define BPE_CORE_MODEL_H

#include "core/pattern.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum model_format {
    MODEL_JSON,     /* Hugging Face tokenizer.json */
    MODEL_GPT2,     /* vocab.json and merges.txt */
    MODEL_TIKTOKEN, /* base64 and rank, with or without a sidecar */
    MODEL_MERGES,   /* `left right` lines for people; never read */
};

#define MODEL_PAD 16 /* bytes past each token's last that are readable (any content) */
#define MODEL_NO_ID UINT32_MAX

struct model_token {
    const unsigned char *p; /* the raw bytes; NULL: no token has this id */
    uint32_t len;
    bool vocab; /* in the model's vocabulary, where merging may make it or a pretoken be it; false: only an added token,
                   or out of reach (a key that is not in byte-to-unicode form) */
};

struct model_merge {
    uint32_t left, right, result; /* ids of vocabulary tokens; the result's bytes are left's and right's */
};

struct model_special {
    const unsigned char *p; /* valid UTF-8, not empty */
    uint32_t len, id; /* token[id] has the same bytes, unless it is a merge's result too that is only spelled so */
    bool special;     /* Hugging Face's flag: skipped on decoding if asked to */
    bool keyed;       /* its text is a key of the vocabulary, too */
};

struct model {
    struct model_token *token; /* by id */
    uint32_t n_ids;            /* ids are below */
    uint32_t byte_id[256];     /* the tokens of single bytes: all are there */
    struct model_merge *merge; /* by rank; no pair comes twice */
    size_t n_merges;
    bool by_rank; /* .tiktoken has no list of merges: two tokens merge whenever their bytes together are a vocabulary
                     token, and its id is the rank */
    bool ignore_merges; /* a pretoken that is a vocabulary token as a whole becomes that token, before any merge
                         (ignore_merges; always in .tiktoken) */
    struct model_special *special; /* added tokens, by id; distinct */
    size_t n_special;
    const char *pattern;       /* the name of a built-in pattern, if the file says so; else NULL. With a name other than
                                  "bytes", regex[0] is it as a regex, too, if the file or the options have it */
    struct str *regex;         /* each splits what those before it left, as Split with behavior Isolated: matches and
                                  what is between them are pretokens */
    size_t n_regex;            /* 0: no split at all (pattern "bytes"), or (pattern not "bytes") it is not known */
    enum model_format format;  /* what it was read from */
    bool merges_as_strings;    /* tokenizer.json has merges as "a b", which readers before tokenizers 0.20 need, and not
                                  as ["a","b"] */
    struct model_arena *arena; /* owns all the bytes */
    size_t token_bytes, merge_bytes; /* what was allocated for the arrays (sys/huge.h) */
};

/* What some files do not say and the command line may. All borrowed; zeroed: nothing. */
struct model_opts {
    const struct pattern *pattern;
    const char *const *special; /* "TOKEN" (the next id that is free above all) or "TOKEN=ID" */
    size_t n_special;
};

/* Reads the model at path ("-": standard input): a tokenizer.json or a .tiktoken file (with the sidecar PATH.json if it
 * is there), or the directory or either file of the pair vocab.json and merges.txt. Pattern and special tokens may be
 * given for a .tiktoken file without sidecar, a pattern for GPT-2's pair, else they are an error (EX_USAGE). *m is to
 * be freed after success. opts may be NULL. -1: EX_NOINPUT, EX_DATAERR (what is wrong, or cannot be honoured, is
 * named), EX_IOERR, EX_OSERR. */
int model_read(struct model *m, const char *path, const struct model_opts *opts, struct err *e);
void model_free(struct model *m); /* a zeroed one is fine */

/* The bytes of an id where nothing else is asked for: 2 if all fit, else 4. */
static inline unsigned model_id_bytes(const struct model *m)
{
    return m->n_ids <= 65536 ? 2 : 4;
}

#endif
