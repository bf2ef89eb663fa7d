/* chunk_feed.h - from the records of bpe-chunk to those that workers get (dispatch.h).
 *
 * Text by value is passed on as it is, record by record. Of text by reference a worker gets so much at a time
 * that all end at about the same time: pieces of a record are put into records of their own. Whatever has no text
 * (promises, failures) is left out: how bpe-chunk ends says the same.
 */
#ifndef BPE_DRIVER_CHUNK_FEED_H
#define BPE_DRIVER_CHUNK_FEED_H

#include "driver/dispatch.h"
#include "wire/payload.h"
#include "wire/record.h"

/* What bpe-chunk is told by -b, beside --dealt: pieces of this length are put together as needed; of text by value each
 * is a record, and some of them fit into a pipe. */
#define CHUNK_FEED_BLOCK "512K"

enum chunk_feed_state { FEED_HEAD, FEED_VALUE, FEED_RANGES, FEED_SKIP, FEED_PIECES };

struct chunk_feed {
    int fd;      /* the pipe from bpe-chunk, not blocking; -1: it has ended */
    size_t jobs; /* processes that share the text */
    bool cut;    /* it has ended inside a record */
    enum chunk_feed_state state;
    struct buf record; /* what was read of the record */
    size_t len;        /* its length, its header included */
    uint64_t source;   /* of the text by value that came last */
    uint64_t total;    /* bytes of all text; 0: not known */
    /* Pieces of a range record that were not given yet. */
    struct buf payload;
    struct cursor in;
    struct range_head head;
    struct source_facts file;
    uint64_t files_left, pieces_left;
    struct buf files, pieces, out;
};

void chunk_feed_free(struct chunk_feed *f); /* zeroed is fine, but fd is closed unless it is -1 */

/* Gives what it can without waiting. 1: something was given or read; 0: it must wait until there is room, or until its
 * pipe can be read; -1: EX_DATAERR, or a process cannot be started. d NULL: leaves out all. */
int chunk_feed_step(struct chunk_feed *f, struct dispatch *d, struct err *e);

/* n bytes are left of a record that was passed on (dispatch_pass), and are left out. */
void chunk_feed_skip(struct chunk_feed *f, size_t n);

bool chunk_feed_ended(const struct chunk_feed *f);

/* Whether it waits for its pipe. */
bool chunk_feed_reads(const struct chunk_feed *f, const struct dispatch *d);

#endif
