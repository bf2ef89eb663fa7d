/* encode_word.h - the tokens of one pretoken, however long: byte-pair encoding itself, without remembering anything.
 *
 * Again and again the pair of lowest rank is merged, of several the leftmost (Sennrich et al., "Neural Machine
 * Translation of Rare Words with Subword Units", 2016; Hugging Face tokenizers and tiktoken do the same). Of a pretoken
 * of n bytes this takes O(n log n) time, and some 16 bytes of memory each.
 */
#ifndef BPE_ENCODE_ENCODE_WORD_H
#define BPE_ENCODE_ENCODE_WORD_H

#include "encode/encode_backtrack.h"
#include "encode/encode_borders.h"
#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct word_encoder {
    struct merges merges;
    /* The tokens of the last word. */
    uint32_t *id; /* owned; borrowed by who asks, until the next word */
    size_t n, cap;
    /* When there were many words. */
    struct borders borders;
    struct backtrack greedy; /* for short ones */
    bool is_greedy;
    size_t n_words;
    /* For long ones, when the first one comes. */
    struct bucket *bucket; /* by rank: where its pair stood when it was seen */
    size_t n_ranks;
    uint32_t *len;    /* of each token, in bytes */
    uint32_t *active; /* heap of the ranks whose bucket is not empty */
    size_t n_active, cap_active;
};

/* The model is borrowed until word_encoder_free. -1: out of memory. */
int word_encoder_init(struct word_encoder *w, const struct model *model, struct err *e);
void word_encoder_free(struct word_encoder *w); /* a zeroed one is fine */

/* Sets w->id[0 .. w->n) to the tokens of p[0 .. n), 0 < n < 2^32. -1: out of memory. */
int word_encode(struct word_encoder *w, const unsigned char *p, size_t n, struct err *e);

#endif
