/* trainer.h - the trainer: learns BPE merges from counted pretokens.
 *
 * It is exact: after each merge the pair counts equal a full recount, in which a pair is counted at every adjacent
 * position ("aaa" holds (a,a) twice; once with count_once) and a merge replaces occurrences left to right. The result
 * depends only on the pretokens and their counts, not on the order in which they were added.
 *
 * It may also extend a model (trainer_extend): it goes on with pretokens that the model has encoded, as "Teaching Old
 * Tokenizers New Words" (Purason et al. 2025, arXiv 2512.03989) describes.
 */
#ifndef BPE_TRAIN_TRAINER_H
#define BPE_TRAIN_TRAINER_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/model.h"
#include "train/parity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which pair is merged first if several are the most frequent. */
enum train_tie {
    TRAIN_HF,  /* the smallest (left id, right id), with ids as Hugging Face's BpeTrainer assigns them: special tokens,
                * then bytes by code point of the GPT-2 byte-to-unicode map, then merges in order */
    TRAIN_LEX, /* the greatest (left bytes, right bytes), compared as byte strings (Stanford CS336) */
    TRAIN_ID,  /* the smallest (left id, right id), with ids in the order of byte values, then merges (rustbpe) */
    TRAIN_SMALLEST, /* the smallest (left, right) strings, as tokenizer.json spells them, by code point
                     * (tokenizer-extension) */
    TRAIN_GREATEST, /* the greatest of these (subword-nmt, parity-aware BPE) */
    TRAIN_LEAST,    /* the smallest (left bytes, right bytes), compared as byte strings (fastboundlessbpe) */
};

struct train_opts {
    enum train_tie tie;
    uint32_t vocab_size;    /* special tokens + 256 bytes + merges; >= 256 + n_special. When a model is extended: its
                             * tokens + special tokens + new tokens */
    uint64_t min_frequency; /* stop when the best pair has a lower count (0 and 1: stop at 0) */
    uint64_t max_token_len; /* pairs whose merge would be >= this many bytes are not made; HF's max_token_length: strict
                             * (<), and pairs of two single bytes are exempt. 0: no limit */
    bool count_once;        /* overlapping occurrences count once, as they are replaced ("aaa" holds (a,a) once;
                             * fastboundlessbpe); not with parity */
    bool utf8_boundaries;   /* tokens are whole characters or a part of one; see train_limits.h */
    const struct str *veto; /* strings that no token may contain, except a single byte; none is empty */
    size_t n_veto;
    const struct special_token *special;
    size_t n_special;
    /* TRAIN_JOINS: n_rivals counts, descending, of merges that compete for the same places in the vocabulary: of a
     * superword and one of these, the more frequent is next, of equal ones the rival. Training ends when n_rivals
     * places are taken, of which n_taken were taken by superwords before. NULL: none. Borrowed. */
    const uint64_t *rival;
    size_t n_rivals, n_taken;
    uint32_t window; /* for tests: maximum number of slots in a window (see train_corpus.c); 0: 2^32-1 */
    /* Called regularly with the number of merges made so far and the goal; NULL: not called. */
    void (*progress)(void *ctx, uint64_t done, uint64_t goal);
    void *progress_ctx;
};

struct trainer; /* opaque */

struct trainer *trainer_new(struct err *e);
void trainer_free(struct trainer *l); /* NULL is fine */

/* What a model is extended by. */
enum train_extension {
    TRAIN_WORDS,
    TRAIN_SUPERWORDS, /* tokens within superword_limits.h, without other limits, and not with a tie rule of bytes */
    TRAIN_JOINS,      /* superwords that join whole pretokens, without limits */
};

/* Before anything is added: extends this model, which must have a list of merges (convert_to_merges); it is borrowed
 * until trainer_free. With TRAIN_HF and TRAIN_ID, the model's ids decide ties. -1: out of memory. */
int trainer_extend(struct trainer *l, const struct model *base, enum train_extension by, struct err *e);

/* The same as trainer_add for the ids that the model encodes a pretoken to. */
int trainer_add_ids(struct trainer *l, const uint32_t *id, size_t n, uint64_t count, struct err *e);

/* The same: learns by parity of the languages 0 .. n - 1 (parity.h). trainer_add_language then replaces trainer_add;
 * dev: the pretoken is in the development text of the language. -1: out of memory. */
int trainer_balance(struct trainer *l, size_t n_languages, const struct parity_opts *o, struct err *e);
int trainer_add_language(struct trainer *l, size_t language, bool dev, const unsigned char *p, size_t len,
                         uint64_t count, struct err *e);

/* The bytes of a language's text, or of its development text if there are any, each pretoken as often as it counts. */
uint64_t trainer_language_bytes(const struct trainer *l, size_t language);

/* The same: multiplies all counts added so far by a factor. -1 as trainer_add. */
int trainer_scale(struct trainer *l, uint64_t by, struct err *e);

/* Adds a pretoken with its count (> 0), bytes *copied*. Add each pretoken only once: equal ones are not combined, so
 * adding one twice is harmless but slower. -1: out of memory, counts whose sum exceeds 2^64-1 (EX_DATAERR), or a
 * pretoken of 2^32-1 bytes or more (EX_DATAERR). */
int trainer_add(struct trainer *l, const unsigned char *p, size_t len, uint64_t count, struct err *e);

/* Before trainer_run: trainer_memory estimates the memory, in bytes, that learning from the added pretokens takes with
 * these options if those with a count below `min` are left out. trainer_least_within is the smallest `min` with which
 * that fits into this many bytes, 0 if not even the most frequent pretokens do. */
uint64_t trainer_memory(const struct trainer *l, const struct train_opts *o, uint64_t min);
uint64_t trainer_least_within(const struct trainer *l, const struct train_opts *o, uint64_t bytes);

/* Whether the last run ended because all places that rivals compete for are taken. */
bool trainer_is_full(const struct trainer *l);

/* Learns the merges: *merges are in order, with symbols as in model/model.h, and there are fewer than requested if no
 * remaining pair is frequent enough. When a model is extended, they are those to append to its merges, with ids; the
 * ids of new tokens follow its last. The caller frees them after success. Call it once, after the last add. */
int trainer_run(struct trainer *l, const struct train_opts *o, struct merge **merges, size_t *n, struct err *e);

/* What a merge did. */
struct train_step {
    uint64_t count; /* of its pair, when it was merged */
    uint64_t
        replaced; /* how many occurrences became the new token: fewer than `count` if they overlapped, as in "aaa" */
    uint32_t n_vocab; /* the tokens of the vocabulary after it, counted as for vocab_size */
};

/* Each merge's step. Borrowed until trainer_free. */
const struct train_step *trainer_steps(const struct trainer *l);

/* How many of the merges a run with this vocab_size would have made, which is at most that of the run. */
size_t trainer_merges(const struct trainer *l, uint32_t vocab_size);

#endif
