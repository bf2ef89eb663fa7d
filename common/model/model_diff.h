/* model_diff.h - how two models differ. */
#ifndef BPE_MODEL_MODEL_DIFF_H
#define BPE_MODEL_MODEL_DIFF_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "model/model.h"

/* Appends the differences, one on each line: `- ` is only in a, `+ ` only in b (bpe-model(1), DIFFERENCES). Nothing if
 * there are none. If one of the models merges by rank, the merges that never happen are left out. It makes the indexes
 * of the models and, of those that merge by rank, the list of merges. -1: out of memory. */
int model_diff(struct buf *out, struct model *a, struct model *b, struct err *e);

#endif
