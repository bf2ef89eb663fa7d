/* check_encoder.h - encodes single documents again, by the same code and in the same way as for the shards. */
#ifndef BPE_SHARD_CHECK_CHECK_ENCODER_H
#define BPE_SHARD_CHECK_CHECK_ENCODER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/chunk_encoder.h"
#include "model/model.h"
#include "shard/format/manifest.h"

struct check_encoder {
    struct chunk_encoder encoder;
    struct chunk_run *run; /* owned by the encoder */
    struct input *nothing; /* an empty file */
    struct reading reading;
    uint64_t n; /* documents so far */
    int fd;     /* an unlinked temporary file */
    unsigned width;
    struct buf ids; /* of the last document */
};

/* How the sources were read, by the manifest. Strings are borrowed from it. -1 with EX_DATAERR: it does not say. */
int check_reading(struct reading *r, const struct manifest *m, struct err *e);

/* m, model and name (of the model) are borrowed. c must not be moved. check_encoder_free also after an error. */
int check_encoder_init(struct check_encoder *c, const struct manifest *m, const struct model *model, const char *name,
                       struct err *e);
void check_encoder_free(struct check_encoder *c);

/* Sets c->ids, of c->width bytes each. */
int check_encoder_text(struct check_encoder *c, const struct buf *text, struct err *e);

#endif
