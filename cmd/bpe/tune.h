/* tune.h - the parts of bpe tune. */
#ifndef BPE_CMD_TUNE_H
#define BPE_CMD_TUNE_H

#include "base/sys/err.h"
#include "driver/command.h"
#include "driver/job.h"
#include "usage/chunk_usage.h"
#include "usage/encode_usage.h"
#include "usage/shard_usage.h"
#include "usage/sum_usage.h"

#include <stdbool.h>
#include <stdint.h>

/* The request. */
struct tune {
    struct command_options common;
    bool count;        /* measure bpe train; else bpe shard */
    const char *model; /* for bpe shard */
    const char *size;  /* of the vocabulary, for the printed command */
    const char *block; /* NULL: several */
    uint64_t sample, rounds;
    bool has_sample;
    struct chunk_options chunk;
    struct encode_options encode;
    struct shard_options shard;
    struct sum_options sum;
    struct command_line options; /* all of these, for the measured command; owned */
    char **files;
    int n_files;
};

/* tune_sample.c: the files to read. */
struct tune_sample {
    struct command_line files; /* their names */
    uint64_t bytes;            /* of all files */
    int fd;                    /* the first part of a file, in an unnamed file; -1: none */
    char path[64];             /* the name by which processes open it */
    const char *name;          /* the user's name for the file */
};

/* -1: EX_NOINPUT and others. */
int tune_sample_take(struct tune_sample *s, const struct tune *t, struct err *e);
void tune_sample_free(struct tune_sample *s);

/* tune_measure.c */
struct tune_time {
    uint64_t jobs;
    const char *block; /* NULL: the default */
    double seconds, cpu;
};

/* Sets seconds and cpu in n rows of times; a row has one entry for each round, with the same jobs and block. Returns 0;
 * the exit status of a command that failed, whose reason was printed; or -1. */
int tune_measure(const struct tune *t, const struct tune_sample *s, struct job *j, struct tune_time *times, size_t n,
                 struct err *e);

/* Runs the command without text, to check its options and the model. Returns the same. */
int tune_try(const struct tune *t, struct job *j, struct err *e);

#endif
