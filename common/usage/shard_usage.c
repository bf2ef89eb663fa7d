/* shard_usage.c - see shard_usage.h. */
#include "usage/shard_usage.h"

#include "base/sys/memory.h"
#include "shard/format/formats.h"
#include "shard/shard_convert.h"

#include <stdlib.h>
#include <string.h>

/* Memory for ids without -S: a quarter of the memory limit, but within these bounds. */
#define SHARD_MEMORY_MIN ((uint64_t)64 << 20)
#define SHARD_MEMORY_MAX ((uint64_t)2 << 30)

#define SHARD_TOKENS 100000000

static void init(void *options)
{
    struct shard_options *s = options;
    uint64_t memory = memory_limit() / 4;
    s->pipeline.memory = memory < SHARD_MEMORY_MIN   ? SHARD_MEMORY_MIN
                         : memory < SHARD_MEMORY_MAX ? memory
                                                     : SHARD_MEMORY_MAX;
    s->pipeline.plan.shard_tokens = SHARD_TOKENS;
    s->pipeline.software = "bpetools " BPE_VERSION;
}

static int check_fraction(const char *word, void *options, struct err *e)
{
    char *end;
    (void)options;
    double v = strtod(word, &end);
    return end != word && !*end && v > 0 && v < 1
               ? 0
               : err_set(e, EX_USAGE, "--test-fraction %s: not a number between 0 and 1, such as 0.005", word);
}

/* Checks the options with --check or --list. */
static int check_look(const struct shard_options *o, struct err *e)
{
    if (o->check && o->list)
        return err_set(e, EX_USAGE, "--check and --list cannot be combined");
    if (o->pipeline.dir || o->convert || o->pipeline.resume)
        return err_set(e, EX_USAGE, "%s DIR writes no shards; leave out -o, --convert and --resume",
                       o->check ? "--check" : "--list");
    if (o->files != usage_no_files && (o->list || !o->model))
        return err_set(e, EX_USAGE, "%s: FILEs (the corpus) are only for --check DIR -m MODEL", o->files[0]);
    return o->list && o->model ? err_set(e, EX_USAGE, "-m is for --check") : 0;
}

static int check(void *options, struct err *e)
{
    struct shard_options *s = options;
    struct shard_pipeline_options *o = &s->pipeline;
    struct shard_plan *p = &o->plan;
    if (s->check || s->list)
        return check_look(s, e);
    if (s->model)
        return err_set(e, EX_USAGE, "-m is for --check; the ids record which model made them");
    if (!o->dir)
        return err_set(e, EX_USAGE, "missing -o DIR (directory of the shards); see --help");
    p->format = shard_formats[s->format];
    p->docs |= p->format->has_docs;
    p->shuffled = s->shuffle;
    s->convert |= s->n_files == 1 && shard_convert_is_from(s->files[0]);
    p->test_fraction = s->fraction ? strtod(s->fraction, NULL) : 0;
    if (s->convert && (p->test_shards || s->fraction || p->shuffled || o->missing || o->id))
        return err_set(e, EX_USAGE,
                       "--convert keeps the order and the splits; leave out --test, --test-fraction, --shuffle, "
                       "--missing and --id");
    if (s->convert && (s->n_files != 1 || strcmp(s->files[0], "-") == 0))
        return err_set(e, EX_USAGE, "--convert takes one directory of shards");
    if (s->drop && s->pad)
        return err_set(e, EX_USAGE, "--drop-last and --pad-last cannot be combined");
    return shard_plan_check(p, e);
}

static const char *const dtypes[] = {"auto", "u16", "u32", "i32", NULL}, *const orders[] = {"documents", NULL};

