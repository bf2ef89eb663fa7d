/* shard.c - bpe shard: text to shards of token ids, on all cores. The same command, run again, resumes.
 *
 *     bpe-chunk -m MODEL FILE... | as many bpe-encodes as jobs | bpe-shard -o DIR --resume
 *
 * This file reads the command line. The pipeline is in shard_line.c, the directory in shard_work.c.
 *
 * Exit status: that of bpe-shard, which is told of every failure upstream (bpe(7)); 64 if DIR was made, or begun, with
 * another model, other options or files, 65 if a file has changed since, 75 if the same command can resume.
 */
#include "bpe/shard.h"

#include "base/cli/program.h"
#include "bpe/front.h"
#include "driver/model_words.h"
#include "driver/resume.h"
#include "usage/chunk_usage.h"
#include "usage/encode_usage.h"
#include "usage/shard_usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct shard {
    struct command_options common;
    const char *dir, *model, *id;
    struct chunk_options chunk;
    struct encode_options encode;
    struct shard_options shard;
    char **files;
    int n_files;
} self;

static struct command_program programs[] = {
    {.usage = &shard_usage, .options = &self.shard, .only = true},
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &encode_usage, .options = &self.encode},
};
static struct command_program *const shard = &programs[0], *const chunk = &programs[1], *const encode = &programs[2];

static struct shard_asked asked;
static char **given; /* the words of the command line, for bpe-shard; there is room for two before them */

/* ---- Words for the programs ---- */

/* The model, as separate words: engines look for these, to send the file. */
static int put_model(struct option_words *to, struct err *e)
{
    if (option_words_add(to, e, "-m") || option_words_add(to, e, "%s", self.model))
        return -1;
    return 0;
}

/* How text is read, but not which text. --block and --input-status do not affect the result, and are kept separately.
 */
static int put_chunk(struct option_words *to, struct err *e)
{
    static const char *const elsewhere[] = {"block", "input-status", "files-from", "files0-from", NULL};
    const struct option_words *w = &chunk->words;
    struct option_words rest = {0};
    int rc = put_model(to, e);
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        bool list = option_word_is(w->at[i], "null") && self.chunk.source.files_from; /* -0 is only about the list */
        if (option_word_is(w->at[i], "block"))
            asked.block = w->at[i];
        if (option_word_is(w->at[i], "input-status"))
            asked.status = w->at[i];
        rc = !list && !option_word_in(w->at[i], elsewhere) ? option_words_add(&rest, e, "%s", w->at[i]) : 0;
    }
    rc = rc || model_words_chunk(to, &rest, self.encode.special == SPECIAL_TEXT, e) ||
                 (self.id && option_words_add(to, e, "--id=%s", self.id)) ||
                 (self.common.parquet && !self.common.mixed && option_words_add(to, e, "--null"))
             ? -1
             : 0;
    option_words_free(&rest);
    return rc;
}

static int put_encode(struct option_words *to, struct err *e)
{
    if (put_model(to, e) || model_words_encode(to, &encode->words, e))
        return -1;
    return 0;
}

static int put_shard(struct option_words *to, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < shard->words.n && rc == 0; i++)
        rc = option_words_add(to, e, "%s", shard->words.at[i]);
    if (rc || (self.id && option_words_add(to, e, "--id=%s", self.id)))
        return -1;
    return 0;
}

/* ---- All ---- */

