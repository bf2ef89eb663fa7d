/* token_journal.h - DIR/.work/journal, an append-only file that records what is durable, entry by entry.
 *
 * It consists of records (wire/record.h): promises as received, and entries (RECORD_JOURNAL). They are written in
 * groups: any number of promise records, then an entry, which stores the offset of its group. A group is durable before
 * the next is begun. So a crash leaves complete groups, perhaps followed by part of one more, which is truncated;
 * anything else is damage.
 */
#ifndef BPE_SHARD_STORE_TOKEN_JOURNAL_H
#define BPE_SHARD_STORE_TOKEN_JOURNAL_H

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/store/token_batch.h"
#include "wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became durable. Strings are *borrowed*. */
struct journal_entry {
    uint64_t group;           /* where its group begins in the file */
    const unsigned char *run; /* ID_LEN bytes */
    bool commit;              /* false: the entry only ends a group of promises, and the fields below are empty */
    uint64_t width;           /* bytes of an id; 0: not known yet */
    struct str rules, encoding;
    uint64_t skipped; /* bad lines skipped so far, and the first of them: as in struct commit_run */
    struct str where;
    struct str sources;      /* sources that became known through commits: commit_source_put */
    struct str segments;     /* segments that were written to: varint number, varint length in bytes */
    struct str pieces;       /* pieces written to segments: journal_piece_put */
    uint64_t source, offset; /* everything before this position was consumed */
    struct str state;        /* of the consumer */
};

/* Encode and decode a piece in a segment. */
int journal_piece_put(struct buf *out, const struct token_piece *piece, struct err *e);
struct token_piece journal_piece_get(struct cursor *c);

struct token_journal {
    int fd;
    char *path; /* owned */
    uint64_t len;
};

/* Receives the records of a complete group, in order; the entry is NULL if rec is a promise. */
typedef int journal_consume(void *ctx, const struct record *rec, const struct journal_entry *entry, struct err *e);

/* Opens DIR/.work/journal. resume: it may exist; every complete group is passed to `consume`, and an incomplete last
 * group is truncated. Otherwise it must not exist. -1: EX_CANTCREAT, EX_IOERR; EX_DATAERR: damaged, with the offset. */
int token_journal_open(struct token_journal *j, const char *work, bool resume, journal_consume *consume, void *ctx,
                       struct err *e);
void token_journal_close(struct token_journal *j);

/* Appends a group durably: promise records, then an entry (this sets its `group`). -1 with EX_IOERR: the journal is
 * unchanged. */
int token_journal_append(struct token_journal *j, const struct buf *promises, struct journal_entry *entry,
                         struct err *e);

#endif
