/* commands.c - the tables of commands and programs: see front.h. */
#include "bpe/front.h"

#include "usage/chunk_usage.h"
#include "usage/count_usage.h"
#include "usage/decode_usage.h"
#include "usage/encode_usage.h"
#include "usage/merge_usage.h"
#include "usage/model_usage.h"
#include "usage/shard_usage.h"
#include "usage/sum_usage.h"
#include "usage/view_usage.h"

#include <stdio.h>
#include <string.h>

const struct builtin builtins[] = {
    {"describe", "compare what tokenizers do to a text: bytes per token, frequent tokens", describe_main},
    {"encode", "encode text to ids on all cores, in order", encode_main},
    {"job", NULL, job_main},
    {"monitor", "show the pipelines that run on this machine, and the bottleneck of each", monitor_main},
    {"plan", "estimate bytes, memory, time and cost of training on a large corpus, from a sample", plan_main},
    {"report", "compare tokenizers in a page: languages, waste, curves; or check limits", report_main},
    {"shard", "make shards of token ids from text, on all cores; resumes when run again", shard_main},
    {"show", "show the tokens of a text, with their ids or offsets; compare two models", show_main},
    {"sum-tree", "add up many counts or sums with several processes", sum_tree_main},
    {"tasks", "train or shard as numbered tasks in a shared directory, to be run by any engine", tasks_main},
    {"train", "train a tokenizer from text, on all cores", train_main},
    {"tune", "find the fastest number of processes and size of pieces for a corpus on this machine", tune_main},
    {"upload", "upload shards to S3, GCS or any remote of rclone, while more are made", upload_main},
    {0},
};

const struct usage *const program_usages[] = {&chunk_usage, &count_usage, &decode_usage, &encode_usage, &merge_usage,
                                              &model_usage, &shard_usage, &sum_usage,    &view_usage,   NULL};

const struct builtin *builtin(const char *name)
{
    for (const struct builtin *b = builtins; b->name; b++) {
        if (strcmp(b->name, name) == 0)
            return b;
    }
    return NULL;
}

static const struct usage *program(const char *name)
{
    for (size_t i = 0; program_usages[i]; i++) {
        if (strcmp(program_usages[i]->name, name) == 0)
            return program_usages[i];
    }
    return NULL;
}

const struct usage *program_of(const char *name)
{
    char full[100];
    snprintf(full, sizeof full, "bpe-%.80s", name);
    return program(name) ? program(name) : program(full);
}
