/* batch_store.h - the words of a batch that has not ended yet: kept in memory or on disk until it is known whether they
 * count.
 */
#ifndef BPE_RECORDS_BATCH_STORE_H
#define BPE_RECORDS_BATCH_STORE_H

#include "core/pretoken.h"
#include "io/spill.h"
#include "records/payload.h"

#include <stddef.h>
#include <stdint.h>

/* Takes some pretokens, padded; borrowed during the call. */
typedef int batch_store_take_fn(void *ctx, const struct pretoken *w, size_t n, struct err *e);

struct long_part;

struct batch_store { /* zeroed: empty */
    struct buf log;  /* entries of whole words, record after record */
    size_t *border;  /* owned: where the log may be divided to go to disk, ascending */
    size_t n_border, cap_border;
    struct spill_block *block; /* owned: earlier parts of the log, on disk */
    size_t n_block, cap_block;
    struct buf long_bytes;   /* of long pretokens: what came in each record, one after the other */
    struct long_part *piece; /* owned: where each is */
    size_t n_piece, cap_piece, n_piece_on_disk;
};

/* Adds the words of one record, copied. */
int batch_store_put(struct batch_store *s, const struct words *w, struct err *e);

/* Memory in use, in bytes. */
size_t batch_store_bytes(const struct batch_store *s);

/* Moves what is in memory to disk. */
int batch_store_spill(struct batch_store *s, struct spill *spill, struct err *e);

/* Gives every pretoken to `take`. Records may have come in any order. -1 with EX_DATAERR if their fields are damaged.
 */
int batch_store_take(struct batch_store *s, const struct spill *spill, batch_store_take_fn *take, void *ctx,
                     struct err *e);

/* Gives every pretoken of one record of kind WORDS_WHOLE to `take`, without a stash; RECORD_PAD bytes past p[n) are
 * readable. */
int batch_store_take_entries(const unsigned char *p, size_t n, batch_store_take_fn *take, void *ctx, struct err *e);

void batch_store_free(struct batch_store *s); /* empty again */

#endif
