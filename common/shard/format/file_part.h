/* file_part.h - a part of a file, written from its beginning on in large blocks. Several parts of one file can be
 * written at the same time: an index often has one list after another, all in the order of the documents. */
#ifndef BPE_SHARD_FORMAT_FILE_PART_H
#define BPE_SHARD_FORMAT_FILE_PART_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct file_part {    /* zeroed but for the first three fields: at the beginning */
    int fd;           /* borrowed */
    const char *name; /* borrowed, for messages */
    uint64_t offset;  /* in the file: of the first byte that is not yet written */
    struct buf bytes;
};

/* Appends bytes, or an integer of `width` bytes, at most 8, least significant byte first. -1: EX_IOERR, or out of
 * memory. */
int file_part_put(struct file_part *f, const void *p, size_t n, struct err *e);
int file_part_put_le(struct file_part *f, unsigned width, uint64_t v, struct err *e);

/* Where the next byte goes. */
uint64_t file_part_next(const struct file_part *f);

/* Writes what is left; rc: 0, or -1 if something failed before: then nothing is written. Frees the memory; returns rc,
 * or -1. */
int file_part_end(struct file_part *f, int rc, struct err *e);

#endif