static int run(struct job *j, struct err *e)
{
    const struct command_options *o = &self.common;
    char *script = NULL;
    struct buf words = {0};
    int status = put_chunk(&asked.chunk, e) || put_encode(&asked.encode, e) || put_shard(&asked.shard, e) ||
                         resume_put_asked(&words, &o->reader, &asked.chunk, (const char *const *)asked.encode.at,
                                          asked.encode.n, self.files, self.n_files, e) ||
                         (o->via && command_line_via(&asked.via, o->via, &script, e)) ||
                         (o->parquet && command_line_parquet(&asked.reader, o, e))
                     ? -1
                     : 0;
    const struct input_form *form = input_forms[source_options_form(&self.chunk.source)];
    if (status == 0 && o->mixed && *form->parquet)
        status = command_line_add(&asked.reader, e, form->parquet, self.chunk.source.field);
    asked.words = buf_str(&words);
    if (status == 0)
        status = shard_work(&asked, j, e);
    command_line_free(&asked.reader);
    command_line_free(&asked.parquet_files);
    command_line_free(&asked.sources);
    command_line_free(&asked.via);
    option_words_free(&asked.chunk);
    option_words_free(&asked.encode);
    option_words_free(&asked.shard);
    buf_free(&words);
    free(script);
    return status;
}

/* --check, --list and --convert need no text: bpe-shard replaces this process. Repeating --convert is not an error. */
static int become_shard(bool converts, struct err *e)
{
    static char name[] = "bpe-shard", resume[] = "--resume";
    if (converts)
        *--given = resume;
    *--given = name;
    execvp(name, given);
    return err_sys(e, errno == ENOENT ? 127 : EX_OSERR, errno, "%s: cannot run", name);
}

static int check_names(struct err *e)
{
    struct source_options *s = &self.chunk.source;
    const char *list = s->files0_from ? s->files0_from : s->files_from;
    if (!list)
        return 0;
    if (self.n_files)
        return err_set(e, EX_USAGE, "--files%s-from and FILEs cannot be combined", s->files0_from ? "0" : "");
    return source_options_files(s, &self.files, &self.n_files, e);
}

/* Divides the FILEs: bpe-chunk reads all Parquet from its standard input, in the input format of the others. */
static int check_parquet(struct err *e)
{
    const struct source_options *s = &self.chunk.source;
    const bool mixed = self.common.mixed;
    bool ended = false;
    const struct input_form *form = input_forms[source_options_form(s)];
    if (mixed && !form->parquet)
        return err_set(e, EX_USAGE,
                       "--parquet and --%s cannot be combined; make a separate directory of shards for each",
                       form->name);
    if (mixed && self.id)
        return err_set(e, EX_USAGE, "--parquet and --id cannot be combined: a row of Parquet has no id");
    if (mixed && watch_reads_input(self.files, self.n_files))
        return err_set(e, EX_USAGE, "standard input cannot be read together with Parquet files; name a file");
    for (int i = 0; i < self.n_files; i++) {
        bool parquet = command_is_parquet(&self.common, self.files[i]);
        if (!parquet && (strcmp(self.files[i], "/dev/fd/3") == 0 || strcmp(self.files[i], "/proc/self/fd/3") == 0))
            return err_set(e, EX_USAGE, "%s: bpe shard itself uses this descriptor with Parquet files; use another one",
                           self.files[i]); /* --input-status */
        if (parquet && ended)
            return err_set(e, EX_USAGE,
                           "%s: name all Parquet files next to each other, with no other files between them",
                           self.files[i]);
        ended |= !parquet && asked.parquet_files.n;
        if (parquet ? (!asked.parquet_files.n && command_line_add(&asked.sources, e, "-")) ||
                          command_line_add(&asked.parquet_files, e, self.files[i])
                    : command_line_add(&asked.sources, e, self.files[i]))
            return -1;
    }
    return 0;
}

static bool is_read_once(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
}

