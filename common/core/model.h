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

#include "core/merge.h"
#include "core/pattern.h"
#include "core/token_index.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_special {
    const unsigned char *p; /* valid UTF-8, not empty */
    uint32_t len, id;       /* token[id] has the same bytes, unless it is in the vocabulary too, whose keys are in
                         byte-to-unicode form: then it may have those that the text stands for there */
    bool special;           /* Hugging Face's flag: skipped on decoding if asked to */
    bool keyed;             /* its text is a key of the vocabulary, too */
};

struct model_format; /* a row of the table in model/formats.h */
struct model_arena;

struct model {
    struct model_token *token; /* by id */
    uint32_t n_ids;            /* ids are below */
    struct token_index index;  /* of the tokens, by id: see model_index */
    uint32_t byte_id[256];     /* the tokens of single bytes: all are there */
    struct merge *merge;       /* by rank, of ids of vocabulary tokens; no pair comes twice */
    size_t n_merges;
    bool by_rank; /* .tiktoken has no list of merges: two tokens merge whenever their bytes together are a vocabulary
                     token, and its id is the rank */
    bool ignore_merges; /* a pretoken that is a vocabulary token as a whole becomes that token, before any merge
                         (ignore_merges; always in .tiktoken) */
    struct model_special *special; /* added tokens, by id; distinct */
    size_t n_special;
    const char *pattern; /* the name of a built-in pattern, if the file says so (it may be one that is not known here);
                            else NULL. With a name other than "bytes", regex[0] is it as a regex, too, if the file or
                            the options have it */
    struct str *regex;   /* each splits what those before it left, as Split with behavior Isolated: matches and what is
                            between them are pretokens */
    size_t n_regex;      /* 0: no split at all (pattern "bytes"), or (pattern not "bytes") it is not known */
    enum pattern_dialect dialect;      /* how the regexes are to be read */
    const struct model_format *format; /* what it was read from, or is to be written as; borrowed */
    bool merges_as_strings;            /* tokenizer.json has merges as "a b", which readers before tokenizers 0.20 need,
                                          and not as ["a","b"] */
    struct model_arena *arena;         /* owns all the bytes */
    size_t token_bytes, merge_bytes;   /* what was allocated for the arrays (sys/huge.h) */
};

/* Releases what the model owns; a zeroed one is fine. */
void model_free(struct model *m);

/* Room for n bytes, and MODEL_PAD after them, that live as long as the model; kept is how many of the last room stay
 * (the others are given again). NULL: out of memory. */
unsigned char *model_room(struct model *m, size_t n, struct err *e);
void model_keep(struct model *m, size_t kept);

/* Makes the index of all tokens, if it is not there yet. Models that were read have it if encoding needs it: by_rank or
 * ignore_merges. -1: out of memory. */
int model_index(struct model *m, struct err *e);

/* The id of the vocabulary token p[0 .. n), which has MODEL_PAD readable bytes past its end; else MODEL_NO_ID. Of a
 * model with an index. */
static inline uint32_t model_find(const struct model *m, const unsigned char *p, size_t n)
{
    return token_find(&m->index, m->token, p, n, true);
}

/* The name of the built-in pattern by which a model splits text, static; NULL: its regexes define none of them, or it
 * does not say. */
const char *model_pattern(const struct model *m);

/* Whether text is not split at all (and not: the model does not say how). */
static inline bool model_is_unsplit(const struct model *m)
{
    return m->pattern && !strcmp(m->pattern, "bytes");
}

/* The model in 64 bits, for records to say by which model ids were made. Two models with the same fingerprint have the
 * same tokens, each with the same id and alike in or outside of the vocabulary, and make them in the same order: that
 * of their ids, or, where the results of the merges are in another order, by the same merges. So it is the same for a
 * model and what it was converted to, whatever the format, on every machine. Pattern, special tokens as such, and
 * ignore_merges are not in it; nor are, where tokens are made in the order of their ids, the two parts that each is
 * made from, as .tiktoken does not say them. */
uint64_t model_fingerprint(const struct model *m);

/* The bytes of an id where nothing else is asked for: 2 if all fit, else 4. */
static inline unsigned model_id_bytes(const struct model *m)
{
    return m->n_ids <= 65536 ? 2 : 4;
}

#endif
