/* tasks_split.c - bpe tasks split: for the scripts of engines, divides the options of bpe train or bpe shard into those
 * for planning and those for the last step. */
#include "bpe/tasks.h"

#include "base/io/fd.h"
#include "base/sys/shell_words.h"
#include "driver/model_words.h"
#include "usage/chunk_usage.h"
#include "usage/encode_usage.h"
#include "usage/merge_usage.h"
#include "usage/shard_usage.h"
#include "usage/sum_usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct split {
    struct command_options common;
    const char *model, *id;
    struct chunk_options chunk;
    struct encode_options encode;
    struct sum_options sum;
    struct merge_options merge;
    struct shard_options shard;
    char **files;
    int n_files;
} self;

static struct command_program of_train[] = {
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &sum_usage, .options = &self.sum},
    {.usage = &merge_usage, .options = &self.merge},
};
static struct command_program of_shard[] = {
    {.usage = &shard_usage, .options = &self.shard, .only = true},
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &encode_usage, .options = &self.encode},
};

/* ---- Words for a shell ---- */

static int put_quoted(struct buf *to, const char *word, const char *after, struct err *e)
{
    if (shell_words_quote(to, word, e) || buf_put_str(to, after, e))
        return -1;
    return 0;
}

/* Puts the words of `from` that are not in `before`. */
static int put_words(struct buf *to, const struct option_words *from, const struct option_words *before, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < from->n && rc == 0; i++) {
        bool known = false;
        for (size_t k = 0; before && k < before->n; k++)
            known |= strcmp(from->at[i], before->at[k]) == 0;
        rc = known ? 0 : put_quoted(to, from->at[i], " ", e);
    }
    return rc;
}

static int put_option(struct buf *to, const char *name, const char *value, struct err *e)
{
    struct option_words word = {0};
    int rc = option_words_add(&word, e, "--%s=%s", name, value) || put_quoted(to, word.at[0], " ", e) ? -1 : 0;
    option_words_free(&word);
    return rc;
}

static int put_parquet(struct buf *to, struct err *e)
{
    const struct command_options *o = &self.common;
    int rc = o->parquet ? put_option(to, "parquet", o->column, e) : 0;
    if (rc == 0 && o->has_nul_bytes)
        rc = put_option(to, "nul-bytes", command_nul_bytes[o->nul_bytes], e);
    if (rc == 0 && o->has_null_rows)
        rc = put_option(to, "null-rows", command_null_rows[o->null_rows], e);
    return rc;
}

static int put_files(struct buf *to, struct err *e)
{
    struct command_line l = {0};
    int rc = command_line_texts(&l, &self.common, self.files, self.n_files, e);
    for (size_t i = 0; i < l.n && rc == 0; i++)
        rc = (i && buf_put_byte(to, ' ', e)) || put_quoted(to, l.words[i], "", e) ? -1 : 0;
    command_line_free(&l);
    return rc;
}

/* Prints both as shell assignments. */
static int print(struct buf *plan, struct buf *finish, struct err *e)
{
    struct buf out = {0};
    int rc = buf_put_byte(plan, '\0', e) || buf_put_byte(finish, '\0', e) || buf_put_str(&out, "plan=", e) ||
                     put_quoted(&out, (const char *)plan->p, "\nfinish=", e) ||
                     put_quoted(&out, (const char *)finish->p, "\n", e) ||
                     fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e)
                 ? -1
                 : 0;
    buf_free(&out);
    return rc;
}

/* ---- train ---- */

static int run_train(struct job *j, struct err *e)
{
    struct buf plan = {0}, finish = {0};
    (void)j;
    int rc = put_parquet(&plan, e) || put_words(&plan, &of_train[0].words, NULL, e) || put_files(&plan, e) ||
                     put_words(&finish, &of_train[1].words, NULL, e) ||
                     put_words(&finish, &of_train[2].words, &of_train[1].words, e) || print(&plan, &finish, e)
                 ? -1
                 : 0;
    buf_free(&plan);
    buf_free(&finish);
    return rc;
}

static int check_programs(struct command_program *programs, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (command_check(&programs[i], NULL, 0, e))
            return -1;
    }
    return 0;
}

