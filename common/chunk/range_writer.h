/* range_writer.h - fills range records with pieces of files and writes them. */
#ifndef BPE_CHUNK_RANGE_WRITER_H
#define BPE_CHUNK_RANGE_WRITER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/chunk_writer.h"

#include <stddef.h>
#include <stdint.h>

struct range_writer {            /* zeroed except for the first three: no record has begun */
    struct chunk_writer *writer; /* borrowed */
    uint64_t promised_bytes;     /* see struct range_head */
    uint64_t work;               /* bytes of text after which a record ends */
    /* The record being filled: its files, encoded, except the last one; and the pieces of that last one. */
    struct buf files, pieces, payload;
    uint64_t n_files, n_pieces;
    uint64_t n_bytes; /* bytes of text (access_text) */
    size_t source;    /* the source of these pieces */
    uint64_t n_records;
};

void range_writer_free(struct range_writer *r);

/* Adds a piece of a source, by its number. Writes the record when it has enough text. */
int range_writer_put(struct range_writer *r, size_t source, uint64_t offset, uint64_t len, struct err *e);

/* Writes the last record, if any piece is left. */
int range_writer_end(struct range_writer *r, struct err *e);

#endif
