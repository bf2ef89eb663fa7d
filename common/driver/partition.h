/* partition.h - text by reference, in a file of records, divided into parts for separate processes: each part has whole
 * records, and about as much text as the others. */
#ifndef BPE_DRIVER_PARTITION_H
#define BPE_DRIVER_PARTITION_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* How to choose another place for temporary files. */
#define PARTITION_REMEDY "TMPDIR names another directory"

/* A temporary file without a name, so that no death leaves it. dir NULL: where temporary files are. -1 with
 * EX_CANTCREAT. */
int partition_file(const char *dir, struct err *e);

/* Where the records are that have text. What is between them, as a promise is, belongs to the one before it, or to the
 * first. */
struct partition {
    struct partition_record {
        uint64_t end;  /* offset of the end in the file */
        uint64_t text; /* bytes of the text of this record and all before it; compressed, three times as many as there
                          are */
    } * at;            /* owned */
    size_t n, cap;
};

/* Reads the records of a file. -1: EX_DATAERR, EX_IOERR. Zeroed before; partition_free in any case. */
int partition_read(struct partition *p, const char *path, struct err *e);
void partition_free(struct partition *p);

/* How many parts are good for processes on this machine: one to `max` for each job, all jobs the same number. A
 * process sees all words as new, which costs as much as 10 to 20 MB of text, so few large parts are cheaper. A part
 * has 512 MiB of text at most, as long as `max` allows that. */
size_t partition_number(const struct partition *p, uint64_t jobs, size_t max);

/* Divides all into n parts, or as many as there are records if these are fewer: part i ends at offset ends[i]. Returns
 * how many. */
size_t partition_divide(const struct partition *p, size_t n, uint64_t *ends);

/* Copies bytes [begin, end) of a file to another, of that name. -1: EX_IOERR. */
int partition_copy(int from, uint64_t begin, uint64_t end, int to, const char *name, struct err *e);

#endif
