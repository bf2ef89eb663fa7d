/* token_store.h - token batches in, in any order, repeated, from anywhere; their pieces out, in corpus order, each
 * once. What has come is durable: it survives the death of the process.
 *
 *     token_store_put         any record of the streams that are read
 *     token_store_next        the next piece in corpus order, if it has come
 *     token_store_commit      makes durable: all complete batches, which pieces were taken by token_store_next, and the
 *                             state of whoever took them
 *
 * What lies where has three names:
 *   piece     what a process has encoded from its first byte to its last (struct token_piece, whose bytes are its span)
 *   extent    records of one piece that follow each other, in one place: in memory, or in a segment. What is given out
 *             of a piece at a time is a part: an extent, or several
 *   segment   a file of extents that wait for their turn
 *
 * The ledger decides which batches count. The ids of open batches, and of complete ones whose turn has not come, are in
 * memory, up to a limit; above it, and at each commit (complete batches only), they go to segments: files in DIR/.work
 * that are only appended to, and deleted when all in them has been taken and that is durable (token_segments.h). What
 * is durable is said by the journal, DIR/.work/journal (token_journal.h).
 */
#ifndef BPE_SHARD_STORE_TOKEN_STORE_H
#define BPE_SHARD_STORE_TOKEN_STORE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/store/token_extent.h"
#include "wire/commit.h"
#include "wire/ledger.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct token_store; /* opaque */

/* work: DIR/.work, which exists. memory: bytes for ids. resume: go on with the journal, if there is one; else there
 * must be none. NULL on error: EX_DATAERR (the journal is damaged before its end, or segments do not hold what it
 * says), EX_IOERR, EX_CANTCREAT. */
struct token_store *token_store_open(const char *work, uint64_t memory, bool resume, struct err *e);
void token_store_close(struct token_store *s);

/* The state of the last entry of the journal (borrowed until the next commit; empty: none). */
struct str token_store_state(const struct token_store *s);

/* Takes one record. -1: EX_DATAERR ... ; the stream is then damaged, but what came before it stays. */
int token_store_put(struct token_store *s, const struct record *rec, const char *stream, struct err *e);

/* How the ids were made, known when the first batch has ended; NULL: not yet. */
const struct commit_encoding *token_store_encoding(const struct token_store *s);
struct str token_store_rules(const struct token_store *s); /* encoded */
unsigned token_store_width(const struct token_store *s);   /* bytes of an id; 0: not known yet */

/* A source of the run, as far as known: by its promise, or by a commit. False: not known. */
bool token_store_source(const struct token_store *s, uint64_t number, struct source_facts *to);

/* 1: the next part, in order of source and offset; 0: it has not come. An empty source has no part. */
int token_store_next(struct token_store *s, struct token_part *p, struct err *e);

/* Bytes of ids and marks, of the batches that became complete since the last commit: a death would lose them. */
uint64_t token_store_uncommitted(const struct token_store *s);

/* Between pieces only. The caller has made its own files durable. */
int token_store_commit(struct token_store *s, const struct buf *state, struct err *e);

/* What is complete and missing, for ledger_finish and coverage_put_missing. */
struct ledger *token_store_ledger(struct token_store *s);

/* Whether all that was promised has been taken by token_store_next: so it is, if nothing is missing. */
bool token_store_at_end(struct token_store *s);

#endif
