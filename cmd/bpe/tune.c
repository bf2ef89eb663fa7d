/* tune.c - bpe tune: finds the number of processes and the size of pieces that are fastest for a corpus on this
 * machine.
 *
 * Runs bpe shard, or bpe train, on the first part of the corpus, with each number of processes and each size of pieces;
 * prints a table, and the fastest command.
 *
 * Exit status: that of a command that failed; 64 or 66; 74 if the sample cannot be stored in TMPDIR; 75 if a process
 * was killed.
 */
#include "bpe/tune.h"

#include "base/io/fd.h"
#include "base/sys/num.h"
#include "base/sys/shell_words.h"
#include "bpe/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tune self = {.rounds = 3, .size = "32000"};

static struct command_program shard_programs[] = {
    {.usage = &shard_usage, .options = &self.shard, .only = true},
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &encode_usage, .options = &self.encode},
};
static struct command_program train_programs[] = {
    {.usage = &chunk_usage, .options = &self.chunk},
    {.usage = &sum_usage, .options = &self.sum},
};

/* ---- The result ---- */

static int by_time(const void *a, const void *b)
{
    const struct tune_time *s = a, *t = b;
    return s->seconds < t->seconds ? -1 : s->seconds > t->seconds;
}

/* Among those that took up to 3 % longer than the fastest, the one with the fewest processes, and with the default size
 * if that is among them. */
static const struct tune_time *best_of(const struct tune_time *rows, size_t n)
{
    double min = rows[0].seconds;
    for (size_t i = 1; i < n; i++)
        min = rows[i].seconds < min ? rows[i].seconds : min;
    for (size_t i = 0; i < n; i++) { /* in order of processes, the default size first */
        if (rows[i].seconds <= 1.03 * min)
            return &rows[i];
    }
    return rows;
}

static int put_table(struct buf *out, const struct tune_time *rows, size_t n, uint64_t bytes, struct err *e)
{
    int rc = buf_put_str(out, "processes   pieces   MB/s   seconds   CPU seconds\n", e);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct tune_time *r = &rows[i];
        rc = buf_printf(out, e, "%9llu  %7s  %5.0f  %8.2f  %12.2f\n", (unsigned long long)r->jobs,
                        r->block ? r->block : "default", 1e-6 * (double)bytes / r->seconds, r->seconds, r->cpu);
    }
    return rc;
}

/* A name that no program takes for an option. */
static const char *safe_name(const char *file, char **made, struct err *e)
{
    if (*file != '-' || !file[1])
        return file;
    return *made = fd_path(".", file, e);
}

static int put_command(struct buf *out, const struct tune_time *best, struct err *e)
{
    enum { MANY = 10, SOME = 2 };
    char jobs[32], *made[MANY] = {0};
    int n = self.n_files > MANY ? SOME : self.n_files;
    struct command_line l = {0};
    snprintf(jobs, sizeof jobs, "%llu", (unsigned long long)best->jobs);
    int rc = self.count ? command_line_add(&l, e, "bpe", "train", "-v", self.size)
                        : command_line_add(&l, e, "bpe", "shard", "-m", self.model, "-o", "DIR");
    rc = rc || command_line_add(&l, e, "-j", jobs) || (best->block && command_line_add(&l, e, "-b", best->block)) ||
         command_line_append(&l, &self.options, e);
    for (int i = 0; i < n && rc == 0; i++) {
        const char *name = safe_name(self.files[i], &made[i], e);
        rc = name ? command_line_add(&l, e, name) : -1;
    }
    rc = rc || (n < self.n_files && command_line_add(&l, e, "...")) || buf_put_str(out, "fastest:", e) ||
         shell_words_put(out, l.words, l.n, e) || buf_put_byte(out, '\n', e);
    for (int i = 0; i < n; i++)
        free(made[i]);
    command_line_free(&l);
    return rc ? -1 : 0;
}

/* Prints the medians of n rows of times. */
static int print(struct tune_time *times, size_t n, uint64_t bytes, struct err *e)
{
    size_t rounds = (size_t)self.rounds;
    struct buf out = {0};
    for (size_t i = 0; i < n; i++) {
        struct tune_time *row = &times[i * rounds];
        qsort(row, rounds, sizeof *row, by_time);
        times[i] = row[(rounds - 1) / 2];
    }
    int rc = put_table(&out, times, n, bytes, e) || put_command(&out, best_of(times, n), e) ||
             fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e);
    buf_free(&out);
    return rc ? -1 : 0;
}

