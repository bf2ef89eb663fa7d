/* stash.h - the words of a batch that has not ended yet: kept in memory or on disk until it is known whether they
 * count.
 */
#ifndef BPE_FORMATS_STASH_H
#define BPE_FORMATS_STASH_H

#include "formats/wire.h"
#include "sys/spill.h"
#include "sys/word.h"

#include <stddef.h>
#include <stdint.h>

/* Takes some pretokens, padded; borrowed during the call. */
typedef int stash_take_fn(void *ctx, const struct word *w, size_t n, struct err *e);

struct stash_piece;

struct stash {      /* zeroed: empty */
    struct buf log; /* entries of whole words, record after record */
    size_t *border; /* owned: where the log may be divided to go to disk, ascending */
    size_t n_border, cap_border;
    struct spill_block *block; /* owned: earlier parts of the log, on disk */
    size_t n_block, cap_block;
    struct buf long_bytes;     /* of long pretokens: what came in each record, one after the other */
    struct stash_piece *piece; /* owned: where each is */
    size_t n_piece, cap_piece, n_piece_on_disk;
};

/* Adds the words of one record, copied. */
int stash_put(struct stash *s, const struct words *w, struct err *e);

/* Memory in use, in bytes. */
size_t stash_bytes(const struct stash *s);

/* Moves what is in memory to disk. */
int stash_spill(struct stash *s, struct spill *spill, struct err *e);

/* Gives every pretoken to `take`. Records may have come in any order. -1 with EX_DATAERR if their fields are damaged.
 */
int stash_take(struct stash *s, const struct spill *spill, stash_take_fn *take, void *ctx, struct err *e);

/* Gives every pretoken of one record of kind WORDS_WHOLE to `take`, without a stash; RECORD_PAD bytes past p[n) are
 * readable. */
int stash_take_entries(const unsigned char *p, size_t n, stash_take_fn *take, void *ctx, struct err *e);

void stash_free(struct stash *s); /* empty again */

#endif
