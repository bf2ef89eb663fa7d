/* format_merges.h - merges as lines of text. */
#ifndef BPE_MODEL_FORMAT_MERGES_H
#define BPE_MODEL_FORMAT_MERGES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/model.h"

#include <stdbool.h>

#define MERGES_HEADER "#version"

/* Whether a line of merges is a header. Hugging Face drops all such lines, not only the first of a file, and also
 * merges in tokenizer.json that are such strings. So it also drops a merge whose left token begins like a header. */
bool merges_is_header(struct str line);

/* Appends a line for each merge: left, a space, right. Both are in byte-to-unicode form, so neither contains a space or
 * a newline. -1: out of memory. */
int merges_put_lines(struct buf *out, const struct model *m, struct err *e);

#endif
