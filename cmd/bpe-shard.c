/* bpe-shard - token ids in, files for training programs out: in order or shuffled, each document exactly once.
 *
 * Reads the records of any number of bpe-encode processes, in any order. What has come is kept in a journal, so that a
 * run that was killed goes on where it was; shards appear when they are complete and on disk, and manifest.json lists
 * them.
 */
#include "check/shard_check.h"
#include "check/shard_list.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "format/formats.h"
#include "format/manifest.h"
#include "io/fd.h"
#include "records/record.h"
#include "shard/convert.h"
#include "shard/sharding.h"
#include "sys/buf.h"
#include "sys/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-shard"

/* Memory for ids, if -S is not given: a quarter of what there is, but within these bounds. */
#define MEMORY_LEAST ((uint64_t)64 << 20)
#define MEMORY_MOST ((uint64_t)2 << 30)

#define SHARD_TOKENS 100000000

struct options {
    struct sharding_options sharding;
    unsigned format, shuffle;
    const char *fraction;
    bool drop, pad;
    bool convert;
    const char *check, *list, *model; /* --check DIR, --list DIR, -m */
    char **files;
    int n_files;
};

struct sharder {
    struct options opt;
    struct sharding *sharding;
    struct progress progress;
    struct buf line;
};

/* ---- The work ---- */

/* One line for each shard, for scripts. */
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
    unsigned width = shard_dtype_width(s->opt.sharding.plan.dtype);
    if (s->progress.active)
        progress_show(&s->progress, tokens * width, all * width, true, "of ids");
}

/* --convert */
static int run_convert(struct sharder *s, struct err *e)
{
    const struct sharding_options *o = &s->opt.sharding;
    const struct convert_options c = {.from = s->opt.files[0],
                                      .to = o->dir,
                                      .plan = o->plan,
                                      .software = o->software,
                                      .memory = o->memory,
                                      .resume = o->resume,
                                      .published = tell,
                                      .moved = show_converted,
                                      .ctx = s};
    bool was_complete = false;
    progress_start(&s->progress, NAME);
    int rc = convert(&c, &was_complete, e);
    progress_end(&s->progress);
    if (was_complete)
        program_note(NAME, "%s: was complete already", o->dir);
    return rc || fd_close_stdout(e) ? -1 : 0;
}

static void show(void *ctx)
{
    struct sharder *s = ctx;
    char what[100];
    if (!s->progress.active || !s->sharding)
        return;
    struct sharding_progress p = sharding_progress(s->sharding);
    if (!p.coverage || !p.coverage->promised || p.coverage->by_value) /* bpe-chunk shows how much it has read */
        return;
    snprintf(what, sizeof what, "of text, %.1f million ids, %llu shards", 1e-6 * (double)p.tokens,
             (unsigned long long)p.shards);
    progress_show(&s->progress, p.coverage->covered, p.coverage->promised, true, what);
}

static int take(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct sharder *s = ctx;
    if (sharding_put(s->sharding, rec, stream, e))
        return -1;
    show(s);
    return 0;
}

static int due(void *ctx, struct err *e)
{
    struct sharder *s = ctx;
    return sharding_due(s->sharding, e);
}

/* What can be done about missing ranges. */
static const char *advice(const struct sharding_options *o, char *to, size_t n)
{
    if (o->missing)
        snprintf(to, n, "encode them (bpe-chunk --only=%.200s) and give their ids with --resume", o->missing);
    else
        snprintf(to, n,
                 "what has come is kept in %.200s for --resume; --missing=FILE writes what is missing as work to do",
                 o->dir);
    return to;
}

/* --check, --list */
static int run_look(const struct options *o, struct err *e)
{
    bool given = o->files != program_no_files;
    const struct shard_check_options c = {
        .model = o->model, .files = o->files, .n_files = given ? o->n_files : 0, .fd = 1, .name = "standard output"};
    int rc = o->check ? shard_check(o->check, &c, e) : shard_list(o->list, c.fd, c.name, e);
    return rc || fd_close_stdout(e) ? -1 : 0;
}

