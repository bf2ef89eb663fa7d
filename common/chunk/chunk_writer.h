/* chunk_writer.h - the output of bpe-chunk: the fields that all its records share, and where they are written. Writes
 * chunks (text by value) and the promise; see range_writer.h for ranges.
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
    struct buf reading;        /* encoded: how sources without their own `reading` are read */
    int status;                /* a descriptor: see chunks.c (confirm); 0: none */
    bool dealt; /* records are dealt out one by one, as always if fd is a message socket (base/io/packet.h) */
    bool rest;  /* --only: the run has no promise yet, so it is written now */
    struct source_list sources;
    struct buf out;
};

void chunk_writer_free(struct chunk_writer *w);

/* The description of a source in records (borrowed). */
struct source_facts chunk_writer_facts(const struct chunk_writer *w, size_t source);

/* Writes the record in w->out by one write(2). */
int chunk_writer_flush(struct chunk_writer *w, struct err *e);

/* Writes the text of a piece, after filling in run, rules, reading and name. */
int chunk_writer_put(struct chunk_writer *w, struct chunk *c, struct err *e);

/* Writes the promise: the list of all sources with their sizes, in records of one write(2) each. */
int chunk_writer_promise(struct chunk_writer *w, struct err *e);

/* Marks the text sent from a source as possibly wrong: the failure record then cannot be made up for by a later
 * success, and explains errors that others find in that text. */
void chunk_writer_doubt(struct chunk_writer *w, size_t source);

/* Tries to write a failure record with the error e. */
void chunk_writer_fail(const struct chunk_writer *w, const struct err *e);

#endif
