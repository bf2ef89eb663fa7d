/* model_text.h - the properties of a model as lines of text, `key: value`, for bpe-model. */
#ifndef BPE_MODEL_MODEL_TEXT_H
#define BPE_MODEL_MODEL_TEXT_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* All append to out. -1: out of memory. */

/* Text, with control characters as \xHH, so that it remains one line. */
int model_put_text(struct buf *out, const void *text, size_t len, struct err *e);

/* How text is split into pretokens, and how a model of characters begins: the pattern, its regexes if requested, the
 * normalizer and so on. */
int model_put_rules(struct buf *out, const struct model *m, bool regexes, struct err *e);

/* A special token with a role, such as eos; NULL: nothing is appended. */
int model_put_role(struct buf *out, const char *role, const struct model_special *s, struct err *e);

/* The flags of an added token; nothing if it is special and has none. */
int model_put_flags(struct buf *out, const struct model_special *s, struct err *e);

/* All added tokens, with their flags. */
int model_put_special(struct buf *out, const struct model *m, struct err *e);

#endif
