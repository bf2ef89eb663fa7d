/* stage.h - starts the stages of the pipelines that count text, as processes of a job:
 *
 *     (bpe parquet FILE... |) bpe-chunk --records--> bpe-count, one or more --counts--> bpe-sum --> bpe-merge
 */
#ifndef BPE_DRIVER_STAGE_H
#define BPE_DRIVER_STAGE_H

#include "driver/command.h"
#include "driver/job.h"

#include <stdint.h>

/* Positions in the pipeline: the stage of a job's process. */
enum stage { STAGE_READ, STAGE_CHUNK, STAGE_COUNT, STAGE_SUM, STAGE_MERGE };

/* Starts bpe-chunk on some files, with these options. how: everything except argv and the stage. weights: of these
 * files, which are FILEs of the command; NULL: none. */
int stage_chunk(struct job *j, const struct job_start *how, const struct option_words *options,
                const struct command_options *weights, char **files, int n, struct err *e);

/* Starts the reader of Parquet files, whose names are relative to dir (NULL: the current directory), and bpe-chunk on
 * its text, with records to `out`. weight: of all files; NULL: 1. part: "--part=I/N"; NULL: all. */
int stage_parquet(struct job *j, int group, const char *dir, const struct command_options *o,
                  const struct option_words *chunk, const char *weight, const char *part, char **files, int n, int out,
                  struct err *e);

/* Starts n workers, with this command line (bpe-count and its options), that count records from `in`. */
int stage_counts(struct job *j, int group, uint64_t n, const struct option_words *worker, int in, int out,
                 struct err *e);

#endif