static int run(void *ctx, struct err *e)
{
    struct sharder *s = ctx;
    struct sharding_options *o = &s->opt.sharding;
    char text[600];
    int read = 0;
    if (s->opt.check || s->opt.list)
        return run_look(&s->opt, e);
    if (s->opt.convert)
        return run_convert(s, e);
    o->published = tell;
    o->moved = show;
    o->ctx = s;
    progress_start(&s->progress, NAME);
    s->sharding = sharding_open(o, e);
    if (!s->sharding)
        return -1;
    for (int i = 0; i < s->opt.n_files && read == 0; i++)
        read = record_each_due(s->opt.files[i], take, due, s, e);
    int rc = sharding_finish(s->sharding, read, advice(o, text, sizeof text), e);
    progress_end(&s->progress);
    if (rc == 0 && sharding_was_complete(s->sharding))
        program_note(NAME, "%s: was complete already", o->dir);
    return rc || fd_close_stdout(e) ? -1 : 0;
}

static void sharder_free(void *ctx)
{
    struct sharder *s = ctx;
    sharding_close(s->sharding);
    buf_free(&s->line);
}

/* ---- The command line ---- */

static int check_fraction(const char *word, struct err *e)
{
    char *end;
    double v = strtod(word, &end);
    return end != word && !*end && v > 0 && v < 1
               ? 0
               : err_set(e, EX_USAGE, "--test-fraction %s: not a number between 0 and 1, as 0.005", word);
}

/* What goes together with --check and --list. */
static int check_look(const struct options *o, struct err *e)
{
    if (o->check && o->list)
        return err_set(e, EX_USAGE, "--check and --list exclude each other");
    if (o->sharding.dir || o->convert || o->sharding.resume)
        return err_set(e, EX_USAGE, "%s DIR makes no shards: -o, --convert and --resume do not go with it",
                       o->check ? "--check" : "--list");
    if (o->files != program_no_files && (o->list || !o->model))
        return err_set(e, EX_USAGE, "%s: FILEs are those of the corpus, for --check DIR -m MODEL", o->files[0]);
    return o->list && o->model ? err_set(e, EX_USAGE, "-m is for --check") : 0;
}

static int check(void *ctx, struct err *e)
{
    struct sharder *s = ctx;
    struct sharding_options *o = &s->opt.sharding;
    struct shard_plan *p = &o->plan;
    if (s->opt.check || s->opt.list)
        return check_look(&s->opt, e);
    if (s->opt.model)
        return err_set(e, EX_USAGE, "-m is for --check; the ids say which model made them");
    if (!o->dir)
        return err_set(e, EX_USAGE, "where to? give -o DIR; see --help");
    p->format = shard_formats[s->opt.format];
    p->docs |= p->format->has_docs;
    p->shuffled = s->opt.shuffle;
    s->opt.convert |= s->opt.n_files == 1 && convert_is_from(s->opt.files[0]);
    p->test_fraction = s->opt.fraction ? strtod(s->opt.fraction, NULL) : 0;
    if (s->opt.convert && (p->test_shards || s->opt.fraction || p->shuffled || o->missing || o->id))
        return err_set(e, EX_USAGE,
                       "--convert keeps order and splits: --test, --test-fraction, --shuffle, --missing and "
                       "--id have no meaning with it");
    if (s->opt.convert && (s->opt.n_files != 1 || strcmp(s->opt.files[0], "-") == 0))
        return err_set(e, EX_USAGE, "--convert takes one directory of shards");
    if (s->opt.drop && s->opt.pad)
        return err_set(e, EX_USAGE, "--drop-last and --pad-last exclude each other");
    return shard_plan_check(p, e);
}

static struct sharder self = {.opt.sharding = {.plan.shard_tokens = SHARD_TOKENS, .software = "bpetools " BPE_VERSION}};

static const char *const dtypes[] = {"auto", "u16", "u32", "i32", NULL}, *const orders[] = {"documents", NULL};

