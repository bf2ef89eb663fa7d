/* encode_pretoken.h - the tokens of one pretoken, however long: byte-pair encoding itself, without a cache.
 *
 * The pair of the lowest rank is merged, of equal ones the leftmost, as long as there is one (Sennrich et al., "Neural
 * Machine Translation of Rare Words with Subword Units", 2016; Hugging Face tokenizers and tiktoken do the same). A
 * pretoken of n bytes takes O(n log n) time and about 10 bytes of memory for each of its bytes.
 *
 * The algorithm depends on the pretoken and the model:
 *                            regular models (prepare.h)      others
 *   a few long runs          encode_repeats
 *   up to 1022 bytes         encode_vector, several together       up to 64: encode_short
 *   longer                   encode_long, by buckets of places   the same
 * A model of characters is encoded as one of bytes (model/character_model.h).
 *
 * After some pretokens a model is prepared for many (prepare_merges): then one that is not regular as it is may turn
 * out to be so, and the characters are known that certainly merge.
 */
#ifndef BPE_ENCODE_ENCODE_PRETOKEN_H
#define BPE_ENCODE_ENCODE_PRETOKEN_H

#include "base/sys/err.h"
#include "encode/encode_long.h"
#include "encode/encode_vector.h"
#include "encode/ids.h"
#include "encode/merge_lookup.h"
#include "model/character_model.h"

#include <stdbool.h>
#include <stddef.h>

struct pretoken_encoder {
    struct character_model *characters; /* owned; whose bytes are encoded; NULL: the model is one of bytes */
    struct merge_lookup merges;
    struct id_list out; /* the tokens of the last pretoken */
    struct long_encoder heap;
    const struct word_encoder *words;
    size_t n_pretokens; /* encoded so far */
};

/* The model is borrowed until pretoken_encoder_free. -1: out of memory. */
int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e);
void pretoken_encoder_free(struct pretoken_encoder *w); /* a zeroed one is fine */

/* Prepares the encoder for much text, which it does by itself after some pretokens. *fast: encode_vector and
 * encode_repeats take part, since the model is regular, if perhaps after merges that never happen were left out. -1:
 * out of memory. */
int pretoken_encoder_prepare(struct pretoken_encoder *w, bool *fast, struct err *e);

/* Sets w->out to the tokens of p[0 .. n), 0 < n < 2^32: for long ones, without encode_vector. -1: out of memory. */
int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e);

/* Encodes n of them, of any length; the more at once, the faster. -1: out of memory. */
int pretoken_encode_some(struct pretoken_encoder *w, struct word *word, size_t n, struct err *e);

#endif
