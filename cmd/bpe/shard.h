/* shard.h - the parts of bpe shard. */
#ifndef BPE_CMD_SHARD_H
#define BPE_CMD_SHARD_H

#include "base/sys/err.h"
#include "driver/command.h"
#include "driver/job.h"
#include "input/input_form.h"
#include "shard/format/manifest.h"

#include <stdbool.h>

/* What is asked for. All borrowed. */
struct shard_asked {
    const char *dir; /* where the shards go; it begins with no dash */
    bool parquet;
    const struct input_form *form;
    char **files;
    int n_files;
    struct command_line parquet_files,
        sources;                              /* of these files: what is Parquet; what bpe-chunk reads, `-` for that */
    struct option_words chunk, encode, shard; /* of the programs, without the files */
    struct str words;                         /* all that makes a difference, as one text */
    const char *block, *status;               /* words for bpe-chunk that make no difference; NULL: none */
    struct command_line reader;               /* `bpe parquet`, without the files; n is 0: no Parquet */
    struct command_line via;                  /* a filter of the user's, before the words of bpe-encode; n is 0: none */
    uint64_t jobs;
    const char *progress; /* the text of --progress; NULL: none */
};

/* shard_work.c: all of it. Returns the exit status, whose reason is printed; or -1 with *e. */
int shard_work(const struct shard_asked *a, struct job *j, struct err *e);

/* shard_line.c: text to shards, once. */
struct shard_line {
    const struct shard_asked *asked;
    const char *only;    /* the list of what is wanted; NULL: all is made */
    const char *missing; /* where bpe-shard writes what did not come */

    /* Whether the text of Parquet is that which was read the first time, after it was read again. */
    int (*still)(void *ctx, struct err *e);
    void *ctx;
};

/* Returns the exit status: 0 where bpe-shard has all; EX_TEMPFAIL: a process was killed, or did not do its work, and
 * what is missing is known. `said` gets the line that says why, if there is one. -1: *e. The job has no processes then.
 */
int shard_line_run(const struct shard_line *l, struct job *j, struct buf *said, struct err *e);

/* bpe-shard alone: without text it does what can be done, and says what is missing. missing may be NULL. The same, but
 * 128 and the number of the signal if it was killed: what is missing is not known then. */
int shard_line_look(const struct shard_asked *a, const char *missing, struct job *j, struct buf *said, struct err *e);

/* shard_complete.c: whether a directory that is complete is what would be made; the corpus is not read. Appends the
 * line that says so, or what is wrong. Returns the exit status, or -1 with *e: another model, other options or files
 * (EX_USAGE), or files that have changed since (EX_DATAERR). */
int shard_complete_compare(const struct shard_asked *a, const struct manifest *m, struct job *j, struct buf *said,
                           struct err *e);

/* Starts a program by its words: those of `first`, `options`, and what else ends with NULL. */
struct job_process *shard_start(struct job *j, const struct job_start *how, const char *program,
                                const struct option_words *options, const struct command_line *rest, struct err *e);

/* bpe-shard for DIR. in: -1: no records. missing: NULL: nothing is written. */
struct job_process *shard_start_shard(const struct shard_asked *a, const char *missing, int in, int out, struct job *j,
                                      struct err *e);

#endif
