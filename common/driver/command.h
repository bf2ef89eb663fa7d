/* command.h - an everyday command of bpe: what it is told, of its own options and of those of the programs it starts.
 *
 *     static struct train_options self;
 *     static struct command_program programs[] = {{&chunk_usage, &self.chunk}, {&sum_usage, &self.sum}};
 *     static const struct command command = {.name = "bpe train", .usage = "...", .options = rows, COMMAND_TO(self),
 *                                            COMMAND_PROGRAMS(programs), .check = check, .run = run};
 *     int train_main(int argc, char **argv) { return command_main(&command, argc, argv); }
 *
 * Options are known by the programs' own tables (base/cli/usage.h), so wrong use is an error before any process begins.
 * What is said to a program is passed on as words.
 */
#ifndef BPE_DRIVER_COMMAND_H
#define BPE_DRIVER_COMMAND_H

#include "base/cli/usage.h"
#include "base/sys/err.h"
#include "driver/job.h"
#include "driver/monitoring.h"
#include "driver/watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program that the command starts. */
struct command_program {
    const struct usage *usage;
    void *options; /* its struct, zeroed */
    bool only;     /* a name that it has means nothing to the programs after it */
    struct option_words
        words; /* its options that were given, for its command line; owned, as long as the process runs */
};

struct command {
    const char *name;                 /* "bpe train": messages begin with it */
    const char *usage;                /* the first lines of --help: how it is called, and what it does */
    const struct option_row *options; /* its own; a name or letter here means nothing to the programs */
    void *to;                         /* the struct that they are stored in */
    struct command_program *programs;
    size_t n_programs;
    char ***files; /* set to the FILEs (borrowed from argv), and their number; none is 0 */
    int *n_files;

    /* Checks that all goes together, before anything is done; -1: wrong use. May be NULL. The programs' own checks
     * (command_check) are called by it, as it may first complete their options. */
    int (*check)(struct err *e);

    /* Does the work, by the processes of a job. Returns the exit status, whose reason was printed; or -1 with *e. */
    int (*run)(struct job *j, struct err *e);
};

/* Initializers: the struct that options and FILEs (its fields files and n_files) are stored in; an array. */
#define COMMAND_TO(self) .to = &(self), .files = &(self).files, .n_files = &(self).n_files
#define COMMAND_PROGRAMS(all) .programs = (all), .n_programs = sizeof(all) / sizeof *(all)

/* Returns the exit status. */
int command_main(const struct command *c, int argc, char **argv);

/* Checks a program's options, which go together with the command's FILEs. -1: wrong use. */
int command_check(struct command_program *p, char **files, int n_files, struct err *e);

/* ---- Command lines ---- */

/* Words of a command line that is being made; zeroed: empty. The words are borrowed. */
struct command_line {
    const char **words; /* owned; NULL after the last */
    size_t n;
};

#define command_line_add(l, e, ...) command_line_words(l, (const char *const[]){__VA_ARGS__, NULL}, e)
int command_line_words(struct command_line *l, const char *const *words, struct err *e);
int command_line_append(struct command_line *l, const struct command_line *more, struct err *e);
int command_line_options(struct command_line *l, const struct option_words *w, struct err *e);
int command_line_files(struct command_line *l, char **files, int n, struct err *e); /* `--` and these */
void command_line_free(struct command_line *l);

/* Appends words of options, those of these names (ends with NULL) with an absolute path: for a process that runs in
 * another directory. */
int command_paths(struct option_words *to, const struct option_words *from, const char *const *names, struct err *e);

/* Starts a process by these words; what else there is to say of it is in `how`. */
int command_line_start(struct job *j, const struct job_start *how, const struct command_line *l, struct err *e);

/* The same of a program with these options, and n files (NULL: none are named). */
int command_start(struct job *j, const struct job_start *how, const char *program, const struct option_words *options,
                  char **files, int n, struct err *e);

/* ---- Options that several commands have ---- */

struct command_options {
    uint64_t jobs; /* how many processes do the work; command_jobs */
    const char *jobs_text;
    const char *via;     /* NULL: none */
    bool parquet, mixed; /* mixed: only FILEs whose names say so are Parquet; see command_mix */
    const char *column;
    struct option_words reader;    /* what `bpe parquet` is told; command_options_check makes it. Owned */
    unsigned nul_bytes, null_rows; /* of command_nul_bytes, command_null_rows */
    bool has_nul_bytes, has_null_rows;
    const char *progress, *monitor; /* the texts of these options; NULL: none */
};

