/* count_files.h - counts that other programs made: each file of lines of counts (count_lines.h) becomes a run of its
 * own, with a promise, so that the ledger treats these counts as those of text: complete or not, each file once.
 *
 * The source of the run is the file; the ranges are of its bytes. The promises of all regular files are written before
 * any file is read, so none is lost in silence. The run's id is made from the file's path, inode, size, modification
 * time, and the bytes at both ends: if the file is counted again, by any process, its counts are known as the same. For
 * anything else, such as a pipe, the id is random, and the promise comes last, as for text by value.
 */
#ifndef BPE_COUNT_COUNT_FILES_H
#define BPE_COUNT_COUNT_FILES_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "count/count_lines.h"
#include "count/counter.h"
#include "input/reading.h"
#include "pretok/rules.h"
#include "wire/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct count_file;

struct count_files {
    uint64_t memory; /* bytes of counts after which they are written, as for bpe-count -S */
    struct counter counter;
    struct pretoken_check check;
    struct count_lines lines;
    struct batch batch;
    struct buf rules, reading, rules_text, window, runs, out;
    struct count_file *file; /* owned array */
    size_t n;
    const char *again; /* the first file that is named twice; NULL: none. Borrowed */
    /* The position, for failures. */
    const struct count_file *now; /* NULL: none */
    uint64_t offset;              /* in it */
};

/* Sets up *c (zeroed, not to be moved). The strings of the rules are borrowed. -1: EX_DATAERR, EX_USAGE (the rules
 * cannot be used), out of memory. */
int count_files_open(struct count_files *c, const struct rules *rules, enum counts_order order, bool raw,
                     uint64_t memory, struct err *e);
void count_files_close(struct count_files *c); /* a zeroed one is fine */

/* Counts n files, "-" is standard input, and writes the records to standard output. paths are borrowed until
 * count_files_close. -1: EX_DATAERR, EX_NOINPUT, EX_IOERR, or out of memory. */
int count_files_run(struct count_files *c, char *const *paths, size_t n, struct err *e);

/* Tries to write a failure record with the error e and the position. */
void count_files_send_failure(const struct count_files *c, const struct err *e);

#endif
