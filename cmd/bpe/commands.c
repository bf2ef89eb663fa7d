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
    {"describe", "what tokenizers do to a text: bytes per token, frequent tokens", describe_main},
    {"encode", "text to ids, on all cores of one machine, in order", encode_main},
    {"job", NULL, job_main},
    {"monitor", "which pipelines run on this machine, and which stage of each is the bottleneck", monitor_main},
    {"plan", "what training on a large corpus takes, from a sample of it: pretokens, bytes, memory, time, cost",
     plan_main},
    {"shard", "text to shards of token ids for training, on all cores; run again, it goes on where it was", shard_main},
    {"sum-tree", "adds up many counts or sums by several processes", sum_tree_main},
    {"tasks", "train or shard as numbered tasks in a shared directory, for any engine that runs them", tasks_main},
    {"train", "text to a tokenizer, on all cores of one machine", train_main},
    {"tune", "how many processes, and pieces of which size, are fastest for a corpus on this machine", tune_main},
    {"upload", "moves the shards of bpe-shard to S3, GCS or any remote of rclone, while more are made", upload_main},
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
