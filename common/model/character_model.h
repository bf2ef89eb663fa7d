/* character_model.h - converts a model of characters to a model of bytes that gives the same tokens, so that the
 * encoders of bytes can encode characters.
 *
 * Additional merges, from the left, make each multibyte character that is a token: for the bytes a b c, first a and b,
 * whose result is an auxiliary token (a part), then that part and c. These merges rank before the model's own. The
 * first byte of a character is never a later byte of another, so they merge only bytes of one character, and make
 * exactly the characters that are tokens; in UTF-8 no character is the beginning of another. All of this happens before
 * the first of the model's own merges, none of which takes a byte or a part. So these start from the characters, as
 * they should. A byte below 0x80 is a whole character, and its token is that of the character. All bytes that are not
 * tokens get auxiliary tokens, too.
 *
 * The ids of auxiliary tokens follow the model's. Auxiliary tokens that remain after merging are unknown characters;
 * character_model_expand replaces them.
 */
#ifndef BPE_MODEL_CHARACTER_MODEL_H
#define BPE_MODEL_CHARACTER_MODEL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

struct character_model {
    const struct model *model; /* of characters; borrowed */
    struct model bytes; /* of bytes; shares all with `model` except its index and these arrays, which are owned */
    struct model_token *token;
    struct merge *merge;
    struct buf text; /* the bytes of auxiliary tokens */
};

/* m is borrowed until character_model_free. -1: out of memory; free it in any case. */
int character_model_init(struct character_model *c, const struct model *m, struct err *e);
void character_model_free(struct character_model *c); /* a zeroed struct is fine */

/* Replaces the auxiliary ids among a pretoken's n ids by the model's; id[] has room for one id for each byte of the
 * pretoken. Returns the new number of ids. */
size_t character_model_expand(const struct character_model *c, uint32_t *id, size_t n);

#endif
