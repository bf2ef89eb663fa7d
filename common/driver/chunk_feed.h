/* chunk_feed.h - turns the records of bpe-chunk into the records that workers get (dispatch.h).
 *
 * Text by value is passed on unchanged, record by record. Text by reference is regrouped into smaller records, sized so
 * that all workers finish at about the same time. Records without text (promises, failures) are dropped: the exit
 * status of bpe-chunk carries the same information.
 */
#ifndef BPE_DRIVER_CHUNK_FEED_H
#define BPE_DRIVER_CHUNK_FEED_H

#include "driver/dispatch.h"
#include "wire/payload.h"
#include "wire/record.h"

/* The -b argument of bpe-chunk, in addition to --dealt. Pieces of this length are combined as needed. Text by value has
 * one record per piece; a few of these fit into a pipe. */
#define CHUNK_FEED_BLOCK "512K"

enum chunk_feed_state { FEED_HEAD, FEED_VALUE, FEED_RANGES, FEED_SKIP, FEED_PIECES };

struct chunk_feed {
    int fd;      /* the pipe from bpe-chunk, nonblocking; -1: it has ended */
    size_t jobs; /* processes that share the text */
    bool cut;    /* the pipe ended inside a record */
    enum chunk_feed_state state;
    struct buf record; /* the part of the record read so far */
    size_t len;        /* its length, header included */
    uint64_t source;   /* of the latest text by value */
    uint64_t total;    /* bytes of text in total; 0: unknown */
    /* Pieces of a range record not yet given to workers. */
    struct buf payload;
    struct cursor in;
    struct range_head head;
    struct source_facts file;
    uint64_t files_left, pieces_left;
    struct buf files, pieces, out;
};

void chunk_feed_free(struct chunk_feed *f); /* zeroed is fine, but fd is closed unless it is -1 */

/* Gives workers as much as it can without waiting. 1: something was given or read; 0: wait until there is room, or
 * until the pipe is readable; -1: EX_DATAERR, or a process cannot be started. d NULL: drops all text. */
int chunk_feed_step(struct chunk_feed *f, struct dispatch *d, struct err *e);

/* Skips the n bytes left of a record that was being passed on (dispatch_pass). */
void chunk_feed_skip(struct chunk_feed *f, size_t n);

bool chunk_feed_ended(const struct chunk_feed *f);

/* Whether it is waiting for its pipe. */
bool chunk_feed_reads(const struct chunk_feed *f, const struct dispatch *d);

#endif
