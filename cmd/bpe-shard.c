/* bpe-shard - token ids in, files for training programs out: in order or shuffled, each document exactly once.
 *
 * Reads the records of any number of bpe-encode processes, in any order. A journal keeps the records received, so that
 * a killed job can resume. Shards appear when they are complete and on disk, and manifest.json lists them.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "pretok/scan.h"
#include "shard/check/shard_check.h"
#include "shard/check/shard_list.h"
#include "shard/format/manifest.h"
#include "shard/shard_convert.h"
#include "shard/shard_pipeline.h"
#include "usage/shard_usage.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME "bpe-shard"

struct sharder {
    struct shard_options opt;
    struct shard_pipeline *pipeline;
    struct progress progress;
    struct buf line;
};

/* ---- The work ---- */

/* Prints one line per shard, for scripts. */
static int tell(void *ctx, const struct manifest_shard *shard, struct err *e)
{
    struct sharder *s = ctx;
    s->line.len = 0;
    if (manifest_put_shard(&s->line, shard, e) || buf_put_byte(&s->line, '\n', e))
        return -1;
    return fd_write(1, s->line.p, s->line.len, "standard output", e);
}

static void show_converted(void *ctx, uint64_t tokens, uint64_t all)
{
    struct sharder *s = ctx;
    unsigned width = shard_dtype_width(s->opt.pipeline.plan.dtype);
    if (s->progress.active)
        progress_show(&s->progress, tokens * width, all * width, true, "of ids");
}

/* --convert */
static int run_convert(struct sharder *s, struct err *e)
{
    const struct shard_pipeline_options *o = &s->opt.pipeline;
    const struct shard_convert_options c = {.from = s->opt.files[0],
                                            .to = o->dir,
                                            .plan = o->plan,
                                            .software = o->software,
                                            .memory = o->memory,
                                            .resume = o->resume,
                                            .published = tell,
                                            .on_progress = show_converted,
                                            .ctx = s};
    bool was_complete = false;
    progress_start(&s->progress, NAME);
    int rc = shard_convert(&c, &was_complete, e);
    progress_end(&s->progress);
    if (was_complete)
        program_note(NAME, "%s: is already complete", o->dir);
    if (rc || fd_close_stdout(e))
        return -1;
    return 0;
}

static void show(void *ctx)
{
    struct sharder *s = ctx;
    char what[100] = "";
    if (!s->pipeline)
        return;
    struct shard_pipeline_progress p = shard_pipeline_progress(s->pipeline);
    if (!p.coverage || !p.coverage->promised || p.coverage->by_value) /* bpe-chunk shows how much it has read */
        return;
    if (s->progress.active)
        snprintf(what, sizeof what, "of text, %.1f million ids, %llu shards", 1e-6 * (double)p.tokens,
                 (unsigned long long)p.shards);
    progress_show(&s->progress, p.coverage->covered, p.coverage->promised, true, what);
}

static int consume(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct sharder *s = ctx;
    if (shard_pipeline_put(s->pipeline, rec, stream, e))
        return -1;
    show(s);
    return 0;
}

static int on_idle(void *ctx, struct err *e)
{
    struct sharder *s = ctx;
    return shard_pipeline_due(s->pipeline, e);
}

/* What the user can do about missing ranges. */
static const char *advice(const struct shard_pipeline_options *o, char *to, size_t n)
{
    if (o->missing)
        snprintf(to, n, "encode them (bpe-chunk --only=%.200s) and give their ids with --resume", o->missing);
    else
        snprintf(to, n,
                 "%.200s keeps the ids received, for --resume; --missing=FILE lists what is missing, to be encoded",
                 o->dir);
    return to;
}

/* --check, --list */
static int run_look(const struct shard_options *o, struct err *e)
{
    bool given = o->files != usage_no_files;
    const struct shard_check_options c = {
        .model = o->model, .files = o->files, .n_files = given ? o->n_files : 0, .fd = 1, .name = "standard output"};
    int rc = o->check ? shard_check(o->check, &c, e) : shard_list(o->list, c.fd, c.name, e);
    if (rc || fd_close_stdout(e))
        return -1;
    return 0;
}

static void note_skipped(const struct sharder *s)
{
    char text[ERR_TEXT];
    const struct shard_pipeline_progress p = shard_pipeline_progress(s->pipeline);
    bool none = p.tokens == 0 && p.shards == 0; /* none from an earlier execution, either */
    const char *skipped = p.coverage ? coverage_skipped_text(p.coverage, none, text, sizeof text) : NULL;
    if (skipped)
        program_note(NAME, "%s", skipped);
}

static int run(void *ctx, struct err *e)
{
    struct sharder *s = ctx;
    struct shard_pipeline_options *o = &s->opt.pipeline;
    char text[600];
    int read = 0;
    if (s->opt.check || s->opt.list)
        return run_look(&s->opt, e);
    if (s->opt.convert)
        return run_convert(s, e);
    o->published = tell;
    o->on_progress = show;
    o->ctx = s;
    progress_start(&s->progress, NAME);
    progress_part(&s->progress, "", "bytes");
    s->pipeline = shard_pipeline_open(o, e);
    if (!s->pipeline)
        return -1;
    for (int i = 0; i < s->opt.n_files && read == 0; i++)
        read = record_each_idle(s->opt.files[i], consume, on_idle, s, e);
    int rc = shard_pipeline_finish(s->pipeline, read, advice(o, text, sizeof text), e);
    progress_end(&s->progress);
    if (rc == 0 && shard_pipeline_progress(s->pipeline).was_complete)
        program_note(NAME, "%s: is already complete", o->dir);
    else if (rc == 0)
        note_skipped(s);
    if (rc || fd_close_stdout(e))
        return -1;
    return 0;
}

static void sharder_free(void *ctx)
{
    struct sharder *s = ctx;
    shard_pipeline_close(s->pipeline);
    buf_free(&s->line);
}

/* ---- The command line ---- */

static struct sharder self;

static const struct program program = {
    .usage = &shard_usage,
    .options = &self.opt,
    .scanner = scanner_versions,
    .codecs = codec_versions,
    .ctx = &self,
    .run = run,
    .free = sharder_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
