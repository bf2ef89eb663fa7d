/* character_model.h - a model of characters as a model of bytes that gives the same tokens, so that all that encodes
 * bytes encodes characters.
 *
 * A character of several bytes that is a token is made by merges of its own, from the left: of bytes a b c first a and
 * b, whose result is a token for this only (a part), then that and c. These merges rank before the model's own. The
 * first byte of a character never is a later one of another, so they take nothing but bytes of one character, and make
 * exactly the characters that are tokens; in UTF-8 no character is the beginning of another. All of this happens before
 * the first of the model's own merges, none of which takes a byte or a part: so these start from the characters, as
 * they should. A byte below 0x80 is a character: its token. All bytes that are none get tokens for this only, too.
 *
 * The ids of such tokens come after all of the model's. Those that are left after merging are unknown characters:
 * character_model_expand gives what these become.
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
    struct model
        bytes; /* of bytes; shares all it can with the other, and is not written or described. Its index is owned,
                           and its arrays: */
    struct model_token *token;
    struct merge *merge;
    struct buf text; /* the bytes of tokens that are not the model's */
};

/* m is borrowed until character_model_free. -1: out of memory; free it in any case. */
int character_model_init(struct character_model *c, const struct model *m, struct err *e);
void character_model_free(struct character_model *c); /* a zeroed one is fine */

/* Puts the ids of the model in the place of others, in a pretoken's n ids; there is room for an id for each of its
 * bytes. Returns how many there are then. */
size_t character_model_expand(const struct character_model *c, uint32_t *id, size_t n);

#endif
