/* vocab_json.h - the vocabulary as a JSON object that maps tokens to ids: all of vocab.json, and a part of
 * tokenizer.json.
 *
 * Keys are tokens in the model's spelling. A key that does not spell a token is plain text, outside the vocabulary.
 */
#ifndef BPE_MODEL_VOCAB_JSON_H
#define BPE_MODEL_VOCAB_JSON_H

#include "model/model.h"
#include "model/model_build.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdbool.h>

/* Reads the object, which must come next. -1: error. */
int vocab_json_read(struct json_reader *r, struct build *b);

/* Sets *key to the key with this id. -1: out of memory. */
int vocab_json_key(struct buf *key, const struct model *m, uint32_t id, struct err *e);

/* Writes the object. all: include the added tokens that are not keys, for files that list them nowhere else. */
void vocab_json_write(struct json_writer *w, const struct model *m, bool all);

#endif
