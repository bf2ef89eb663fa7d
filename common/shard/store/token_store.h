/* token_store.h - takes token batches in any order, with repeats, from any process; returns their pieces in corpus
 * order, each once. Committed pieces survive a crash.
 *
 *     token_store_put         takes any record of the input streams
 *     token_store_next        returns the next piece in corpus order, if it has arrived
 *     token_store_commit      makes durable: all complete batches, which pieces token_store_next has returned, and the
 *                             state of their consumer
 *
 * Terms:
 *   piece     bytes of a source (the piece's span) that one process has encoded from first to last (struct token_piece)
 *   extent    consecutive records of one piece, contiguous in memory or in a segment. A piece is returned in parts: a
 *             part is one extent, or several
 *   segment   a file of extents that wait for their turn
 *
 * The ledger decides which batches count. The ids of open batches, and of complete ones whose turn has not come, are in
 * memory, up to a limit. Above the limit (and for complete batches at each commit) they move to segments: append-only
 * files in DIR/.work, which are deleted when everything in them was consumed and a commit has recorded that
 * (token_segments.h). The journal, DIR/.work/journal, records what is durable (token_journal.h).
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

/* work: DIR/.work, which must exist. memory: bytes for ids. resume: continue from the journal, if there is one;
 * otherwise there must be none. NULL on error: EX_DATAERR (the journal is damaged before its end, or segments do not
 * hold what it records), EX_IOERR, EX_CANTCREAT. */
struct token_store *token_store_open(const char *work, uint64_t memory, bool resume, struct err *e);
void token_store_close(struct token_store *s);

/* The state in the journal's last entry, *borrowed* until the next commit; empty if there is no entry. */
struct str token_store_state(const struct token_store *s);

/* Takes one record. -1: e.g. EX_DATAERR; the stream is then damaged, but records taken before are kept. */
int token_store_put(struct token_store *s, const struct record *rec, const char *stream, struct err *e);

/* How the ids were made: known once the first batch has ended; NULL until then. */
const struct commit_encoding *token_store_encoding(const struct token_store *s);
struct str token_store_rules(const struct token_store *s); /* encoded */
unsigned token_store_width(const struct token_store *s);   /* bytes of an id; 0: not known yet */

/* A source of the run, if its promise or a commit has named it. False: unknown. */
bool token_store_source(const struct token_store *s, uint64_t number, struct source_facts *to);

/* 1: the next part, in order of source and offset; 0: it has not arrived yet; -1. An empty source has no parts. */
int token_store_next(struct token_store *s, struct token_part *p, struct err *e);

/* Bytes of ids and marks of batches that became complete since the last commit: a crash would lose them. */
uint64_t token_store_uncommitted(const struct token_store *s);

/* Call it only between pieces, after making the caller's own files durable. */
int token_store_commit(struct token_store *s, const struct buf *state, struct err *e);

/* The ledger of what is complete and what is missing, for ledger_finish and coverage_put_missing. */
struct ledger *token_store_ledger(struct token_store *s);

/* Whether token_store_next has returned all promised input, as it does in the end if nothing is missing. */
bool token_store_at_end(struct token_store *s);

#endif
