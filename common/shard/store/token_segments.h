/* token_segments.h - files DIR/.work/segment.NNNNNN, which hold extents (token_extent.h) of tokens that wait for
 * their turn. They are only appended to, and deleted when no piece in them is waiting any more.
 *
 * An extent in a file is a header, its marks, and its ids. The header says what it is, and has checksums: so what is
 * read is what was written, at the place it belongs to.
 */
#ifndef BPE_SHARD_STORE_TOKEN_SEGMENTS_H
#define BPE_SHARD_STORE_TOKEN_SEGMENTS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/store/token_extent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_segment {
    uint32_t number; /* from 1 */
    bool dirty;      /* not synced since it was written to */
    bool loose;      /* belongs to a batch that is not complete */
    uint64_t len;    /* bytes that count: what is longer is cut */
    uint64_t n_waiting;
};

/* The file of a segment that is open. */
struct segment_fd {
    int fd;
    uint32_t number; /* 0: none is */
};

struct token_segments {
    const char *dir;          /* borrowed */
    uint64_t size;            /* bytes after which a new one is begun */
    struct token_segment *at; /* owned, sorted by number */
    size_t n, cap;
    uint32_t next;    /* number of the next new one */
    uint32_t current; /* the one for pieces of any batch; 0: none */
    bool created;     /* since the last sync */
    struct segment_fd write, read;
};

void token_segments_init(struct token_segments *s, const char *dir, uint64_t size);
void token_segments_free(struct token_segments *s);

/* Creates one. loose: for a batch that is not complete; it is neither synced nor deleted before token_segments_adopt.
 * -1 with EX_CANTCREAT. */
int token_segments_create(struct token_segments *s, bool loose, uint32_t *number, struct err *e);
void token_segments_adopt(struct token_segments *s, uint32_t number);

/* The one for pieces of any batch: a new one if the last is full. */
int token_segments_current(struct token_segments *s, uint32_t *number, struct err *e);

/* Appends an extent. *offset: where it is. -1 with EX_IOERR: the file is as before. */
int token_segments_write(struct token_segments *s, uint32_t number, const struct token_extent *x, uint64_t *offset,
                         struct err *e);

/* Reads the extent at *offset, which moves to its end; marks and ids are in *data (its content is replaced). ids:
 * false: they are not read, and x->ids is NULL. -1: EX_IOERR, or EX_DATAERR: what is there is no extent, or damaged. */
int token_segments_read(struct token_segments *s, uint32_t number, uint64_t *offset, bool ids, struct token_extent *x,
                        struct buf *data, struct err *e);

/* EX_DATAERR for what was read at an offset. Returns -1. */
int token_segments_damaged(const struct token_segments *s, uint32_t number, uint64_t offset, const char *what,
                           struct err *e);

/* One piece more, or fewer, waits in it. */
void token_segments_hold(struct token_segments *s, uint32_t number, int change);

/* Appends, for all that were written to since the last sync: varint number, varint length. */
int token_segments_put_dirty(const struct token_segments *s, struct buf *out, struct err *e);

/* Makes all that was written durable. */
int token_segments_sync(struct token_segments *s, struct err *e);

/* Deletes those in which nothing waits; or that one. What cannot be deleted is left to the next resume. */
void token_segments_clean(struct token_segments *s);
void token_segments_drop(struct token_segments *s, uint32_t number);

/* When work goes on: this one exists with that many bytes that count. */
int token_segments_expect(struct token_segments *s, uint32_t number, uint64_t len, struct err *e);
/* Cuts what is longer, and deletes all other files of such names. -1: EX_DATAERR: one is missing or too short. */
int token_segments_resume(struct token_segments *s, struct err *e);

#endif
