/* model.h - a BPE model for encoding and decoding, independent of the format it was read from.
 *
 * How text becomes ids: added tokens are found in the raw text (leftmost first, the longest of several at one
 * position); regexes split the text between them into pretokens; a pretoken that as a whole is a token becomes that
 * token (if ignore_merges); otherwise it starts as its bytes, and while two neighbors can merge, the pair with the
 * lowest rank is merged, the leftmost of equal ones. In a model of characters (SentencePiece) a pretoken starts as its
 * characters: each one that is a token becomes that token; for others see struct model_unknown. In a model with
 * superwords of whole pretokens (n_super; BoundlessBPE), the last merges have no part in that: they are then applied in
 * the same way to each sequence of adjacent pretokens that are one token each. Hugging Face tokenizers
 * (add_special_tokens=False), tiktoken (allowed_special="all") and fastboundlessbpe do the same with the same file; a
 * file that needs anything else is rejected.
 */
#ifndef BPE_MODEL_MODEL_H
#define BPE_MODEL_MODEL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/spelling.h"
#include "model/token_index.h"
#include "pretok/pattern.h"
#include "pretok/rules.h"
#include "unicode/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A merge: two adjacent tokens become one. In a model the numbers are ids. From the trainer (train/trainer.h) they are
 * symbols: 0 .. 255 are the bytes by value, 256 + k is the result of merge k. */
struct merge {
    uint32_t left, right, result; /* the result's bytes are left's, then right's */
};

/* token[id] has the same bytes. */
struct model_special {
    const unsigned char *p; /* valid UTF-8, not empty */
    uint32_t len, id;
    unsigned flags; /* of enum special_flag */
    bool special;   /* Hugging Face's flag: decoding skips it on request */
    bool keyed;     /* its text is also a key of the vocabulary */
    bool whole; /* with ignore_merges: even if special tokens are text, a pretoken with this text becomes this token */
};

/* A model of characters: how characters that are not tokens are encoded. */
struct model_unknown {
    bool bytes;  /* as the tokens of their bytes, <0x00> to <0xFF>: byte_id; otherwise as `id` */
    bool fuse;   /* adjacent ones in a pretoken together become one token */
    uint32_t id; /* a token that no merge takes */
};

/* How a model of characters is decoded: the text of a token is its key, with these changes. */
struct model_decoding {
    bool spaces;      /* U+2581 is a space */
    bool bytes;       /* <0xNN> is that byte */
    bool strip;       /* one space at the start of the text is left out, though not by model_decode */
    bool strip_token; /* all U+2581 of the first token are left out */
    bool unknown;     /* the model does not define it: decoding is an error */
};

/* Whether superwords join whole pretokens (BoundlessBPE): struct model, n_super. */
enum model_joins {
    JOINS_NOT,
    JOINS_RUNS,    /* yes; or there are none yet, but training makes such ones */
    JOINS_COMPETE, /* the same, and in training they compete with merges of words for places in the vocabulary */
};

struct model_format; /* a row of the table in model/formats.h */
struct model_arena;

struct model {
    struct model_token *token;    /* by id */
    uint32_t n_ids;               /* all ids are smaller */
    struct token_index index;     /* finds tokens by their bytes: see model_index */
    enum spelling spelling;       /* of tokens in the file; any other than SPELLING_BYTE_LEVEL: a model of characters */
    struct model_unknown unknown; /* for models of characters */
    struct model_decoding decoding; /* for models of characters */
    uint32_t byte_id[256];          /* the tokens of single bytes; all 256 exist, unless lacks_bytes. For a model of
                                       characters see struct model_unknown; bytes that no unknown character has may have
                                       MODEL_NO_ID */
    bool lacks_bytes;    /* bytes that UTF-8 never contains have no tokens, and MODEL_NO_ID: see model_check_bytes */
    struct merge *merge; /* by rank, of ids of vocabulary tokens; no pair occurs twice */
    size_t n_merges;
    size_t n_super; /* the last n_super merges are those of superwords, of ids that one pretoken or several become */
    enum model_joins joins; /* has no influence on encoding; not JOINS_NOT if n_super > 0 */
    uint64_t *merge_count;  /* owned, by rank: how often the pair occurred when training merged it; NULL: not known */
    bool by_rank; /* .tiktoken has no list of merges: two tokens merge whenever their bytes together are a vocabulary
                     token, and the id of that token is the rank */
    bool ignore_merges; /* a pretoken that is a vocabulary token as a whole becomes that token, before any merge
                     (ignore_merges; always in .tiktoken) */
    struct model_special *special; /* added tokens, by id; distinct */
    size_t n_special;
    bool has_whole;                        /* at least one is `whole` */
    const struct model_special *eos, *pad; /* in special: the tokens that end a text and pad a batch, if the files name
                                              them; else NULL */
    const char *pattern;  /* the name of a built-in pattern, if the file has one (this version may not know it); else
                             NULL. Unless it is "bytes", regex[0] is the pattern's regex, if the file or the options
                             contain it */
    struct str *regex;    /* each splits the pieces that the previous ones made */
    unsigned char *split; /* how each regex splits, as in struct rules */
    size_t n_regex;       /* 0: text is not split (pattern "bytes"), or it is not known how (any other pattern) */
    struct str prefix;    /* as in struct rules */
    enum normalizer normalizer;
    struct metaspace metaspace;        /* as in struct rules; on with SPELLING_SPACES */
    struct str post_processor;         /* of tokenizer.json, as JSON text; empty: none */
    enum pattern_dialect dialect;      /* how to interpret the regexes */
    const struct model_format *format; /* the format it was read from or will be written in; borrowed */
    bool merges_as_strings;            /* tokenizer.json has merges as "a b", which readers before tokenizers 0.20 need,
                                          instead of ["a","b"] */
    struct model_arena *arena;         /* owns all bytes */
    size_t token_bytes, merge_bytes;   /* the allocated sizes of the two arrays (base/sys/huge.h) */
};

