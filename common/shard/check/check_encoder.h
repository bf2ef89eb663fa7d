/* check_encoder.h - re-encodes single documents, with the same code and settings as for the shards. */
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

/* How the sources were read, according to the manifest, from which strings are *borrowed*. -1 with EX_DATAERR: the
 * manifest does not record it. */
int check_reading(struct reading *r, const struct manifest *m, struct err *e);

/* m, model and name (of the model) are *borrowed*. c must not be moved. Call check_encoder_free also after an error. */
int check_encoder_init(struct check_encoder *c, const struct manifest *m, const struct model *model, const char *name,
                       struct err *e);
void check_encoder_free(struct check_encoder *c);

/* Encodes text to c->ids, of c->width bytes each. */
int check_encoder_text(struct check_encoder *c, const struct buf *text, struct err *e);

#endif