static int check_train(struct err *e)
{
    struct source_options *s = &self.chunk.source;
    if (!self.merge.sizes)
        return err_set(e, EX_USAGE, "missing -v N (vocabulary size); see --help");
    if (!self.merge.path)
        return err_set(e, EX_USAGE, "missing -o MODEL (the new model); see --help");
    if (model_words_init(&self.merge, &self.chunk, &of_train[0].words, e))
        return -1;
    command_mix(&self.common, s, self.files, self.n_files);
    if (command_options_check(&self.common, s, false, self.n_files, e) ||
        command_weigh(&self.common, self.files, self.n_files, e))
        return -1;
    return check_programs(of_train, sizeof of_train / sizeof *of_train, e);
}

static const struct option_row train_rows[] = {
    COMMAND_WEIGHT(struct split, common),
    COMMAND_PARQUET(struct split, common),
    COMMAND_BY_ITSELF("only", "FILE"),
    TASKS_NAMES_FILES,
    COMMAND_BY_ITSELF("missing", "FILE"),
    COMMAND_BY_ITSELF("partial", NULL),
    {'m', "model", "MODEL", "--model: leave it out; it is for shards", .kind = OPTION_REFUSED},
    COMMAND_NO_INNER,
    COMMAND_NO_VERSION,
    {0},
};

/* ---- shard ---- */

static int run_shard(struct job *j, struct err *e)
{
    struct buf plan = {0}, finish = {0};
    (void)j;
    int rc = put_option(&plan, "model", self.model, e) || put_words(&plan, &of_shard[1].words, NULL, e) ||
                     put_words(&plan, &of_shard[2].words, &of_shard[1].words, e) ||
                     (self.id && (put_option(&plan, "id", self.id, e) || put_option(&finish, "id", self.id, e))) ||
                     put_files(&plan, e) || put_words(&finish, &of_shard[0].words, NULL, e) || print(&plan, &finish, e)
                 ? -1
                 : 0;
    buf_free(&plan);
    buf_free(&finish);
    return rc;
}

static int check_shard(struct err *e)
{
    if (!self.model)
        return err_set(e, EX_USAGE, "missing -m MODEL; see --help");
    if (!self.shard.pipeline.dir || !*self.shard.pipeline.dir)
        return err_set(e, EX_USAGE, "missing -o OUT (directory for the shards); see --help");
    self.chunk.rules.model = self.encode.model = self.model;
    self.chunk.source.id = self.shard.pipeline.id = self.id;
    if (self.encode.special == SPECIAL_TEXT)
        self.chunk.rules.special.n = 0;
    return check_programs(of_shard, sizeof of_shard / sizeof *of_shard, e);
}

static const struct option_row shard_rows[] = {
    {'m', "model", "MODEL", "the model, as for bpe-encode", OPTION_TO(TEXT, struct split, model)},
    {0, "inline", NULL, "--inline: leave it out; it is only for counting", .kind = OPTION_REFUSED},
    SOURCE_ID(struct split, id),
    COMMAND_BY_ITSELF("resume", NULL),
    COMMAND_BY_ITSELF("missing", "FILE"),
    COMMAND_BY_ITSELF("only", "FILE"),
    TASKS_NAMES_FILES,
    COMMAND_OF_SHARD("check"),
    COMMAND_OF_SHARD("list"),
    COMMAND_OF_SHARD("convert"),
    COMMAND_NO_WEIGHT("leave it out; it is for counting"),
    COMMAND_BY_MODEL,
    COMMAND_NO_INNER,
    COMMAND_NO_VERSION,
    {0},
};

/* ---- All ---- */

static struct command split_train = {
    .usage = "",
    .options = train_rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(of_train),
    .check = check_train,
    .run = run_train,
};

static struct command split_shard = {
    .usage = "",
    .options = shard_rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(of_shard),
    .check = check_shard,
    .run = run_shard,
};

/* split train|shard NAME [OPTION]... FILE...: messages begin with NAME. */
int tasks_split(int argc, char **argv)
{
    struct command *c = argc > 2 && strcmp(argv[1], "train") == 0   ? &split_train
                        : argc > 2 && strcmp(argv[1], "shard") == 0 ? &split_shard
                                                                    : NULL;
    if (!c) {
        job_print("bpe tasks", "split: give train or shard, the name for messages, and the options and FILEs");
        return EX_USAGE;
    }
    c->name = argv[2];
    return command_main(c, argc - 2, argv + 2);
}
