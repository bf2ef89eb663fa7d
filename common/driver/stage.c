/* stage.c - see stage.h. */
#include "driver/stage.h"

int stage_chunk(struct job *j, const struct job_start *how, const struct option_words *options,
                const struct command_options *weights, char **files, int n, struct err *e)
{
    struct command_line l = {0};
    struct job_start s = *how;
    s.stage = STAGE_CHUNK;
    int rc = command_line_add(&l, e, "bpe-chunk") || command_line_options(&l, options, e) ||
                     command_line_texts(&l, weights, files, n, e) || command_line_start(j, &s, &l, e)
                 ? -1
                 : 0;
    command_line_free(&l);
    return rc;
}

int stage_parquet(struct job *j, int group, const char *dir, const struct command_options *o,
                  const struct option_words *chunk, const char *weight, const char *part, char **files, int n, int out,
                  struct err *e)
{
    struct command_line r = {0}, c = {0};
    int text[2] = {-1, -1};
    struct job_start reader = {.name = "the Parquet reader", .in = -1, .stage = STAGE_READ, .group = group, .dir = dir},
                     chunker = {.out = out, .stage = STAGE_CHUNK, .group = group};
    int rc = job_pipe(text, e) || command_line_parquet(&r, o, e) || (part && command_line_add(&r, e, part)) ||
                     command_line_files(&r, files, n, e) || command_line_add(&c, e, "bpe-chunk") ||
                     command_line_chunk_parquet(&c, chunk, e) || (weight && command_line_add(&c, e, "--weight", weight))
                 ? -1
                 : 0;
    reader.out = text[1];
    chunker.in = text[0];
    rc = rc || command_line_start(j, &reader, &r, e) || command_line_start(j, &chunker, &c, e) ? -1 : 0;
    job_close_both(text);
    command_line_free(&r);
    command_line_free(&c);
    return rc;
}

int stage_counts(struct job *j, int group, uint64_t n, const struct option_words *worker, int in, int out,
                 struct err *e)
{
    struct command_line l = {0};
    const struct job_start how = {.in = in, .out = out, .stage = STAGE_COUNT, .group = group};
    int rc = command_line_options(&l, worker, e);
    for (uint64_t i = 0; i < n && !rc; i++)
        rc = command_line_start(j, &how, &l, e);
    command_line_free(&l);
    return rc ? -1 : 0;
}
