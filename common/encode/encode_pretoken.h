/* encode_pretoken.h - encodes one pretoken of any length: byte-pair encoding itself, without a cache.
 *
 * It merges the pair with the lowest rank, the leftmost of equal ones, until no pair merges (Sennrich et al., "Neural
 * Machine Translation of Rare Words with Subword Units", 2016; Hugging Face tokenizers and tiktoken do the same). A
 * pretoken of n bytes takes O(n log n) time and about 10 bytes of memory for each of its bytes.
 *
 * The algorithm depends on the pretoken and the model:
 *                          regular models (prepare.h)           others
 *   a few long repeats     encode_repeats                       as below
 *   up to 1022 bytes       encode_vector, several together      encode_short up to 64 bytes, then encode_long
 *   longer                 encode_long, buckets of positions    encode_long
 * A model of characters is encoded as one of bytes (model/character_model.h).
 *
 * After some pretokens, prepare_merges prepares the model for more: it may find that a model whose list is not regular
 * encodes like a regular one, and it finds the characters that certainly merge.
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
    struct character_model *characters; /* owned; encodes as a model of bytes; NULL: the model is one of bytes */
    struct merge_lookup merges;
    struct id_list out; /* the tokens of the last pretoken */
    struct long_encoder heap;
    const struct word_encoder *words;
    size_t n_pretokens; /* number of pretokens encoded so far */
};

/* The model is borrowed until pretoken_encoder_free. -1: out of memory. */
int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e);
void pretoken_encoder_free(struct pretoken_encoder *w); /* a zeroed struct is fine */

/* Prepares the encoder for much text. Without this call, that happens automatically after some pretokens. *fast:
 * whether encode_vector and encode_repeats are used, because the model is regular, perhaps after leaving out merges
 * that never happen. -1: out of memory. */
int pretoken_encoder_prepare(struct pretoken_encoder *w, bool *fast, struct err *e);

/* Sets w->out to the tokens of p[0 .. n), 0 < n < 2^32. For long pretokens: it does not use encode_vector. -1: out of
 * memory; EX_DATAERR: model_check_bytes. */
int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e);

/* Encodes n pretokens of any length; the more at a time, the faster. -1: as above. */
int pretoken_encode_some(struct pretoken_encoder *w, struct word *word, size_t n, struct err *e);

#endif