/* Whether a token is a byte that UTF-8 never contains. */
static inline bool model_token_never(const struct model_token *t)
{
    return t->len == 1 && utf8_never_contains(*t->p);
}

/* Whether pretokens start as characters. */
static inline bool model_of_characters(const struct model *m)
{
    return m->spelling != SPELLING_BYTE_LEVEL;
}

/* Frees everything that the model owns; a zeroed model is fine. */
void model_free(struct model *m);

/* Memory for n bytes, and MODEL_PAD after them, that lives as long as the model. model_keep sets how many bytes of the
 * last allocation are kept (the rest is reused for the next). NULL: out of memory. */
unsigned char *model_room(struct model *m, size_t n, struct err *e);
void model_keep(struct model *m, size_t kept);

/* Makes the index of all tokens, unless it exists already. A model that was read has it if encoding needs it: by_rank
 * or ignore_merges. -1: out of memory. */
int model_index(struct model *m, struct err *e);

/* The id of the vocabulary token p[0 .. n), else MODEL_NO_ID. MODEL_PAD bytes after p[n) must be readable. The model
 * must have an index. */
static inline uint32_t model_find(const struct model *m, const unsigned char *p, size_t n)
{
    return token_find(&m->index, m->token, p, n, true);
}

/* The same for the text of a special token that is `whole`. */
uint32_t model_find_whole(const struct model *m, const unsigned char *p, size_t n);

/* The number of tokens; ids without a token do not count. */
size_t model_n_tokens(const struct model *m);

/* Checks that each byte of p[0 .. n) is a token of a model of bytes. -1: EX_DATAERR: the first that is not. */
int model_check_bytes(const struct model *m, const unsigned char *p, size_t n, struct err *e);

/* The added token with this id; NULL: none. */
const struct model_special *model_special(const struct model *m, uint32_t id);

/* The added token with this text; NULL: none. */
const struct model_special *model_special_named(const struct model *m, struct str text);

/* Whether no merge in the list has a smaller result than the merge before it. */
bool model_in_order_of_ids(const struct model *m);

/* The name of the built-in pattern by which a model splits text, static; NULL: its regexes are not those of a built-in
 * pattern, or it does not define how text is split. */
const char *model_pattern(const struct model *m);

/* The same for display: "regex" if the regexes are not those of a built-in pattern, "unknown" if the model does not
 * define how text is split. */
const char *model_pattern_name(const struct model *m);

/* The regexes by which the model splits text, in this dialect: the model's own or, if it has none or they mean
 * something else in this dialect, those of the built-in pattern that it names or that they define. Borrowed. -1 with
 * EX_USAGE: no equivalent regexes. */
int model_regexes(const struct model *m, enum pattern_dialect dialect, const struct str **regex, size_t *n,
                  struct err *e);

/* How each regex splits, as in struct rules; empty if all matches are isolated. Borrowed. */
struct str model_split(const struct model *m);

/* Whether the model defines that text is not split (rather than not defining how). */
static inline bool model_is_unsplit(const struct model *m)
{
    return m->pattern && !strcmp(m->pattern, "bytes");
}

/* Appends the decoded text of a token of a model of characters; first: it is the first token of a text. The id must
 * have a token. -1: out of memory. */
int model_decode(const struct model *m, uint32_t id, bool first, struct buf *out, struct err *e);

/* A 64-bit hash of the model, by which records identify the model that made their ids. Two models with the same
 * fingerprint have the same tokens, each with the same id, and in both vocabularies or in neither. They make them in
 * the same order: in the order of their ids or, if the results of the merges are in another order, by the same merges.
 * So a model and its conversion to any other format have the same fingerprint, on every machine. It does not cover the
 * pattern, which tokens are special, and ignore_merges; nor, if tokens are made in the order of their ids, the two
 * parts of each token, because .tiktoken does not have them. */
uint64_t model_fingerprint(const struct model *m);

/* The special token that ends a text, and so separates documents: `eos`, else the first usual name in the model, else
 * its only special token, unless that is for padding; NULL: none of these. It may be a token that is not recognized in
 * text. */
const struct model_special *model_eos(const struct model *m);

/* The special token for padding: `pad`, else the first usual name in the model; NULL: none. */
const struct model_special *model_pad(const struct model *m);

/* The same for a model whose files name neither `eos` nor `pad`. */
const struct model_special *model_assumed_eos(const struct model *m);
const struct model_special *model_assumed_pad(const struct model *m);

/* The default width of an id in bytes: 2 if all ids fit, else 4. */
static inline unsigned model_id_bytes(const struct model *m)
{
    return m->n_ids <= 65536 ? 2 : 4;
}

/* ---- The part of struct rules that a model determines: the pattern and the special tokens ---- */

/* Sets the pattern (the name of a built-in one, or NULL) or the regexes; strings are borrowed. If the model has
 * neither, both remain empty. -1: out of memory. */
int model_rules_pattern(struct rules *r, const struct model *m, const char *pattern, struct err *e);

/* Whether an added token is recognized in text: always, except special tokens if these are text. */
static inline bool model_finds(const struct model_special *s, bool special_is_text)
{
    return !special_is_text || !s->special;
}

/* The flags of the added token with this text; 0: no such token. */
unsigned model_special_flags(const struct model *m, struct str text);

/* Sets the special tokens that are recognized; strings are borrowed. -1: out of memory. */
int model_rules_special(struct rules *r, const struct model *m, bool special_is_text, struct err *e);

#endif
