/* post_processor.h - the post_processor of tokenizer.json: which tokens Hugging Face adds to a text. It has no effect
 * here, but it is kept, and it contains ids of tokens. */
#ifndef BPE_MODEL_POST_PROCESSOR_H
#define BPE_MODEL_POST_PROCESSOR_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"
#include "json/json_read.h"

#include <stdint.h>

/* Appends the next value, any JSON whose numbers are integers, in the form of tokenizer.json, where it is the value of
 * a key of the outermost object. -1: as json_read.h; out of memory. */
int post_processor_read(struct json_reader *r, struct buf *out, struct err *e);

/* Changes the ids in the model's post_processor: new_id[id], for ids below n. -1 with EX_USAGE: that is MODEL_NO_ID, as
 * the token is removed; or out of memory. */
int post_processor_renumber(struct model *m, const uint32_t *new_id, uint32_t n, struct err *e);

#endif
