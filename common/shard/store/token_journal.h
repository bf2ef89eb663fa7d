/* token_journal.h - DIR/.work/journal: what is durable, entry by entry. A file that is only appended to.
 *
 * It consists of records (wire/record.h): promises, as they came, and entries (RECORD_JOURNAL). They are written
 * in groups: any number of promise records, then an entry; a group is durable before the next is begun. An entry
 * knows where its group begins. So what a death leaves is a whole number of groups, then perhaps parts of one more,
 * which are cut off; anything else is damage.
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

/* What became durable. Strings are borrowed. */
struct journal_entry {
    uint64_t group;           /* where its group begins in the file */
    const unsigned char *run; /* ID_LEN bytes */
    bool commit;              /* false: it only ends a group of promises, and what follows is empty */
    uint64_t width;           /* bytes of an id; 0: not known yet */
    struct str rules, encoding;
    uint64_t skipped; /* bad lines left out so far, and the first of them: as in struct commit_run */
    struct str where;
    struct str sources;      /* those that became known by commits: commit_source_put */
    struct str segments;     /* those that were written to: varint number, varint length in bytes */
    struct str pieces;       /* pieces that were written to segments: journal_piece_put */
    uint64_t source, offset; /* all before this byte has been taken */
    struct str state;        /* of whoever took it */
};

/* A piece in a segment. */
int journal_piece_put(struct buf *out, const struct token_piece *piece, struct err *e);
struct token_piece journal_piece_get(struct cursor *c);

struct token_journal {
    int fd;
    char *path; /* owned */
    uint64_t len;
};

/* Gets the records of a group that is whole, in order; the entry is NULL if rec is a promise. */
typedef int journal_consume(void *ctx, const struct record *rec, const struct journal_entry *entry, struct err *e);

/* Opens DIR/.work/journal. resume: it may exist; all in it is passed to `consume`, and what is left of a last group is
 * cut off. Else it must not exist. -1: EX_CANTCREAT, EX_IOERR; EX_DATAERR: damaged, with the place. */
int token_journal_open(struct token_journal *j, const char *work, bool resume, journal_consume *consume, void *ctx,
                       struct err *e);
void token_journal_close(struct token_journal *j);

/* Appends a group, durably: promise records, and an entry (its `group` is set here). -1 with EX_IOERR: the journal is
 * as before. */
int token_journal_append(struct token_journal *j, const struct buf *promises, struct journal_entry *entry,
                         struct err *e);

#endif
