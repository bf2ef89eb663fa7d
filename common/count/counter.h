/* counter.h - counts the pretokens of text: a pretokenizer whose pretokens go to a table. A counter is for one set of
 * rules. All sources of a run share it, because how a source is read does not affect how its pretokens are counted.
 *
 * The text of a SentencePiece model may be one pretoken. It is counted by its words, each with the spaces before it,
 * and by its lines, if tokens do not span them: in the models of SentencePiece's trainer, no merge joins two of these.
 */
#ifndef BPE_COUNT_COUNTER_H
#define BPE_COUNT_COUNTER_H

#include "base/sys/ratio.h"
#include "count/table.h"
#include "pretok/char_pairs.h"
#include "pretok/pretokenize.h"
#include "wire/batch.h"

#include <stdbool.h>
#include <stdint.h>

struct counter {
    struct pretokenizer pretokenizer; /* pass it text with pretokenize_text; its invalid policy may be changed */
    struct table table;               /* the counts: may be read and cleared */
    struct char_pairs pairs;          /* for SentencePiece */
};

/* Like pretokenizer_open. The counter must not be moved. */
int counter_open(struct counter *c, const struct rules *rules, enum invalid_policy invalid, struct err *e);
void counter_close(struct counter *c); /* a zeroed counter is fine */

/* Whether the counts take at least `memory` bytes. partly: and are enough to write only a part of a batch. */
bool counter_is_full(const struct counter *c, uint64_t memory, bool partly);

/* Adds the counts to a batch, multiplied by a weight, which must be the same for the whole batch, and empties the
 * table. -1: EX_DATAERR: the products do not fit; or an error of batch_pretoken. */
int counter_put(struct counter *c, struct ratio weight, struct batch *b, struct err *e);

/* Adds one pretoken in the same way. */
int counter_put_word(struct pretoken word, struct ratio weight, struct batch *b, struct err *e);

#endif