static const struct option_row options[] = {
    {'o', "output", "DIR", "put shards and manifest.json into DIR", .kind = OPTION_TEXT,
     .to.text = &self.opt.sharding.dir},
    {'n', "tokens", "TOKENS", "ids in a shard (default 100M); 0: all in one", .kind = OPTION_COUNT,
     .to.number = &self.opt.sharding.plan.shard_tokens},
    {'f', "format", "FORMAT", "npy (default), raw, llmc, megatron, datatrove, dolma or mds", .kind = OPTION_CHOICE,
     .to.choice = &self.opt.format, .get_words = shard_format_names},
    {'d', "dtype", "TYPE", "u16, u32, i32 or auto (default: what the format has for the vocabulary)",
     .kind = OPTION_CHOICE, .to.choice = &self.opt.sharding.plan.dtype, .words = dtypes, .first = DTYPE_AUTO},
    {0, "name", "NAME", "names of shards begin with NAME (default tokens)", .kind = OPTION_TEXT,
     .to.text = &self.opt.sharding.plan.name},
    {0, "test", "N", "the first N shards are for tests", .kind = OPTION_COUNT,
     .to.number = &self.opt.sharding.plan.test_shards},
    {0, "test-fraction", "F", "this part of the documents is for tests, chosen by --seed", .kind = OPTION_TEXT,
     .to.text = &self.opt.fraction, .check = check_fraction},
    {0, "seed", "S", "decides the order of --shuffle, and --test-fraction (default 0)", .kind = OPTION_COUNT,
     .to.number = &self.opt.sharding.plan.seed},
    {0, "shuffle", "WHAT", "documents: all documents in one random order, decided by --seed", .kind = OPTION_CHOICE,
     .to.choice = &self.opt.shuffle, .words = orders, .first = 1},
    {0, "resume", NULL, "go on with what an earlier run has left in DIR", .kind = OPTION_FLAG,
     .to.flag = &self.opt.sharding.resume},
    {0, "convert", NULL,
     "the FILE is a directory of shards (which is seen by itself):\nwrite their documents as other shards",
     .kind = OPTION_FLAG, .to.flag = &self.opt.convert},
    {0, "check", "DIR", "prove that the shards in DIR are what its manifest.json says", .kind = OPTION_TEXT,
     .to.text = &self.opt.check},
    {'m', "model", "MODEL", "with --check: all ids are tokens of it; encode some documents of FILEs anew",
     .kind = OPTION_TEXT, .to.text = &self.opt.model},
    {0, "list", "DIR", "show the shards in DIR", .kind = OPTION_TEXT, .to.text = &self.opt.list},
    {0, "missing", "FILE", "write what did not come to FILE, for bpe-chunk --only", .kind = OPTION_TEXT,
     .to.text = &self.opt.sharding.missing},
    {0, "drop-last", NULL, "leave out ids that do not fill a shard", .kind = OPTION_VALUE,
     .to.choice = &self.opt.sharding.plan.last, .given = &self.opt.drop, .first = LAST_DROPPED},
    {0, "pad-last", NULL, "fill the last shard with the separator's id, or 0", .kind = OPTION_VALUE,
     .to.choice = &self.opt.sharding.plan.last, .given = &self.opt.pad, .first = LAST_PADDED},
    {0, "docs", NULL, "a table beside each shard, which says where its documents come from", .kind = OPTION_FLAG,
     .to.flag = &self.opt.sharding.plan.docs},
    {0, "id", "FIELD", "documents must have the names that bpe-chunk --id=FIELD gives them", .kind = OPTION_TEXT,
     .to.text = &self.opt.sharding.id},
    {0, "sha256", NULL, "SHA-256 of each file in manifest.json, too", .kind = OPTION_FLAG,
     .to.flag = &self.opt.sharding.plan.sha256},
    {'S', "memory", "SIZE", "memory for ids whose turn has not come\n(default: a quarter of what there is, at most 2G)",
     .kind = OPTION_MEMORY, .to.number = &self.opt.sharding.memory},
    {0},
};

static const struct program program = {
    .name = NAME,
    .synopsis = "-o DIR [-n TOKENS] [-f FORMAT] [-d TYPE] [--name=NAME]\n"
                "[--test=N | --test-fraction=F] [--shuffle=documents] [--seed=S]\n"
                "[--drop-last | --pad-last] [--docs] [--id=FIELD] [--sha256]\n"
                "[--resume] [--missing=FILE] [-S SIZE] [FILE...]\n" NAME
                " --convert -o DIR [-n TOKENS] [-f FORMAT] [-d TYPE] [--name=NAME]\n"
                "[--drop-last | --pad-last] [--docs] [--sha256] [--resume] DIR\n" NAME
                " --check DIR [-m MODEL [FILE...]]\n" NAME " --list DIR",
    .about = "Writes ids (from bpe-encode) as shards for training programs.",
    .options = options,
    .files = &self.opt.files,
    .n_files = &self.opt.n_files,
    .ctx = &self,
    .check = check,
    .run = run,
    .free = sharder_free,
};

int main(int argc, char **argv)
{
    uint64_t memory = memory_limit() / 4;
    self.opt.sharding.memory = memory < MEMORY_LEAST ? MEMORY_LEAST : memory < MEMORY_MOST ? memory : MEMORY_MOST;
    return program_main(&program, argc, argv);
}
