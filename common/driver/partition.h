/* partition.h - divides a file of records, with text by reference, into parts for separate processes. Each part has
 * whole records, and about as much text as the others. */
#ifndef BPE_DRIVER_PARTITION_H
#define BPE_DRIVER_PARTITION_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* For messages: how to choose another directory for temporary files. */
#define PARTITION_REMEDY "set TMPDIR to another directory"

/* An unnamed temporary file, so that a killed process leaves nothing behind. dir NULL: the default directory. -1 with
 * EX_CANTCREAT. */
int partition_file(const char *dir, struct err *e);

/* The positions of records with text. Other records, such as promises, belong to the one before them, or to the first.
 */
struct partition {
    struct partition_record {
        uint64_t end;  /* offset of the end in the file */
        uint64_t text; /* bytes of text in this record and all before it; compressed bytes count three times */
    } * at;            /* owned */
    size_t n, cap;
};

/* Reads the records of a file. *p must be zeroed; call partition_free in any case. -1: EX_DATAERR, EX_IOERR. */
int partition_read(struct partition *p, const char *path, struct err *e);
void partition_free(struct partition *p);

/* A good number of parts for processes on this machine: 1 to `max` for each job, the same for all jobs. All words are
 * new to each process, which costs as much as 10 to 20 MB of text, so a few large parts are cheaper. A part has at most
 * 512 MiB of text, unless `max` prevents that. */
size_t partition_number(const struct partition *p, uint64_t jobs, size_t max);

/* Divides the records into n parts, or into one part per record if there are fewer. Part i ends at offset ends[i].
 * Returns the number of parts. */
size_t partition_divide(const struct partition *p, size_t n, uint64_t *ends);

/* Copies bytes [begin, end) of one file to another; name: of both, for messages. -1: EX_IOERR. */
int partition_copy(int from, uint64_t begin, uint64_t end, int to, const char *name, struct err *e);

#endif
