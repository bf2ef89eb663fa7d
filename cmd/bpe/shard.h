/* shard.h - the parts of bpe shard. */
#ifndef BPE_CMD_SHARD_H
#define BPE_CMD_SHARD_H

#include "base/sys/err.h"
#include "driver/command.h"
#include "driver/job.h"
#include "input/input_form.h"
#include "shard/format/manifest.h"

#include <stdbool.h>

/* The request. All borrowed. */
struct shard_asked {
    const char *dir; /* the directory of shards; does not begin with a dash */
    bool parquet;
    const struct input_form *form;
    char **files;
    int n_files;
    struct command_line parquet_files, sources; /* the Parquet files; what bpe-chunk reads, with `-` for all of these */
    struct option_words chunk, encode, shard;   /* of the programs, without the files */
    struct str words;                           /* everything that affects the result, as one text */
    const char *block, *status;                 /* options of bpe-chunk that do not affect the result; NULL: none */
    struct command_line reader;                 /* `bpe parquet`, without the files; n is 0: no Parquet */
    struct command_line via;                    /* the user's filter, before the words of bpe-encode; n is 0: none */
    uint64_t jobs;
    const char *progress; /* the text of --progress; NULL: none */
};

/* shard_work.c: does all of it. Returns the exit status, whose reason is printed; or -1 with *e. */
int shard_work(const struct shard_asked *a, struct job *j, struct err *e);

/* shard_line.c: one pass of the pipeline from text to shards. */
struct shard_line {
    const struct shard_asked *asked;
    const char *only;    /* the list of ranges to make; NULL: all */
    const char *missing; /* where bpe-shard writes the missing ranges */

    /* Called after Parquet was read. -1: the files are not those that were read the first time. */
    int (*still)(void *ctx, struct err *e);
    void *ctx;
};

/* Returns the exit status: 0 if bpe-shard has everything; EX_TEMPFAIL if a process was killed, or did not do its work,
 * and the missing ranges are known. `said` gets the line that gives the reason, if there is one. -1: *e. On return the
 * job has no processes. */
int shard_line_run(const struct shard_line *l, struct job *j, struct buf *said, struct err *e);

/* Runs only bpe-shard: without text it does what can be done, and reports what is missing. missing may be NULL. Returns
 * the same, but 128 plus the signal if it was killed: then the missing ranges are unknown. */
int shard_line_look(const struct shard_asked *a, const char *missing, struct job *j, struct buf *said, struct err *e);

/* shard_complete.c: checks that a complete directory is what this command would make, without reading the corpus.
 * Appends the line that says so, or the error. Returns the exit status, or -1 with *e: another model, other options or
 * files (EX_USAGE), or files that have changed since (EX_DATAERR). */
int shard_complete_compare(const struct shard_asked *a, const struct manifest *m, struct job *j, struct buf *said,
                           struct err *e);

/* Starts a program with these options and the words of `rest`. All three may be NULL. */
struct job_process *shard_start(struct job *j, const struct job_start *how, const char *program,
                                const struct option_words *options, const struct command_line *rest, struct err *e);

/* Starts bpe-shard for DIR. in -1: no records; missing NULL: it does not write the missing ranges. */
struct job_process *shard_start_shard(const struct shard_asked *a, const char *missing, int in, int out, struct job *j,
                                      struct err *e);

#endif