/* Reports usage errors before anything is made. */
static int check(struct err *e)
{
    static char dot[4096], *standard[] = {"-", NULL};
    struct chunk_options *c = &self.chunk;
    if (self.shard.check || self.shard.list || self.shard.convert)
        return become_shard(self.shard.convert, e);
    if (!self.model)
        return err_set(e, EX_USAGE, "missing -m MODEL; see --help");
    if (is_read_once(self.model))
        return err_set(e, EX_USAGE, "-m %s: the model is read several times; put it into a file", self.model);
    if (!self.dir || !*self.dir)
        return err_set(e, EX_USAGE, "missing -o DIR (directory for the shards); see --help");
    if (*self.dir == '-') { /* so that no program takes it for an option */
        snprintf(dot, sizeof dot, "./%.4000s", self.dir);
        self.dir = dot;
    }
    command_mix(&self.common, &c->source, self.files, self.n_files);
    if (self.common.parquet && c->has_status)
        return err_set(e, EX_USAGE, "--input-status is for text from standard input");
    if (command_options_check(&self.common, &c->source, false, self.n_files, e) || check_names(e) ||
        (self.common.parquet && check_parquet(e)))
        return -1;
    if (!self.n_files) {
        self.files = standard;
        self.n_files = 1;
    }
    c->rules.model = self.encode.model = self.model;
    c->source.id = self.shard.pipeline.id = self.id;
    c->source.is_form[FORM_NUL] |= self.common.parquet && !self.common.mixed;
    self.shard.pipeline.dir = self.dir;
    if (self.encode.special == SPECIAL_TEXT)
        c->rules.special.n = 0;
    asked.dir = self.dir;
    asked.parquet = self.common.parquet;
    asked.form = input_forms[source_options_form(&c->source)];
    asked.files = self.files;
    asked.n_files = self.n_files;
    asked.jobs = self.common.jobs;
    asked.progress = self.common.progress;
    if (command_check(shard, NULL, 0, e) || command_check(chunk, NULL, 0, e) || command_check(encode, NULL, 0, e))
        return -1;
    return 0;
}

#define RESUME_IS_AUTOMATIC ": leave it out; bpe shard resumes automatically"

static const struct option_row rows[] = {
    {'m', "model", "MODEL", "the model, as for bpe-encode", OPTION_TO(TEXT, struct shard, model)},
    {'o', "output", "DIR", "directory for the shards", OPTION_TO(TEXT, struct shard, dir)},
    COMMAND_JOBS(struct shard, common, "encode"),
    COMMAND_VIA(struct shard, common),
    COMMAND_PARQUET(struct shard, common),
    COMMAND_PROGRESS(struct shard, common),
    SOURCE_ID(struct shard, id),
    {0, "resume", NULL, "--resume" RESUME_IS_AUTOMATIC, .kind = OPTION_REFUSED},
    {0, "missing", "FILE", "--missing" RESUME_IS_AUTOMATIC, .kind = OPTION_REFUSED},
    {0, "only", "FILE", "--only" RESUME_IS_AUTOMATIC, .kind = OPTION_REFUSED},
    COMMAND_NO_WEIGHT("leave it out; it is for counting"),
    COMMAND_BY_MODEL,
    COMMAND_NO_DEALT,
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe shard",
    .usage = "usage: bpe shard -m MODEL -o DIR [-n TOKENS] [-f FORMAT] [-j JOBS] [--via=COMMAND]\n"
             "                 [--parquet[=COLUMN]] [--progress=SECONDS] [--monitor[=SECONDS]]\n"
             "                 [OPTION]... [FILE]...\n"
             "       bpe shard --check DIR | --list DIR | --convert -o DIR [OPTION]... DIR\n"
             "Makes shards of token ids in DIR from FILEs (standard input if none, or -), and prints a line of\n"
             "JSON for each finished shard. After a failure, the same command resumes. The other forms are\n"
             "those of bpe-shard.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int shard_main(int argc, char **argv)
{
    static struct err e;
    static char text[ERR_TEXT];
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
        return EX_OSERR;
    given = words + 2;
    memcpy(given, argv + 1, (size_t)(argc - 1) * sizeof *given);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool converts = option_word_is(argv[i], "convert");
        if (converts || option_word_is(argv[i], "check") ||
            option_word_is(argv[i], "list")) { /* whatever the other options */
            become_shard(converts, &e);
            program_note(command.name, "%s", err_text(&e, text));
            return e.code;
        }
    }
    int status = command_main(&command, argc, argv);
    free(words);
    return status;
}
