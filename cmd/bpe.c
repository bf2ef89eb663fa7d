/* bpe - the everyday commands, and a front end for all others, as git has one: `bpe train` runs the pipeline train.
 *
 * A command is a part of this program (cmd/bpe/), or a file in another language that can be executed, in pipelines/
 * (installed: libexec/bpetools), whose second line says what it is for and whose name has no dot. `bpe slurm train`
 * runs slurm/train there, and `bpe ray train` ray/train.py. The programs are those beside this one.
 *
 * Exit status: that of the command; 64 if there is no such command; 127 if what runs it is not installed.
 */
#include "bpe/commands.h"
#include "bpe/front.h"
#include "cli/program.h"
#include "driver/place.h"
#include "io/fd.h"
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
#include <stdlib.h>
#include <string.h>

#define NAME "bpe"

const struct builtin builtins[] = {
    {"describe", "what tokenizers do to a text: bytes per token, frequent tokens", describe_main},
    {"encode", "text to ids, on all cores of one machine, in order", encode_main},
    {"job", NULL, job_main},
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

const struct usage *const programs[] = {&chunk_usage, &count_usage, &decode_usage, &encode_usage, &merge_usage,
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
    for (size_t i = 0; programs[i]; i++) {
        if (strcmp(programs[i]->name, name) == 0)
            return programs[i];
    }
    return NULL;
}

const struct usage *program_of(const char *name)
{
    char full[100];
    snprintf(full, sizeof full, "bpe-%.80s", name);
    return program(name) ? program(name) : program(full);
}

/* ---- All ---- */

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0);
}

static int run_engine(int argc, char **argv, struct err *e)
{
    const char *command = argc > 2 ? argv[2] : "";
    if (asks_for_help(argv[2]))
        return help_on(argv[1], e);
    char *file = script_of_engine(argv[1], command);
    if (!file)
        return err_set(e, EX_USAGE, "%s%s%s: no such command of that engine; see bpe help %s", argv[1],
                       *command ? " " : "", command, argv[1]);
    int rc = script_run(file, argv + 2, e);
    free(file);
    return rc;
}

static int run(int argc, char **argv, struct err *e)
{
    if (argc < 2 || !*argv[1])
        return help_which_command(e);
    if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
        return argc > 2 ? help_on(argv[2], e) : help_overview(e);
    if (strcmp(argv[1], "--version") == 0) {
        struct buf out = {0};
        return buf_put_str(&out, NAME " " BPE_VERSION "\n", e) || help_print(&out, e) ? -1 : 0;
    }
    const struct builtin *b = builtin(argv[1]);
    if (b)
        return b->main(argc - 1, argv + 1);
    if (script_is_engine(argv[1]))
        return run_engine(argc, argv, e);
    return script_is(argv[1]) ? script_run(argv[1], argv + 1, e) : help_no_command(argv[1], e);
}

int main(int argc, char **argv)
{
    static struct err e;
    static char text[ERR_TEXT];
    script_note_streams();
    fd_prepare();
    int status = place_init(argv[0] ? argv[0] : NAME, &e) ? -1 : run(argc, argv, &e);
    if (status < 0) {
        program_note(NAME, "%s", err_text(&e, text));
        status = e.code;
    }
    return status;
}
