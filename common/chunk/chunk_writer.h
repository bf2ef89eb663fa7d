/* chunk_writer.h - the output of bpe-chunk: the fields that all its records share, and where they are written. Writes
 * chunks (text by value) and the promise; for ranges see range_writer.h.
 */
#ifndef BPE_CHUNK_CHUNK_WRITER_H
#define BPE_CHUNK_CHUNK_WRITER_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "chunk/source_list.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk_writer {
    int fd;
    const char *name;          /* of the output, for messages; borrowed */
    unsigned char run[ID_LEN]; /* all zero: see chunk_writer_doubt */
    size_t doubtful;           /* if so: the source */
    struct buf rules;          /* encoded */
    struct buf reading;        /* encoded: how sources are read that have no `reading` of their own */
    int status;                /* a descriptor: see chunks.c (confirm); 0: none */
    bool dealt; /* each record is dealt out by itself: always if fd is a socket of messages (base/io/packet.h) */
    bool rest;  /* --only: the run has no promise so far: it is made now */
    struct source_list sources;
    struct buf out;
};

void chunk_writer_free(struct chunk_writer *w);

/* What records say of a source (borrowed). */
struct source_facts chunk_writer_facts(const struct chunk_writer *w, size_t source);

/* Writes the record in w->out by one write(2). */
int chunk_writer_flush(struct chunk_writer *w, struct err *e);

/* Writes the text of a piece; fills in run, rules, reading and name. */
int chunk_writer_put(struct chunk_writer *w, struct chunk *c, struct err *e);

/* Writes the promise: the list of all sources with their sizes, in records of one write(2) each. */
int chunk_writer_promise(struct chunk_writer *w, struct err *e);

/* The text of a source that was sent may be wrong: a failure that no later success may cancel, and which explains what
 * others find in that text. */
void chunk_writer_doubt(struct chunk_writer *w, size_t source);

/* Writes a failure record with the error e, if that is possible. */
void chunk_writer_fail(const struct chunk_writer *w, const struct err *e);

#endif
