/* train.h - shared by the parts of bpe train: train.c is the command, train_line.c and train_parquet.c run the
 * pipelines, train_keep.c runs those whose counts are kept; train_super.c runs several, one after the other, with the
 * options of train_super_options.c.
 */
#ifndef BPE_CMD_TRAIN_H
#define BPE_CMD_TRAIN_H

#include "driver/command.h"
#include "driver/job.h"
#include "driver/stage.h"
#include "driver/work.h"
#include "usage/chunk_usage.h"
#include "usage/merge_usage.h"
#include "usage/sum_usage.h"

enum train_fan_out { FAN_OUT_AUTO, FAN_OUT_XARGS, FAN_OUT_PARALLEL, FAN_OUT_NONE };

enum { TRAIN_SUPER_MAX = 16 };

/* The argument of --super. */
struct train_super {
    uint64_t at[TRAIN_SUPER_MAX]; /* sizes of the vocabulary after the first stage */
    size_t n;                     /* 0: no superwords */
    bool lines, drop, runs;
    bool boundless; /* --boundless: at[0] is that of -v */
};

/* Whether superwords join whole pretokens. */
static inline bool train_super_joins(const struct train_super *o)
{
    return o->runs || o->boundless;
}

struct train {
    struct command_options common;
    const char *super_text;
    bool boundless;
    uint64_t live; /* --live: the budget of a round; 0: by the size of the text */
    struct train_super super;
    enum train_fan_out fan_out;
    const char *keep; /* NULL: counts are not kept */
    struct chunk_options chunk;
    struct sum_options sum;
    struct merge_options merge;
    struct option_words *chunk_words, *sum_words, *merge_words; /* the programs' options */
    struct option_words *worker;                                /* the command line of the worker: bpe-count */
    struct work_learner learner;                                /* what gets the sum: bpe-merge */
    char **files;
    int n_files;
};

/* Each returns the exit status, whose reason was printed, or -1. */
int train_line(const struct train *t, struct job *j, struct err *e);    /* by --fan-out or --via */
int train_xargs(const struct train *t, struct job *j, struct err *e);   /* --fan-out=xargs */
int train_parquet(const struct train *t, struct job *j, struct err *e); /* --parquet */
int train_keep(struct train *t, struct job *j, struct err *e);          /* --keep */
int train_super(const struct train *t, struct job *j, struct err *e);   /* --super, which runs several pipelines */

/* Runs one pipeline, by one of the first four. */
int train_run(struct train *t, struct job *j, struct err *e);

/* Reads the argument of --super, and checks it with the other options. -1: usage error. */
int train_super_read(const char *text, struct train_super *o, struct err *e);
int train_super_check(struct train *t, struct err *e);

/* ---- Parts of the pipeline ---- */

/* Starts bpe-sum, which reads counts from `in`, and bpe-merge. hold: gets the write end of the pipe between them, which
 * stays open in this process; NULL: it is closed. */
int train_start_rest(const struct train *t, struct job *j, int in, int *hold, struct err *e);

/* Starts the command of --via. */
int train_start_via(const struct train *t, struct job *j, int in, int out, struct err *e);

/* Waits until all processes have ended, and shows the progress. */
void train_wait(const struct train *t, struct job *j);

#endif
