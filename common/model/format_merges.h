/* format_merges.h - merges as lines of text. */
#ifndef BPE_MODEL_FORMAT_MERGES_H
#define BPE_MODEL_FORMAT_MERGES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/model.h"

#include <stdbool.h>

#define MERGES_HEADER "#version"

/* Whether a line of merges is a header. Hugging Face drops all such lines, not only the first of a file, and of merges
 * in tokenizer.json that are strings as well. A merge whose left begins so is dropped with them. */
bool merges_is_header(struct str line);

/* Appends a line for each merge: left, a space, right, both in byte-to-unicode form, so that neither holds a space or a
 * newline. -1: out of memory. */
int merges_put_lines(struct buf *out, const struct model *m, struct err *e);

#endif
