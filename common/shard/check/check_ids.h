/* check_ids.h - the ids of a shard, as its format reads them: none is beyond the vocabulary; samples are taken. */
#ifndef BPE_SHARD_CHECK_CHECK_IDS_H
#define BPE_SHARD_CHECK_CHECK_IDS_H

#include "base/sys/err.h"
#include "model/model.h"
#include "shard/check/check_samples.h"
#include "shard/format/manifest.h"

#include <stdbool.h>
#include <stdint.h>

struct check_ids {
    const struct manifest *manifest;
    const struct model *model;     /* NULL: none; see check_ids_model */
    bool holes;                    /* it has no tokens for some ids */
    struct check_samples *samples; /* NULL: none */
    const char *dir;
    uint64_t n_ids; /* all ids must be smaller */
    /* Of the current shard. */
    const struct manifest_shard *shard;
    uint64_t token; /* its ids so far */
};

/* All ids must be tokens of this model (borrowed). */
void check_ids_model(struct check_ids *c, const struct model *m);

/* Reads all documents of a shard, as the format does. -1: EX_DATAERR with file and place. */
int check_ids_of(struct check_ids *c, const struct manifest_shard *s, struct err *e);

#endif
