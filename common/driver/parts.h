/* parts.h - records in a file, cut into parts for separate processes: between records, which are lines. */
#ifndef BPE_DRIVER_PARTS_H
#define BPE_DRIVER_PARTS_H

#include "sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* How to choose another place for temporary files. */
#define PARTS_REMEDY "TMPDIR names another directory"

/* A temporary file without a name, so that no death leaves it. -1 with EX_CANTCREAT. */
int parts_file(struct err *e);

/* How many parts are good for processes on this machine, of records by reference of so many bytes: one to `most` for
 * each job, all jobs the same number. Each process sees all words as new, which costs as much as 10 to 20 MB of text,
 * so few large parts are cheaper, and many small ones better balanced: four records (half a megabyte each) make a part.
 */
size_t parts_number(uint64_t bytes, uint64_t jobs, size_t most);

/* Finds where n parts of about the same size end: ends[i] for part i. Some may be empty. -1: EX_IOERR. */
int parts_find(int fd, const char *name, size_t n, uint64_t *ends, struct err *e);

/* Copies bytes [begin, end) of a file to another, of that name. -1: EX_IOERR. */
int parts_copy(int from, uint64_t begin, uint64_t end, int to, const char *name, struct err *e);

#endif
