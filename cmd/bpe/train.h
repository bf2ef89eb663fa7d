/* train.h - what the parts of bpe train share: train.c is the command, train_line.c and train_parquet.c the
 * pipelines, train_keep.c those whose counts are kept.
 */
#ifndef BPE_CMD_TRAIN_H
#define BPE_CMD_TRAIN_H

#include "driver/command.h"
#include "driver/job.h"
#include "driver/stage.h"
#include "usage/chunk_usage.h"
#include "usage/merge_usage.h"
#include "usage/sum_usage.h"

enum train_fan_out { FAN_OUT_AUTO, FAN_OUT_XARGS, FAN_OUT_PARALLEL, FAN_OUT_NONE };

struct train {
    struct command_options common;
    enum train_fan_out fan_out;
    const char *keep; /* NULL: counts are not kept */
    struct chunk_options chunk;
    struct sum_options sum;
    struct merge_options merge;
    struct option_words *chunk_words, *sum_words, *merge_words; /* what the programs are told */
    char **files;
    int n_files;
};

/* Each returns the exit status, whose reason was printed, or -1. */
int train_line(const struct train *t, struct job *j, struct err *e);    /* by --fan-out or --via */
int train_xargs(const struct train *t, struct job *j, struct err *e);   /* --fan-out=xargs */
int train_parquet(const struct train *t, struct job *j, struct err *e); /* --parquet */
int train_keep(struct train *t, struct job *j, struct err *e);          /* --keep */

/* ---- Parts of the pipeline ---- */

/* bpe-sum and bpe-merge; the sum reads counts from `in`. hold: the write end of the pipe between them stays open here,
 * in *hold; NULL: it does not. */
int train_start_rest(const struct train *t, struct job *j, int in, int *hold, struct err *e);

/* The command of --via. */
int train_start_via(const struct train *t, struct job *j, int in, int out, struct err *e);

/* Waits until all processes have ended, and shows how far they are. */
void train_wait(const struct train *t, struct job *j);

#endif
