/* token_segments.h - files DIR/.work/segment.NNNNNN, which hold extents (token_extent.h) of tokens that wait for their
 * turn. They are append-only, and are deleted when no piece in them waits any more.
 *
 * On disk, an extent is a header, its marks, and its ids. The header identifies the extent and has checksums, so a
 * reader can verify that it has the extent that was written at this offset, unchanged.
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
    bool dirty;      /* written to since the last sync */
    bool loose;      /* belongs to an incomplete batch */
    uint64_t len;    /* valid bytes; the file is truncated to them when work resumes */
    uint64_t n_waiting;
};

/* An open segment file. */
struct segment_fd {
    int fd;
    uint32_t number; /* 0: not open */
};

struct token_segments {
    const char *dir;          /* borrowed */
    uint64_t size;            /* bytes after which a new segment is begun */
    struct token_segment *at; /* owned, sorted by number */
    size_t n, cap;
    uint32_t next;    /* number of the next new segment */
    uint32_t current; /* segment for pieces of any batch; 0: none */
    bool created;     /* a segment was created since the last sync */
    struct segment_fd write, read;
};

void token_segments_init(struct token_segments *s, const char *dir, uint64_t size);
void token_segments_free(struct token_segments *s);

/* Creates a segment. loose: for an incomplete batch; it is neither synced nor deleted before token_segments_adopt. -1
 * with EX_CANTCREAT. */
int token_segments_create(struct token_segments *s, bool loose, uint32_t *number, struct err *e);
void token_segments_adopt(struct token_segments *s, uint32_t number);

/* The segment for pieces of any batch; creates a new one if the last is full. */
int token_segments_current(struct token_segments *s, uint32_t *number, struct err *e);

/* Appends an extent, at *offset. -1 with EX_IOERR: the segment's length is unchanged. */
int token_segments_write(struct token_segments *s, uint32_t number, const struct token_extent *x, uint64_t *offset,
                         struct err *e);

/* Reads the extent at *offset and advances *offset to its end. Marks and ids are in *data, whose old content is
 * replaced. ids false: the ids are not read, and x->ids is NULL. -1: EX_IOERR; EX_DATAERR: there is no extent, or it is
 * damaged. */
int token_segments_read(struct token_segments *s, uint32_t number, uint64_t *offset, bool ids, struct token_extent *x,
                        struct buf *data, struct err *e);

/* Sets EX_DATAERR for data read at an offset. Returns -1. */
int token_segments_damaged(const struct token_segments *s, uint32_t number, uint64_t offset, const char *what,
                           struct err *e);

/* Changes the number of pieces that wait in a segment by `change` (1 or -1). */
void token_segments_hold(struct token_segments *s, uint32_t number, int change);

/* Appends, for each segment that was written to since the last sync and has waiting pieces: varint number, varint
 * length. */
int token_segments_put_dirty(const struct token_segments *s, struct buf *out, struct err *e);

/* Makes those segments durable. */
int token_segments_sync(struct token_segments *s, struct err *e);

/* token_segments_clean deletes all segments in which no piece waits; token_segments_drop deletes the given one. Files
 * that cannot be deleted are left to the next resume. */
void token_segments_clean(struct token_segments *s);
void token_segments_drop(struct token_segments *s, uint32_t number);

/* When work resumes: this segment must exist, and has `len` valid bytes. */
int token_segments_expect(struct token_segments *s, uint32_t number, uint64_t len, struct err *e);
/* Truncates segments to their valid bytes, and deletes other files with such names. -1: EX_DATAERR: a segment is
 * missing or too short. */
int token_segments_resume(struct token_segments *s, struct err *e);

#endif