/* ---- All ---- */

/* Collects the options that are passed on to the command. */
static int add_options(const struct command_program *programs, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t p = 0; p < n; p++) {
        const struct option_words *w = &programs[p].words;
        for (size_t i = 0; i < w->n && rc == 0; i++) {
            char name[64];
            bool before = false; /* an earlier program has it, too */
            snprintf(name, sizeof name, "%.*s", (int)strcspn(w->at[i] + 2, "="), w->at[i] + 2);
            for (size_t q = 0; q < p; q++)
                before |= options_find(programs[q].usage->options, name) != NULL;
            rc = before ? 0 : command_line_add(&self.options, e, w->at[i]);
        }
    }
    return rc;
}

/* Measures 1, 2, 4 and so on, and JOBS processes, each with each size of pieces. */
static int measure_all(const struct tune_sample *s, struct job *j, struct err *e)
{
    static const char *const several[] = {NULL, "1M", "4M", "16M"};
    const char *const *blocks = self.block ? &self.block : several;
    size_t n_blocks = self.block ? 1 : sizeof several / sizeof *several, rounds = (size_t)self.rounds, n_numbers = 1;
    while ((uint64_t)1 << (n_numbers - 1) < self.common.jobs)
        n_numbers++;
    size_t n = n_numbers * n_blocks;
    struct tune_time *times = calloc(n * rounds, sizeof *times);
    if (!times)
        return err_mem(e, "times", n * rounds * sizeof *times);
    for (size_t i = 0; i < n * rounds; i++) {
        size_t row = i / rounds, number = row / n_blocks;
        times[i].jobs = number + 1 < n_numbers ? (uint64_t)1 << number : self.common.jobs;
        times[i].block = blocks[row % n_blocks];
    }
    int status = tune_measure(&self, s, j, times, n, e);
    if (status == 0)
        status = print(times, n, s->bytes, e);
    free(times);
    return status;
}

/* Checks, before any work, that the programs are installed. */
static int need_programs(struct err *e)
{
    static const char *const of_shard[] = {"bpe-chunk", "bpe-encode", "bpe-shard", NULL}, *const of_train[] = {
                                                                                              "bpe-chunk", "bpe-count",
                                                                                              "bpe-sum", "bpe-merge",
                                                                                              NULL};
    int rc = 0;
    for (const char *const *program = self.count ? of_train : of_shard; *program && rc == 0; program++)
        rc = job_need(*program, e);
    return rc;
}

static int run(struct job *j, struct err *e)
{
    struct tune_sample sample = {.fd = -1};
    if (need_programs(e))
        return -1;
    int status = self.count ? add_options(train_programs, sizeof train_programs / sizeof *train_programs, e)
                            : add_options(shard_programs, sizeof shard_programs / sizeof *shard_programs, e);
    if (status == 0)
        status = tune_try(&self, j, e);
    if (status == 0)
        status = tune_sample_take(&sample, &self, e);
    if (status == 0)
        status = measure_all(&sample, j, e);
    tune_sample_free(&sample);
    command_line_free(&self.options);
    return status;
}

static int check(struct err *e)
{
    if (command_options_check(&self.common, &self.chunk.source, false, self.n_files, e))
        return -1;
    if (!self.count && !self.model)
        return err_set(e, EX_USAGE, "missing -m MODEL, or --count; see --help");
    if (self.n_files == 0) {
        self.files = usage_no_files;
        self.n_files = 1;
    }
    self.sample = self.has_sample ? self.sample : self.common.jobs * ((uint64_t)64 << 20);
    return 0;
}

static int check_rounds(const char *text, void *owner, struct err *e)
{
    uint64_t rounds = ((const struct tune *)owner)->rounds;
    return rounds < 1 || rounds > 999 ? err_set(e, EX_USAGE, "--rounds=%s: must be from 1 to 999", text) : 0;
}

static int check_block(const char *size, void *owner, struct err *e)
{
    struct chunk_options *o = &((struct tune *)owner)->chunk;
    if (num_size(size, &o->block, "-b", e) || options_find(chunk_usage.options, "block")->check(size, o, e))
        return -1;
    return 0;
}

