/* token_store_internal.h - shared by the parts of token_store.h: token_store.c; token_memory.c (batches in memory);
 * token_origin.c (whether ids belong together); token_resume.c (resuming from a journal). Only these include it; others
 * include token_store.h.
 */
#ifndef BPE_SHARD_STORE_TOKEN_STORE_INTERNAL_H
#define BPE_SHARD_STORE_TOKEN_STORE_INTERNAL_H

#include "shard/store/token_backlog.h"
#include "shard/store/token_batch.h"
#include "shard/store/token_journal.h"
#include "shard/store/token_pool.h"
#include "shard/store/token_reader.h"
#include "shard/store/token_segments.h"
#include "shard/store/token_store.h"

struct token_store {
    uint64_t memory; /* bytes for ids */
    struct ledger ledger;
    struct token_pool pool;
    struct token_segments segments;
    struct token_journal journal;
    struct token_backlog backlog;
    struct token_reader reader;
    struct token_batch *batches; /* owned list: open ones, and complete ones with pieces in memory */
    uint64_t used;               /* bytes of memory of all batches */
    unsigned char run[ID_LEN];   /* the only run, if has_run */
    bool has_run, promised;      /* promised: the promise is in the journal */
    unsigned width;              /* bytes of an id; 0: not known */
    struct buf encoding;         /* as in a commit; empty: not known */
    struct commit_encoding how;  /* the same, decoded */
    uint64_t source, offset;     /* everything before this position was consumed */
    struct tokens tokens;        /* the record being put */
    struct buf promises;         /* promise records that are not in the journal yet, */
    struct buf sources, pieces;  /* and what is new for its next entry */
    struct buf state;            /* of the last entry */
    uint64_t skipped;            /* bad lines, as in the last entry that was read */
    bool flush;                  /* as in the part that was returned last */
    size_t n_retired;            /* batches */
    bool header_written;         /* the journal has the rules, the encoding and the width */
    uint64_t uncommitted;
};

/* A new, empty batch; NULL: out of memory. The caller may close it; closing the store does, too. */
struct token_batch *token_store_open_batch(struct token_store *s, struct err *e);
void token_store_close_batch(struct token_store *s, struct token_batch *b);

/* Releases one piece of a batch that waited in memory. */
void token_store_let_go(struct token_store *s, struct token_batch *b);

/* Closes the retired batches: nothing borrows their memory any more. */
void token_store_close_spent(struct token_store *s);

/* Writes all pieces that wait in memory to segments, in corpus order. */
int token_store_move_waiting(struct token_store *s, struct err *e);

/* Moves ids to files until half of the memory is free. */
int token_store_make_room(struct token_store *s, struct err *e);

/* Whether a record belongs to the store's only run, which the first record determines. */
int token_store_check_run(struct token_store *s, const unsigned char *run, struct err *e);

/* Whether ids were encoded like the earlier ones; the first batch decides. */
int token_store_check_encoding(struct token_store *s, struct str encoding, unsigned width, struct err *e);

/* Adds the sources that a commit names. */
int token_store_learn_sources(struct token_store *s, struct str sources, struct err *e);

/* Whether the sources of all ranges are known, and large enough for them. */
int token_store_check_sources(const struct token_store *s, const struct commit_run *r, struct err *e);

/* Takes a record of the journal: a journal_consume. ctx: the store. */
int token_store_read_record(void *ctx, const struct record *rec, const struct journal_entry *entry, struct err *e);

#endif
