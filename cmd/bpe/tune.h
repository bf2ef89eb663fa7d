/* tune.h - the parts of bpe tune. */
#ifndef BPE_CMD_TUNE_H
#define BPE_CMD_TUNE_H

#include "base/sys/err.h"
#include "driver/command.h"
#include "driver/job.h"
#include "input/input_form.h"

#include <stdbool.h>
#include <stdint.h>

/* What is measured. All borrowed. */
struct tune_asked {
    bool count;                  /* bpe train; else bpe shard */
    const char *model;           /* of the latter */
    const char *size;            /* of the vocabulary, for the command that is printed */
    const char *block;           /* NULL: several */
    struct command_line options; /* others, of that command */
    char **files;
    int n_files;
    const struct input_form *form; /* with last_cut files are not cut */
    uint64_t sample, rounds, jobs;
    uint64_t n_special; /* special tokens */
};

/* tune_sample.c: the files that are read. */
struct tune_sample {
    struct command_line files; /* their names */
    uint64_t bytes;            /* of all */
    int fd;                    /* of the first part of one, which has no name; -1: none */
    char path[64];             /* where processes find that */
    const char *name;          /* and what the user calls the file */
};

/* -1: EX_NOINPUT and others. */
int tune_sample_take(struct tune_sample *s, const struct tune_asked *a, struct err *e);
void tune_sample_free(struct tune_sample *s);

/* tune_measure.c */
struct tune_time {
    uint64_t jobs;
    size_t block; /* which of the sizes */
    double seconds, cpu;
};

/* Measures each of n_numbers numbers of processes with each of n_blocks sizes, in all rounds; times has room for all.
 * Returns 0; the exit status of a command that failed, whose reason was printed; or -1. */
int tune_measure(const struct tune_asked *a, const struct tune_sample *s, struct job *j, const uint64_t *numbers,
                 size_t n_numbers, const char *const *blocks, size_t n_blocks, struct tune_time *times, struct err *e);

/* Runs the command without text: whether its options and the model are right. The same. */
int tune_try(const struct tune_asked *a, struct job *j, struct err *e);

#endif