static int refuse_size(const char *text, void *owner, struct err *e)
{
    (void)owner;
    return err_set(e, EX_USAGE, "-v %s: is for --count", text);
}

static int check_sample(const char *text, void *owner, struct err *e)
{
    return ((const struct tune *)owner)->sample ? 0 : err_set(e, EX_USAGE, "--sample %s: must be at least 1", text);
}

/* clang-format off */
#define SHARED_ROWS \
    {0, "count", NULL, "measure counting, for bpe train", OPTION_TO(FLAG, struct tune, count)}, \
    {'j', "jobs", "JOBS", "try up to JOBS processes (default: one per core)", \
     OPTION_TO(TEXT, struct tune, common.jobs_text)}, \
    {'b', "block", "SIZE", "try only pieces of SIZE, as for bpe-chunk", OPTION_TO(TEXT, struct tune, block), \
     .check = check_block}, \
    {0, "sample", "SIZE", "how much of FILEs to read (default: 64M per core)", \
     OPTION_TO(SIZE, struct tune, sample), OPTION_GIVEN(struct tune, has_sample), .check = check_sample}, \
    {0, "rounds", "N", "measure everything N times, and take medians (default 3)", \
     OPTION_TO(COUNT, struct tune, rounds), .check = check_rounds}
#define SIZE_ROW(refuse) \
    {'v', "vocab-size", "N", "--count: vocabulary size in the printed command (default 32000)", \
     OPTION_TO(TEXT, struct tune, size), .check = refuse}
#define REFUSED(name, letter, argument) {letter, name, argument, NULL, .kind = OPTION_REFUSED}
#define REFUSED_ROWS \
    REFUSED("output", 'o', "PATH"), REFUSED("only", 0, "FILE"), REFUSED("missing", 0, "FILE"), \
    REFUSED("files-from", 0, "LIST"), REFUSED("files0-from", 0, "LIST"), REFUSED("dealt", 0, NULL), \
    REFUSED("input-status", 0, "FD"), COMMAND_NO_WEIGHT("leave it out; it does not affect the time"), \
    COMMAND_NO_VERSION
/* clang-format on */

static const struct option_row shard_rows[] = {
    {'m', "model", "MODEL", "the model, as for bpe-encode", OPTION_TO(TEXT, struct tune, model)},
    SHARED_ROWS,
    SIZE_ROW(refuse_size),
    REFUSED_ROWS,
    REFUSED("resume", 0, NULL),
    REFUSED("convert", 0, NULL),
    REFUSED("check", 0, "DIR"),
    REFUSED("list", 0, "DIR"),
    REFUSED("regex", 'e', "REGEX"),
    REFUSED("normalize", 0, "FORM"),
    REFUSED("no-special", 0, NULL),
    {0},
};

static const struct option_row train_rows[] = {
    SHARED_ROWS,
    SIZE_ROW(NULL),
    {'m', "model", "MODEL", "--model and --count cannot be combined: bpe train learns a new model",
     .kind = OPTION_REFUSED},
    REFUSED_ROWS,
    {0},
};

#define USAGE                                                                                                          \
    "usage: bpe tune -m MODEL | --count [-v N] [-j JOBS] [-b SIZE] [--sample=SIZE]\n"                                  \
    "                [--rounds=N] [OPTION]... [FILE]...\n"                                                             \
    "Measures how fast bpe shard makes shards of FILEs (standard input if none, or -), or how fast\n"                  \
    "bpe train counts them, with different numbers of processes and sizes of pieces; prints a table\n"                 \
    "and the fastest command.\n"

#define COMMAND(what)                                                                                                  \
    {                                                                                                                  \
        .name = "bpe tune", .usage = USAGE, .options = what##_rows, COMMAND_TO(self),                                  \
        COMMAND_PROGRAMS(what##_programs), .check = check, .run = run,                                                 \
    }

static const struct command shard = COMMAND(shard), train = COMMAND(train);

/* Whether --count is given: this decides which command is measured, and so which options there are. */
static bool counts(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--count") == 0)
            return true;
    }
    return false;
}

int tune_main(int argc, char **argv)
{
    return command_main(counts(argc, argv) ? &train : &shard, argc, argv);
}