static const struct option_row rows[] = {
    {'o', "output", "DIR", "write shards and manifest.json to DIR",
     OPTION_TO(TEXT, struct shard_options, pipeline.dir)},
    {'n', "tokens", "TOKENS", "ids per shard (default 100M); 0: all in one shard",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.shard_tokens)},
    {'f', "format", "FORMAT", "npy (default), raw, llmc, megatron, datatrove, dolma or mds",
     OPTION_TO(CHOICE, struct shard_options, format), .get_words = shard_format_names},
    {'d', "dtype", "TYPE", "u16, u32, i32 or auto (default; depends on format and vocabulary size)",
     OPTION_TO(CHOICE, struct shard_options, pipeline.plan.dtype), .words = dtypes, .first = DTYPE_AUTO},
    {0, "name", "NAME", "begin the names of shards with NAME (default tokens)",
     OPTION_TO(TEXT, struct shard_options, pipeline.plan.name)},
    {0, "test", "N", "reserve the first N shards for testing",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.test_shards)},
    {0, "test-fraction", "F", "reserve this fraction of the documents, chosen by --seed, for testing",
     OPTION_TO(TEXT, struct shard_options, fraction), .check = check_fraction},
    {0, "seed", "S", "the random seed of --shuffle and --test-fraction (default 0)",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.seed)},
    {0, "shuffle", "WHAT", "documents: all documents in random order, chosen by --seed",
     OPTION_TO(CHOICE, struct shard_options, shuffle), .words = orders, .first = 1},
    {0, "resume", NULL, "resume an interrupted job from its files in DIR",
     OPTION_TO(FLAG, struct shard_options, pipeline.resume)},
    {0, "convert", NULL,
     "write the documents of FILE, a directory of shards, as new shards\n(automatic if FILE contains a manifest.json)",
     OPTION_TO(FLAG, struct shard_options, convert)},
    {0, "check", "DIR", "verify the shards in DIR against its manifest.json",
     OPTION_TO(TEXT, struct shard_options, check)},
    {'m', "model", "MODEL", "with --check: all ids must be in MODEL; re-encode some documents of FILEs",
     OPTION_TO(TEXT, struct shard_options, model)},
    {0, "list", "DIR", "list the shards in DIR", OPTION_TO(TEXT, struct shard_options, list)},
    {0, "missing", "FILE", "write the missing ranges to FILE, for bpe-chunk --only",
     OPTION_TO(TEXT, struct shard_options, pipeline.missing)},
    {0, "drop-last", NULL, "drop the last ids if they do not fill a shard",
     OPTION_TO(VALUE, struct shard_options, pipeline.plan.last), OPTION_GIVEN(struct shard_options, drop),
     .first = LAST_DROPPED},
    {0, "pad-last", NULL, "fill the last shard with the separator's id, or 0",
     OPTION_TO(VALUE, struct shard_options, pipeline.plan.last), OPTION_GIVEN(struct shard_options, pad),
     .first = LAST_PADDED},
    {0, "docs", NULL, "write a table for each shard that records where its documents come from",
     OPTION_TO(FLAG, struct shard_options, pipeline.plan.docs)},
    {0, "id", "FIELD", "require that the ids of documents are those of bpe-chunk --id=FIELD",
     OPTION_TO(TEXT, struct shard_options, pipeline.id)},
    {0, "sha256", NULL, "record the SHA-256 of each file in manifest.json",
     OPTION_TO(FLAG, struct shard_options, pipeline.plan.sha256)},
    {'S', "memory", "SIZE", "memory for ids that arrive out of order\n(default: a quarter of the memory, at most 2G)",
     OPTION_TO(MEMORY, struct shard_options, pipeline.memory)},
    {0},
};

const struct usage shard_usage = {
    .name = "bpe-shard",
    .synopsis = "-o DIR [-n TOKENS] [-f FORMAT] [-d TYPE] [--name=NAME]\n"
                "[--test=N | --test-fraction=F] [--shuffle=documents] [--seed=S]\n"
                "[--drop-last | --pad-last] [--docs] [--id=FIELD] [--sha256]\n"
                "[--resume] [--missing=FILE] [-S SIZE] [FILE...]\n"
                "bpe-shard --convert -o DIR [-n TOKENS] [-f FORMAT] [-d TYPE] [--name=NAME]\n"
                "[--drop-last | --pad-last] [--docs] [--sha256] [--resume] DIR\n"
                "bpe-shard --check DIR [-m MODEL [FILE...]]\nbpe-shard --list DIR",
    .about = "Writes ids (from bpe-encode) as shards for training programs.",
    .options = rows,
    USAGE_FILES(struct shard_options, files, n_files),
    .init = init,
    .check = check,
};
