/* encode_pretoken.h - the tokens of one pretoken, however long: byte-pair encoding itself, without a cache.
 *
 * The pair of the lowest rank is merged, of equal ones the leftmost, as long as there is one (Sennrich et al., "Neural
 * Machine Translation of Rare Words with Subword Units", 2016; Hugging Face tokenizers and tiktoken do the same). A
 * pretoken of n bytes takes O(n log n) time and about 16 bytes of memory for each of its bytes.
 */
#ifndef BPE_ENCODE_ENCODE_PRETOKEN_H
#define BPE_ENCODE_ENCODE_PRETOKEN_H

#include "encode/encode_backtrack.h"
#include "encode/encode_borders.h"
#include "encode/encode_long.h"
#include "encode/ids.h"
#include "encode/merge_ranks.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pretoken_encoder {
    struct merges merges;
    struct id_list out;          /* the tokens of the last pretoken */
    struct long_encoder by_rank; /* for long pretokens */
    size_t n_pretokens;          /* encoded so far; after many of them these are made: */
    struct borders borders;
    struct backtrack backtrack;
    bool has_backtrack; /* the model is suitable for it */
};

/* The model is borrowed until pretoken_encoder_free. -1: out of memory. */
int pretoken_encoder_init(struct pretoken_encoder *w, const struct model *model, struct err *e);
void pretoken_encoder_free(struct pretoken_encoder *w); /* a zeroed one is fine */

/* Sets w->out to the tokens of p[0 .. n), 0 < n < 2^32. -1: out of memory. */
int pretoken_encode(struct pretoken_encoder *w, const unsigned char *p, size_t n, struct err *e);

#endif
