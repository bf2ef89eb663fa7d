/* train.c - bpe train: text to a tokenizer, on all cores of one machine.
 *
 *     bpe-chunk FILE... | as many bpe-counts as jobs | bpe-sum | bpe-merge -v N
 *
 * The exit status is that of bpe-merge, which is told of every failure upstream (bpe(7)); with --parquet and --keep,
 * that of the process that failed first (driver/job.h). If anything failed, no model is written.
 */
#include "bpe/train.h"

#include "bpe/front.h"

#include "base/io/fd.h"
#include "driver/model_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct train self;

static struct command_program programs[] = {
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &sum_usage, .options = &self.sum},
    {.usage = &merge_usage, .options = &self.merge},
};
static struct command_program *const chunk = &programs[0], *const sum = &programs[1], *const merge = &programs[2];

static char *count[] = {"bpe-count"};
static struct option_words worker = {.at = count, .n = 1};

static struct train self = {.chunk_words = &programs[0].words,
                            .sum_words = &programs[1].words,
                            .merge_words = &programs[2].words,
                            .worker = &worker};

static const char *const fan_outs[] = {"auto", "xargs", "parallel", "none", NULL};

/* Checks, before any work, that an output can be written. path: NULL: standard output. */
static int check_output(void *unused, const char *path, struct err *e)
{
    (void)unused;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (fd_keep_apart(path, self.chunk.files, (size_t)self.chunk.n_files, e))
        return -1;
    if (!path || access(path, F_OK) == 0)
        return 0;
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!dir)
        return err_mem(e, "a file name", strlen(path));
    int rc = access(dir, W_OK | X_OK) ? err_sys(e, EX_CANTCREAT, errno, "%s: cannot create", path) : 0;
    free(dir);
    return rc;
}

/* Checks, before any work, that the tool of --fan-out=xargs or parallel is installed; warns if it is not used. */
static int check_fan_out(struct job *j, struct err *e)
{
    char line[100];
    const char *tool = fan_outs[self.fan_out], *divides = self.keep             ? "--keep"
                                                          : self.common.parquet ? "--parquet"
                                                                                : NULL;
    if (self.common.via || (self.fan_out != FAN_OUT_XARGS && self.fan_out != FAN_OUT_PARALLEL))
        return 0;
    if (divides) {
        snprintf(line, sizeof line, "--fan-out=%s: not used, because %s divides the work itself", tool, divides);
        job_print(j->command, line);
        return 0;
    }
    bool perl = self.fan_out == FAN_OUT_PARALLEL; /* which GNU parallel runs again */
    if (job_need(tool, e) || (perl && job_need("perl", e)))
        return -1;
    return 0;
}

static int run(struct job *j, struct err *e)
{
    bool listed = self.chunk.source.files_from || self.chunk.source.files0_from;
    if (check_fan_out(j, e))
        return -1;
    if (!listed && !self.chunk.has_status && watch_reads_input(self.files, self.n_files) && command_input_check(j, e))
        return -1;
    return self.super.n ? train_super(&self, j, e) : train_run(&self, j, e);
}

static int check(struct err *e)
{
    struct chunk_options *c = &self.chunk;
    command_mix(&self.common, &c->source, self.files, self.n_files);
    if (command_options_check(&self.common, &c->source, false, self.n_files, e) ||
        command_weigh(&self.common, self.files, self.n_files, e))
        return -1;
    if (self.keep && !*self.keep)
        return err_set(e, EX_USAGE, "--keep: missing DIR");
    if (self.keep && self.common.via)
        return err_set(e, EX_USAGE, "--keep and --via cannot be combined; bpe tasks keeps the counts of other hosts");
    if (self.common.parquet && c->has_status)
        return err_set(e, EX_USAGE, "--input-status is for text from standard input");
    if (self.common.mixed && self.common.via)
        return err_set(e, EX_USAGE, "--via: cannot mix Parquet and other files; leave it out");
    if (self.merge.live && !self.super.n && !self.boundless)
        return err_set(e, EX_USAGE, "--live is for --super and --boundless");
    self.live = self.merge.live;
    self.merge.live = 0;
    if (self.merge.sizes && strchr(self.merge.sizes, ',') && (self.super.n || self.boundless))
        return err_set(e, EX_USAGE, "--%s: give one vocabulary size with -v", self.super.n ? "super" : "boundless");
    if (model_words_init(&self.merge, c, self.chunk_words, e))
        return -1;
    c->source.is_form[FORM_NUL] |= self.common.parquet && !self.common.mixed;
    if (command_check(chunk, self.files, self.n_files, e) || command_check(sum, NULL, 0, e) ||
        command_check(merge, NULL, 0, e) || ((self.super.n || self.boundless) && train_super_check(&self, e)) ||
        merge_each_output(&self.merge, check_output, NULL, e))
        return -1;
    return 0;
}

static int check_super(const char *text, void *options, struct err *e)
{
    return train_super_read(text, &((struct train *)options)->super, e);
}

static const struct option_row rows[] = {
    COMMAND_JOBS(struct train, common, "count"),
    {0, "fan-out", "HOW",
     "how they get their chunks: auto (default: a socket that they share),\n"
     "xargs, parallel (GNU parallel), or none: one process",
     OPTION_TO(CHOICE, struct train, fan_out), .words = fan_outs},
    COMMAND_VIA(struct train, common),
    {0, "super", "T[,...]",
     "superwords: learn words up to T tokens, then tokens across spaces, up\n"
     "to -v. T,lines: none across lines; T,drop: without merges that do not\n"
     "apply then; T,runs: of whole pretokens only; several T: a model for\n"
     "each, with %t in the PATH of -o",
     OPTION_TO(TEXT, struct train, super_text), .check = check_super},
    {0, "boundless", NULL, "superwords of whole pretokens, where they are more frequent than words",
     OPTION_TO(FLAG, struct train, boundless)},
    {0, "keep", "DIR", "keep the counts in DIR: after a failure, the same command counts the rest",
     OPTION_TO(TEXT, struct train, keep)},
    COMMAND_WEIGHT(struct train, common),
    COMMAND_PARQUET(struct train, common),
    COMMAND_PROGRESS(struct train, common),
    {0, "parity", NULL, "--parity: bpe train makes one sum; make one for each language, and see bpe-merge",
     .kind = OPTION_REFUSED},
    {0, "only", "FILE", "--only is for bpe-chunk: it completes the counts of another run (see bpe(7))",
     .kind = OPTION_REFUSED},
    {'m', "model", "MODEL",
     "--model: bpe train learns a new model; to extend one, see --init; for its pattern and special tokens only, use "
     "bpe-chunk -m MODEL in a pipeline of your own",
     .kind = OPTION_REFUSED},
    {0, "extend", "MODEL", "--extend: leave it out; --super drives the rounds, and --init gives the first stage",
     .kind = OPTION_REFUSED},
    {0, "live-pairs", "K", "--live-pairs: leave it out; --super determines how many are needed",
     .kind = OPTION_REFUSED},
    COMMAND_NO_DEALT,
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe train",
    .usage = "usage: bpe train -v N [-j JOBS] [--fan-out=auto|xargs|parallel|none] [--via=COMMAND]\n"
             "                 [--super=T[,...]|--boundless] [--keep=DIR] [--parquet[=COLUMN]]\n"
             "                 [--progress=SECONDS] [--monitor[=SECONDS]] [OPTION]... [[--weight=WEIGHT] FILE]...\n"
             "Trains a tokenizer on FILEs (standard input if none, or -) and writes it to standard output, or with\n"
             "-o to PATH, which appears when complete.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int train_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
