/* work.h - counting or encoding in parts, in a directory, where their results stay: after a loss, what has no result is
 * done again. Parts may be done by several processes, on several machines, also the same part by more than one.
 *
 *     DIR/lock            held by those that make DIR/chunks, and by all of train --keep
 *     DIR/chunks/         the work, made once; appears when it is complete
 *         asked, inputs   what it was begun with (driver/resume.h)
 *         part.NNNNN      records that say where text is: for one process
 *         file.NNNNN      the name of a file whose text goes through a pipe (compressed and alone, Parquet, --inline):
 *                         for a pipeline of its own, which after a loss starts from its beginning
 *         worker          the words of the worker: bpe-count, or bpe-encode and its options
 *         chunk, parquet  the options of bpe-chunk and `bpe parquet`, for files
 *         where           the directory in which names of files hold
 *     DIR/counts/NAME     the counts of that part or file, or DIR/tokens/NAME its ids; appears when complete
 *     .../NAME.failed     why an attempt failed: its exit status, and in the next line what was said; ignored once
 *                         another attempt has made the result
 *     DIR/sum             all counts; appears when all is counted
 *
 * A name is followed by a NUL byte in file.NNNNN and where, as each word in worker, chunk and parquet.
 */
#ifndef BPE_DRIVER_WORK_H
#define BPE_DRIVER_WORK_H

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "driver/command.h"
#include "driver/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORK_PARTS_MAX = 20000 }; /* their names must fit a command line */

struct work_part {
    char *name;          /* part.NNNNN or file.NNNNN; owned, as all here */
    char *file;          /* of the latter: the file; NULL if its result is there */
    bool done;           /* its result is there */
    bool wanted;         /* for work_do */
    char *made;          /* where its result is while it is being made; NULL: it is not */
    struct outfile note; /* of that, for signals */
    int status;          /* of one that failed: the exit status, */
    struct buf why;      /* the line that says why, */
    bool killed;         /* and whether a process was killed */
};

struct work {
    struct job *job;                 /* borrowed, as all up to `progress` */
    const char *dir;                 /* as the user calls it */
    const char *user;                /* who needs files that can be read again, for messages: "--keep" */
    struct option_words chunk;       /* what bpe-chunk is told, of text */
    struct option_words sum;         /* what bpe-sum is told */
    struct command_options *options; /* which files are Parquet: parts of their own; what `bpe parquet` is told */
    bool encodes;                    /* parts become ids; else they are counted */
    struct option_words worker;      /* what does so: bpe-encode and its options, or bpe-count */
    char **files;                    /* for work_begin */
    int n_files;
    size_t max; /* parts to make, at most; 0: what is good for `jobs` processes */
    uint64_t jobs;
    const char *progress;              /* the text of --progress, for watch.h */
    char *chunks, *results, *sum_path; /* owned, as all from here on */
    char *where;                       /* the directory in which processes run; NULL: this one */
    char *absolute;                    /* DIR/chunks, for them */
    int lock;
    struct work_part *parts;
    size_t n_parts, cap;
};

/* Makes the paths; call first, when the members above `chunks` are set. */
int work_open(struct work *w, struct err *e);
void work_close(struct work *w);

/* ---- Planning ---- */

/* Locks DIR, which is created, and makes DIR/chunks, or checks that what is there is the same work, of the same files
 * (resume_compare). -1; if *status is not 0, that is the exit status of bpe-chunk, whose reason was printed. */
int work_begin(struct work *w, int *status, struct err *e);

/* ---- Doing ---- */

/* Reads what DIR/chunks says of the work: sets encodes, where, and chunk and worker, which are owned by the caller; and
 * in options parquet, mixed and reader. What is there may be anybody's: -1 with EX_DATAERR if planning would not have
 * written it; EX_NOINPUT: there is no work; EX_CANTCREAT: something is no regular file. */
int work_read(struct work *w, struct err *e);

/* Whether the model, if there is one, is what it was when the work was planned. -1: EX_DATAERR. */
int work_check_model(struct work *w, struct err *e);

/* Finds the parts, those of records first. -1 with EX_DATAERR: there is something that work_begin does not write. */
int work_find_parts(struct work *w, struct err *e);

/* Does the parts that are wanted and not done: `jobs` at a time, with so many processes each where text goes through a
 * pipe. If one is killed the others are done; if one fails and `all` is not set, no more are begun. -1: the driver
 * itself failed; what has become of each part is in it. */
int work_do(struct work *w, uint64_t inner, bool all, struct err *e);

/* Adds up all counts to DIR/sum, if it is not there; removes what attempts have left. Returns the exit status, whose
 * reason was printed; or -1. */
int work_sum(struct work *w, struct err *e);

/* Learns the merges from DIR/sum, by these options of bpe-merge; the model goes to standard output, or where they say.
 * Returns the exit status, whose reason was printed; or -1. */
int work_merge(struct work *w, const struct option_words *options, struct err *e);

/* Removes what attempts at parts have left that were killed or failed: once all results are there. */
void work_remove_attempts(const struct work *w);

/* ---- For these ---- */

/* The name of a file in a directory that becomes `name` when it is complete: nobody else uses it, on any machine. Owned
 * by the caller. */
char *work_own_name(const char *dir, const char *name, struct err *e);

/* work_make.c: whether what reads Parquet is installed, by the first such file; what is wrong with that is said when it
 * is read. Returns 127, the reason of which was printed, 0; or -1. */
int work_check_reader(const struct work *w, struct err *e);

/* work_make.c: makes DIR/chunks, in a directory that has nothing else. As work_begin. */
int work_make(struct work *w, struct str asked, struct str inputs, int *status, struct err *e);

#endif
