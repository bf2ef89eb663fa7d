/* model_build.h - shared by the readers of all formats: memory, tokens, merges, the final checks. */
#ifndef BPE_MODEL_MODEL_BUILD_H
#define BPE_MODEL_MODEL_BUILD_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/byte_level.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of tokens, or merges, in a batch: their memory is prefetched before it is needed. */
#define BUILD_BATCH 64

/* A merge whose tokens have not been looked up yet: the bytes of left and right, one after the other, in `text`. */
struct build_merge {
    size_t at;
    uint32_t left_len, right_len, left_hash, right_hash;
};

struct build {
    struct model *m;  /* borrowed; it owns everything added to it */
    const char *name; /* borrowed; for messages */
    struct err *e;    /* borrowed */
    size_t special_cap, regex_cap, split_cap;
    size_t n_tokens;
    struct hash_slot fresh[BUILD_BATCH]; /* tokens that are not in m->index yet */
    size_t n_fresh;
    struct build_merge *wait; /* merges whose tokens must still be looked up */
    size_t n_wait, wait_cap;
    struct buf text;
    uint64_t *made, *used; /* n_made bits each: which ids are the result of a merge, and which are a side of one */
    size_t n_made;
    bool made_twice;
    bool vocab_known; /* all tokens that merges may refer to have been added */
};

/* n_tokens is an estimate. m is zeroed first. -1: out of memory. */
int build_init(struct build *b, struct model *m, const char *name, size_t n_tokens, struct err *e);
void build_free(struct build *b); /* does not free the model */

/* A copy of n bytes, with a NUL added, that lives as long as the model. NULL: out of memory. */
const unsigned char *build_copy(struct build *b, const void *p, size_t n);

/* Adds a token with its id; p must live as long as the model. -1 with EX_DATAERR: the id is too large or already used,
 * or the token exists already (which build_tokens_end may be the first to report). */
int build_token(struct build *b, const unsigned char *p, size_t len, bool vocab, uint64_t id);
int build_tokens_end(struct build *b); /* call before tokens are looked up (model_find, token_find) */

/* build_merge_room allocates memory for the two tokens of a merge, of n bytes at most together (BYTE_LEVEL_PAD more may
 * be written); build_merge adds that merge, whose left token was written first. The tokens of merges are looked up in
 * order, immediately if vocab_known (build_tokens_end was called), and at the latest in build_merges_end. That also
 * drops all but the last of equal pairs, as Hugging Face does.
 */
unsigned char *build_merge_room(struct build *b, size_t n);
int build_merge(struct build *b, size_t left_len, size_t right_len);
int build_merges_end(struct build *b);
bool build_is_merged(const struct build *b, uint32_t id); /* whether it is a side or the result of a merge */

/* Removes a token from the vocabulary and sets its bytes to p; p as in build_token. -1 as there. */
int build_remove(struct build *b, uint32_t id, const unsigned char *p, size_t len);

int build_special(struct build *b, struct model_special s);
/* Adds an added token that is not a key of the vocabulary, and its token; p is *copied*. -1 as build_token. */
int build_special_apart(struct build *b, const unsigned char *p, size_t len, uint64_t id, bool special);
int build_regex(struct build *b, struct str regex);                 /* copied */
int build_split(struct build *b, struct str regex, unsigned split); /* the same; split: as a byte in struct rules */
int build_prefix(struct build *b, struct str prefix);               /* copied */
int build_pattern(struct build *b, const struct pattern *pattern);  /* its name and its regexes */

/* The final checks: all bytes that UTF-8 may contain exist (except in models of characters), and special tokens are
 * distinct. Sorts these. */
int build_end(struct build *b);
int build_special_end(struct build *b); /* only the check of special tokens */
/* The same if the ids are those of a file, some of which may be ignored: refuses only the same token twice. */
int build_special_end_unchecked(struct build *b);

/* For a format without flags of added tokens: -1 with EX_USAGE if a token has flags. what: the format's files. */
int build_refuse_flags(const struct model *m, const char *what, struct err *e);

/* Writes at most n - 1 bytes of a token for messages: in byte-to-unicode form, or (UTF-8) unchanged. Returns `to`. */
const char *build_show(char *to, size_t n, const unsigned char *p, size_t len, bool byte_level);

#endif
