/* format_merges.h - merges as lines of text. */
#ifndef BPE_MODEL_FORMAT_MERGES_H
#define BPE_MODEL_FORMAT_MERGES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

/* Appends a line for each merge: left, a space, right, both in byte-to-unicode form, so that neither holds a space or a
 * newline. -1: out of memory. */
int merges_put_lines(struct buf *out, const struct model *m, struct err *e);

#endif
