/* work.h - counts or encodes text in parts, in a directory that keeps their results: after a failure, only parts
 * without a result are done again. Several processes on several machines may do parts, even the same part.
 *
 *     DIR/lock            held while DIR/chunks is made, and during all of train --keep
 *     DIR/chunks/         the work, created once; appears when complete
 *         asked, inputs   what it was begun with (driver/resume.h)
 *         part.NNNNN      records that refer to text, for one process
 *         file.NNNNN      the name of a file whose text goes through a pipe (a single compressed file, Parquet,
 *                         --inline), and its weight if it has one: for a separate pipeline, which starts from the
 *                         beginning after a failure
 *         worker          the words of the worker: bpe-count, or bpe-encode and its options
 *         chunk, parquet  the options of bpe-chunk and `bpe parquet`, for files
 *         where           the directory to which file names are relative
 *     DIR/counts/NAME     the counts of that part or file, or DIR/tokens/NAME its ids; appears when complete
 *     .../NAME.failed     why an attempt failed: the exit status, and the message on the next line; ignored once
 *                         another attempt has made the result
 *     DIR/sum             all counts; appears when everything is counted
 *
 * A NUL byte follows the name and the weight in file.NNNNN, the name in where, and each word in worker, chunk and
 * parquet.
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

enum { WORK_PARTS_MAX = 20000 }; /* their names must fit on a command line */

struct work_part {
    char *name;          /* part.NNNNN or file.NNNNN; owned, as are all pointers here */
    char *file;          /* for file.NNNNN: the file; NULL if its result exists */
    char *weight;        /* its weight; NULL: none */
    bool done;           /* its result exists */
    bool wanted;         /* for work_do */
    char *made;          /* the path of its result while it is being made; NULL: it is not */
    struct outfile note; /* for `made`, so that a signal removes it */
    int status;          /* if it failed: the exit status, */
    struct buf why;      /* the line that says why, */
    bool killed;         /* and whether a process was killed */
};

struct work {
    struct job *job;                 /* borrowed, as is everything up to `progress` */
    const char *dir;                 /* as the user names it */
    const char *user;                /* what requires files that can be read again, for messages: "--keep" */
    struct option_words chunk;       /* options of bpe-chunk, for text */
    struct option_words sum;         /* options of bpe-sum */
    struct command_options *options; /* which files are Parquet (separate parts); options of `bpe parquet` */
    bool encodes;                    /* parts become ids; else they are counted */
    struct option_words worker;      /* the program: bpe-encode and its options, or bpe-count */
    char **files;                    /* for work_begin */
    int n_files;
    size_t max; /* the maximum number of parts; 0: a good number for `jobs` processes */
    uint64_t jobs;
    const char *progress;              /* the argument of --progress, for watch.h */
    char *chunks, *results, *sum_path; /* owned, as are all pointers from here on */
    char *where;                       /* the directory in which processes run; NULL: the current one */
    char *absolute;                    /* the path of DIR/chunks, for these processes */
    int lock;
    struct work_part *parts;
    size_t n_parts, cap;
};

/* Sets the paths. Call first, after setting the members above `chunks`. */
int work_open(struct work *w, struct err *e);
void work_close(struct work *w);

/* ---- Planning ---- */

/* Creates and locks DIR, and makes DIR/chunks; if it exists, checks that it is the same work on the same files
 * (resume_compare). -1: if *status is not 0, it is the exit status of bpe-chunk, whose reason was printed. */
int work_begin(struct work *w, int *status, struct err *e);

/* ---- Doing ---- */

/* Reads the description of the work from DIR/chunks: sets encodes, where, and chunk and worker, which are owned by the
 * caller; and in options parquet, mixed and reader. The files are not trusted: -1 with EX_DATAERR if planning would not
 * have written them; EX_NOINPUT: no work there; EX_CANTCREAT: one is not a regular file. */
int work_read(struct work *w, struct err *e);

/* Checks that the model, if any, has not changed since the work was planned. -1: EX_DATAERR. */
int work_check_model(struct work *w, struct err *e);

/* Finds the parts, those of records first. -1 with EX_DATAERR: a file that work_begin does not write. */
int work_find_parts(struct work *w, struct err *e);

/* Does the parts that are wanted and not done, `jobs` at a time; parts whose text goes through a pipe get `inner`
 * processes each. If a part is killed, the others are still done; if one fails and `all` is not set, no more are
 * started. -1: the driver itself failed. Each part's outcome is in its struct. */
int work_do(struct work *w, uint64_t inner, bool all, struct err *e);

/* Adds up all counts to DIR/sum unless it exists; removes files left by failed attempts. Returns the exit status, whose
 * reason was printed; or -1. */
int work_sum(struct work *w, struct err *e);

/* The program that gets a sum as its last FILE. */
struct work_learner {
    const char *program; /* NULL: bpe-merge */
    char *model;         /* the FILE before it; NULL: none */
};

/* Starts it with these options on a file of the sum ("-": its standard input). */
int work_start_learner(struct job *j, const struct job_start *how, const struct work_learner *l,
                       const struct option_words *options, char *sum, struct err *e);

/* Starts it on DIR/sum, and waits for it; its output goes to standard output, unless the options name a file. Returns
 * the exit status, whose reason was printed; or -1. */
int work_merge(struct work *w, const struct work_learner *l, const struct option_words *options, struct err *e);

/* Removes files left by killed or failed attempts. Call when all results exist. */
void work_remove_attempts(const struct work *w);

/* ---- Internal ---- */

/* The path of a temporary file in a directory, to be renamed to `name` when complete; unique on all machines. Owned by
 * the caller. */
char *work_own_name(const char *dir, const char *name, struct err *e);

/* work_make.c: checks that the Parquet reader is installed, by trying the first such file; errors in that file are
 * reported when it is read. Returns 0; 127, whose reason was printed; or -1. */
int work_check_reader(const struct work *w, struct err *e);

/* work_make.c: makes DIR/chunks, in a directory without other files. As work_begin. */
int work_make(struct work *w, struct str asked, struct str inputs, int *status, struct err *e);

#endif
