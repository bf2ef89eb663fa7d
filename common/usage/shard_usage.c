/* shard_usage.c - see shard_usage.h. */
#include "usage/shard_usage.h"

#include "base/sys/memory.h"
#include "shard/format/formats.h"
#include "shard/shard_convert.h"

#include <stdlib.h>
#include <string.h>

/* Memory for ids, if -S is not given: a quarter of what there is, but within these bounds. */
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
               : err_set(e, EX_USAGE, "--test-fraction %s: not a number between 0 and 1, as 0.005", word);
}

/* What goes together with --check and --list. */
static int check_look(const struct shard_options *o, struct err *e)
{
    if (o->check && o->list)
        return err_set(e, EX_USAGE, "--check and --list exclude each other");
    if (o->pipeline.dir || o->convert || o->pipeline.resume)
        return err_set(e, EX_USAGE, "%s DIR makes no shards: -o, --convert and --resume do not go with it",
                       o->check ? "--check" : "--list");
    if (o->files != usage_no_files && (o->list || !o->model))
        return err_set(e, EX_USAGE, "%s: FILEs are those of the corpus, for --check DIR -m MODEL", o->files[0]);
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
        return err_set(e, EX_USAGE, "-m is for --check; the ids say which model made them");
    if (!o->dir)
        return err_set(e, EX_USAGE, "where to? give -o DIR; see --help");
    p->format = shard_formats[s->format];
    p->docs |= p->format->has_docs;
    p->shuffled = s->shuffle;
    s->convert |= s->n_files == 1 && shard_convert_is_from(s->files[0]);
    p->test_fraction = s->fraction ? strtod(s->fraction, NULL) : 0;
    if (s->convert && (p->test_shards || s->fraction || p->shuffled || o->missing || o->id))
        return err_set(e, EX_USAGE,
                       "--convert keeps order and splits: --test, --test-fraction, --shuffle, --missing and "
                       "--id have no meaning with it");
    if (s->convert && (s->n_files != 1 || strcmp(s->files[0], "-") == 0))
        return err_set(e, EX_USAGE, "--convert takes one directory of shards");
    if (s->drop && s->pad)
        return err_set(e, EX_USAGE, "--drop-last and --pad-last exclude each other");
    return shard_plan_check(p, e);
}

static const char *const dtypes[] = {"auto", "u16", "u32", "i32", NULL}, *const orders[] = {"documents", NULL};

static const struct option_row rows[] = {
    {'o', "output", "DIR", "put shards and manifest.json into DIR",
     OPTION_TO(TEXT, struct shard_options, pipeline.dir)},
    {'n', "tokens", "TOKENS", "ids in a shard (default 100M); 0: all in one",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.shard_tokens)},
    {'f', "format", "FORMAT", "npy (default), raw, llmc, megatron, datatrove, dolma or mds",
     OPTION_TO(CHOICE, struct shard_options, format), .get_words = shard_format_names},
    {'d', "dtype", "TYPE", "u16, u32, i32 or auto (default: what the format has for the vocabulary)",
     OPTION_TO(CHOICE, struct shard_options, pipeline.plan.dtype), .words = dtypes, .first = DTYPE_AUTO},
    {0, "name", "NAME", "names of shards begin with NAME (default tokens)",
     OPTION_TO(TEXT, struct shard_options, pipeline.plan.name)},
    {0, "test", "N", "the first N shards are for tests",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.test_shards)},
    {0, "test-fraction", "F", "this part of the documents is for tests, chosen by --seed",
     OPTION_TO(TEXT, struct shard_options, fraction), .check = check_fraction},
    {0, "seed", "S", "decides the order of --shuffle, and --test-fraction (default 0)",
     OPTION_TO(COUNT, struct shard_options, pipeline.plan.seed)},
    {0, "shuffle", "WHAT", "documents: all documents in one random order, decided by --seed",
     OPTION_TO(CHOICE, struct shard_options, shuffle), .words = orders, .first = 1},
    {0, "resume", NULL, "go on with what an earlier run has left in DIR",
     OPTION_TO(FLAG, struct shard_options, pipeline.resume)},
    {0, "convert", NULL,
     "the FILE is a directory of shards (which is seen by itself):\nwrite their documents as other shards",
     OPTION_TO(FLAG, struct shard_options, convert)},
    {0, "check", "DIR", "prove that the shards in DIR are what its manifest.json says",
     OPTION_TO(TEXT, struct shard_options, check)},
    {'m', "model", "MODEL", "with --check: all ids are tokens of it; encode some documents of FILEs anew",
     OPTION_TO(TEXT, struct shard_options, model)},
    {0, "list", "DIR", "show the shards in DIR", OPTION_TO(TEXT, struct shard_options, list)},
    {0, "missing", "FILE", "write what did not come to FILE, for bpe-chunk --only",
     OPTION_TO(TEXT, struct shard_options, pipeline.missing)},
    {0, "drop-last", NULL, "leave out ids that do not fill a shard",
     OPTION_TO(VALUE, struct shard_options, pipeline.plan.last), OPTION_GIVEN(struct shard_options, drop),
     .first = LAST_DROPPED},
    {0, "pad-last", NULL, "fill the last shard with the separator's id, or 0",
     OPTION_TO(VALUE, struct shard_options, pipeline.plan.last), OPTION_GIVEN(struct shard_options, pad),
     .first = LAST_PADDED},
    {0, "docs", NULL, "a table beside each shard, which says where its documents come from",
     OPTION_TO(FLAG, struct shard_options, pipeline.plan.docs)},
    {0, "id", "FIELD", "documents must have the names that bpe-chunk --id=FIELD gives them",
     OPTION_TO(TEXT, struct shard_options, pipeline.id)},
    {0, "sha256", NULL, "SHA-256 of each file in manifest.json, too",
     OPTION_TO(FLAG, struct shard_options, pipeline.plan.sha256)},
    {'S', "memory", "SIZE", "memory for ids whose turn has not come\n(default: a quarter of what there is, at most 2G)",
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