/* Rows for a field o of the struct `owner`, a struct command_options. */
/* clang-format off */
#define COMMAND_JOBS(owner, o, what) \
    {'j', "jobs", "JOBS", "processes that " what " (default: one a core)", OPTION_TO(TEXT, owner, o.jobs_text)}
#define COMMAND_VIA(owner, o) \
    {0, "via", "COMMAND", "have COMMAND start them, on other hosts, say: it gets the chunks and\nwhat to start", \
     OPTION_TO(TEXT, owner, o.via)}
#define COMMAND_PARQUET(owner, o) \
    {0, "parquet", "COLUMN", "FILEs are Parquet; the text is in COLUMN (default text): see bpe parquet", \
     OPTION_TO(TEXT, owner, o.column), .if_none = "text", OPTION_GIVEN(owner, o.parquet)}, \
    {0, "nul-bytes", "WHAT", "a NUL byte in a text of Parquet: error (default), replace or skip", \
     OPTION_TO(CHOICE, owner, o.nul_bytes), .words = command_nul_bytes, OPTION_GIVEN(owner, o.has_nul_bytes)}, \
    {0, "null-rows", "WHAT", "a row of Parquet without text: empty (default) or skip", \
     OPTION_TO(CHOICE, owner, o.null_rows), .words = command_null_rows, OPTION_GIVEN(owner, o.has_null_rows)}
#define COMMAND_PROGRESS(owner, o) \
    {0, "progress", "SECONDS", "print how far the work is, a line each so often; json[,SECONDS]: as JSON", \
     OPTION_TO(TEXT, owner, o.progress), .words = watch_words, .check = watch_option}, \
    MONITORING_OPTION(owner, o.monitor)
#define COMMAND_NO_VERSION {0, "version", NULL, NULL, .kind = OPTION_REFUSED}
#define COMMAND_NO_DEALT {0, "dealt", NULL, NULL, .kind = OPTION_REFUSED} /* bpe-chunk is told by commands alone */
#define COMMAND_NO_INNER COMMAND_NO_DEALT, {0, "input-status", "FD", NULL, .kind = OPTION_REFUSED}
#define COMMAND_BY_MODEL \
    {'e', "regex", "REGEX", "--regex: the model decides that; leave it out", .kind = OPTION_REFUSED}, \
    {0, "normalize", "FORM", "--normalize: the model decides that; leave it out", .kind = OPTION_REFUSED}, \
    {0, "no-special", NULL, "--no-special: the model decides that; leave it out", .kind = OPTION_REFUSED}
#define COMMAND_BY_ITSELF(name, argument) /* of what is missing */ \
    {0, name, argument, "--" name ": the same command does what is missing by itself; leave it out", \
     .kind = OPTION_REFUSED}
#define COMMAND_OF_SHARD(name) \
    {0, name, NULL, "--" name ": give it to bpe-shard, which needs no text for it", .kind = OPTION_REFUSED}
/* clang-format on */

extern const char *const command_nul_bytes[], *const command_null_rows[];

/* Sets jobs; checks --via, and --parquet beside the options for text and the FILEs. -1: wrong use. */
struct source_options;
int command_options_check(struct command_options *o, const struct source_options *text, bool has_only, int n_files,
                          struct err *e);

/* Allows --parquet beside an option for another form of text, for a command that takes both: if the names of some FILEs
 * end in .parquet, these are Parquet, and the others of the other form. Call before command_options_check. */
void command_mix(struct command_options *o, const struct source_options *text, char **files, int n_files);

/* Whether this FILE is Parquet. */
bool command_is_parquet(const struct command_options *o, const char *file);

/* Adds what bpe-chunk is told of the text of Parquet: its words without those for another form, and -0. */
int command_line_chunk_parquet(struct command_line *l, const struct option_words *chunk, struct err *e);

/* The words that begin a command of --via: `sh -c 'COMMAND "$@"' --via`, before the worker's words. script: owned by
 * the caller, and must stay. */
int command_line_via(struct command_line *l, const char *via, char **script, struct err *e);

/* The words of `bpe parquet`, without the FILEs. */
int command_line_parquet(struct command_line *l, const struct command_options *o, struct err *e);

/* Before standard input is read: says so, if that is a terminal. -1 with EX_TEMPFAIL: it is a pipe from which nothing
 * comes: what should have written to it has probably failed. Waits until that is known. */
int command_input_check(struct job *j, struct err *e);

#endif
