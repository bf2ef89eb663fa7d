/* model_build.h - what the readers of all formats share: memory, tokens, merges, the last checks. */
#ifndef BPE_MODEL_MODEL_BUILD_H
#define BPE_MODEL_MODEL_BUILD_H

#include "core/byte_level.h"
#include "core/model.h"
#include "sys/buf.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many tokens, or merges, make a batch: their memory is asked for (prefetched) before it is needed. */
#define BUILD_BATCH 64

/* A merge whose tokens are still to be found: left's and right's bytes, one after the other, in `text`. */
struct build_merge {
    size_t at;
    uint32_t left_len, right_len, left_hash, right_hash;
};

struct build {
    struct model *m;  /* borrowed; what is put into it is owned by it */
    const char *name; /* borrowed; for messages */
    struct err *e;    /* borrowed */
    size_t special_cap, regex_cap;
    size_t n_tokens;
    struct slot fresh[BUILD_BATCH]; /* tokens that are not in m->index yet */
    size_t n_fresh;
    struct build_merge *wait; /* merges to be found */
    size_t n_wait, wait_cap;
    struct buf text;
    uint64_t *made, *used; /* n_made bits each: which ids are a merge's result, and which a side */
    size_t n_made;
    bool made_twice;
    bool vocab_known; /* all tokens that merges may name are there */
};

/* For about n_tokens (a guess). m is zeroed first. -1: out of memory. */
int build_init(struct build *b, struct model *m, const char *name, size_t n_tokens, struct err *e);
void build_free(struct build *b); /* not the model */

/* As model_room and model_keep. */
unsigned char *build_room(struct build *b, size_t n);
void build_keep(struct build *b, size_t kept);
const unsigned char *build_copy(struct build *b, const void *p, size_t n);

/* Gives a token its id; p lives as long as the model. -1 with EX_DATAERR: the id is too large or taken, or the token is
 * there already (which may come to light as late as build_tokens_end). */
int build_token(struct build *b, const unsigned char *p, size_t len, bool vocab, uint64_t id);
int build_tokens_end(struct build *b); /* before any is looked for */

/* The id of a token, or MODEL_NO_ID. MODEL_PAD bytes past the last must be readable. */
uint32_t build_find(const struct build *b, const unsigned char *p, size_t len, bool vocab);

/* Room for a merge whose two tokens have together at most n bytes (BYTE_LEVEL_PAD more may be written), and the merge:
 * left is what was written first. They are found, in order, when vocab_known (all tokens are there, build_tokens_end),
 * at the latest by build_merges_end, which also drops all but the last of a pair that comes twice, as Hugging Face
 * does.
 */
unsigned char *build_merge_room(struct build *b, size_t n);
int build_merge(struct build *b, size_t left_len, size_t right_len);
int build_merges_end(struct build *b);
bool build_is_merged(const struct build *b, uint32_t id); /* whether a merge names it */

int build_special(struct build *b, struct model_special s);
int build_regex(struct build *b, struct str regex);                /* copied */
int build_pattern(struct build *b, const struct pattern *pattern); /* its name and its regexes */

/* The last checks: all bytes are there, special tokens are distinct (they are put in order). */
int build_end(struct build *b);

/* At most n - 1 bytes of a token as messages show it: in byte-to-unicode form, or (UTF-8) as it is. Returns to. */
const char *build_show(char *to, size_t n, const unsigned char *p, size_t len, bool byte_level);

#endif
