/* command.h - the frame of a bpe command: parses its own options and those of the programs it starts, and runs it.
 *
 *     static struct train_options self;
 *     static struct command_program programs[] = {{&chunk_usage, &self.chunk}, {&sum_usage, &self.sum}};
 *     static const struct command command = {.name = "bpe train", .usage = "...", .options = rows, COMMAND_TO(self),
 *                                            COMMAND_PROGRAMS(programs), .check = check, .run = run};
 *     int train_main(int argc, char **argv) { return command_main(&command, argc, argv); }
 *
 * Options are looked up in the programs' own tables (base/cli/usage.h), so a usage error is reported before any process
 * starts. A program's options are passed on as words.
 */
#ifndef BPE_DRIVER_COMMAND_H
#define BPE_DRIVER_COMMAND_H

#include "base/cli/usage.h"
#include "base/sys/err.h"
#include "driver/job.h"
#include "driver/monitoring.h"
#include "driver/watch.h"
#include "usage/weight_option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program that the command starts. */
struct command_program {
    const struct usage *usage;
    void *options;             /* its struct, zeroed */
    bool only;                 /* an option that it has is not given to the programs after it */
    struct option_words words; /* its options as given, for its command line; owned, kept as long as the process runs */
};

struct command {
    const char *name;                 /* "bpe train"; messages begin with it */
    const char *usage;                /* the first lines of --help: synopsis and description */
    const struct option_row *options; /* its own; a name or letter here is not given to the programs */
    void *to;                         /* the struct that stores them */
    struct command_program *programs;
    size_t n_programs;
    char ***files; /* set to the FILEs (borrowed from argv) and their number, which may be 0 */
    int *n_files;

    /* Checks that the options are consistent, before anything is done; -1: usage error. May be NULL. It calls the
     * programs' own checks (command_check) itself, because it may have to complete their options first. */
    int (*check)(struct err *e);

    /* Does the work with the processes of a job. Returns the exit status, whose reason was printed; or -1 with *e. */
    int (*run)(struct job *j, struct err *e);
};

/* Initializers: the struct that stores options and FILEs (in its fields files and n_files); the array of programs. */
#define COMMAND_TO(self) .to = &(self), .files = &(self).files, .n_files = &(self).n_files
#define COMMAND_PROGRAMS(all) .programs = (all), .n_programs = sizeof(all) / sizeof *(all)

/* Returns the exit status. */
int command_main(const struct command *c, int argc, char **argv);

/* Checks a program's options together with the command's FILEs. -1: usage error. */
int command_check(struct command_program *p, char **files, int n_files, struct err *e);

/* ---- Command lines ---- */

/* A command line under construction; zeroed: empty. The words are borrowed. */
struct command_line {
    const char **words; /* owned; NULL after the last */
    size_t n;
};

#define command_line_add(l, e, ...) command_line_words(l, (const char *const[]){__VA_ARGS__, NULL}, e)
int command_line_words(struct command_line *l, const char *const *words, struct err *e);
int command_line_append(struct command_line *l, const struct command_line *more, struct err *e);
int command_line_options(struct command_line *l, const struct option_words *w, struct err *e);
int command_line_files(struct command_line *l, char **files, int n, struct err *e); /* `--` and the files */
void command_line_free(struct command_line *l);

/* Appends option words, and makes the path absolute in options of these names (the list ends with NULL), for a process
 * that runs in another directory. */
int command_paths(struct option_words *to, const struct option_words *from, const char *const *names, struct err *e);

/* Starts a process with this command line; `how` has everything else. */
int command_line_start(struct job *j, const struct job_start *how, const struct command_line *l, struct err *e);

/* The same for a program with these options and n files (NULL: no files). */
int command_start(struct job *j, const struct job_start *how, const char *program, const struct option_words *options,
                  char **files, int n, struct err *e);

/* ---- Options shared by several commands ---- */

struct command_options {
    uint64_t jobs; /* how many processes do the work */
    const char *jobs_text;
    const char *via;     /* NULL: none */
    bool parquet, mixed; /* mixed: only FILEs named *.parquet are Parquet; see command_mix */
    const char *column;
    struct option_words reader;    /* options for `bpe parquet`, set by command_options_check; owned */
    unsigned nul_bytes, null_rows; /* indices in command_nul_bytes, command_null_rows */
    bool has_nul_bytes, has_null_rows;
    const char *progress, *monitor; /* the arguments of these options; NULL: none */
    struct option_placed weights;   /* --weight */
    char **weighed;                 /* the FILEs of the command line, to which the weights belong; borrowed */
    int n_weighed;
};

/* Option rows for the field o, a struct command_options, of the struct `owner`. */
/* clang-format off */
#define COMMAND_JOBS(owner, o, what) \
    {'j', "jobs", "JOBS", "processes that " what " (default: one per core)", OPTION_TO(TEXT, owner, o.jobs_text)}
#define COMMAND_VIA(owner, o) \
    {0, "via", "COMMAND", \
     "start them through COMMAND, on other hosts, for example: it gets the\nchunks and the worker's command line", \
     OPTION_TO(TEXT, owner, o.via)}
#define COMMAND_PARQUET(owner, o) \
    {0, "parquet", "COLUMN", "FILEs are Parquet; the text is in COLUMN (default text): see bpe parquet", \
     OPTION_TO(TEXT, owner, o.column), .if_none = "text", OPTION_GIVEN(owner, o.parquet)}, \
    {0, "nul-bytes", "WHAT", "on a NUL byte in text from Parquet: error (default), replace or skip", \
     OPTION_TO(CHOICE, owner, o.nul_bytes), .words = command_nul_bytes, OPTION_GIVEN(owner, o.has_nul_bytes)}, \
    {0, "null-rows", "WHAT", "on a Parquet row without text: empty (default) or skip", \
     OPTION_TO(CHOICE, owner, o.null_rows), .words = command_null_rows, OPTION_GIVEN(owner, o.has_null_rows)}
#define COMMAND_PROGRESS(owner, o) \
    {0, "progress", "SECONDS", "print a line of progress every SECONDS; json[,SECONDS]: as JSON", \
     OPTION_TO(TEXT, owner, o.progress), .words = watch_words, .check = watch_option}, \
    MONITORING_OPTION(owner, o.monitor)
#define COMMAND_WEIGHT(owner, o) WEIGHT_OPTION(owner, o.weights)
#define COMMAND_NO_WEIGHT(why) {0, "weight", "WEIGHT", "--weight: " why, .kind = OPTION_REFUSED}
#define COMMAND_NO_VERSION {0, "version", NULL, NULL, .kind = OPTION_REFUSED}
#define COMMAND_NO_DEALT {0, "dealt", NULL, NULL, .kind = OPTION_REFUSED} /* only for commands */
#define COMMAND_NO_INNER COMMAND_NO_DEALT, {0, "input-status", "FD", NULL, .kind = OPTION_REFUSED}
#define COMMAND_BY_MODEL \
    {'e', "regex", "REGEX", "--regex: the model decides that; leave it out", .kind = OPTION_REFUSED}, \
    {0, "normalize", "FORM", "--normalize: the model decides that; leave it out", .kind = OPTION_REFUSED}, \
    {0, "no-special", NULL, "--no-special: the model decides that; leave it out", .kind = OPTION_REFUSED}
#define COMMAND_BY_ITSELF(name, argument) /* for options about missing work */ \
    {0, name, argument, "--" name ": leave it out; to do the rest, run the same command again", \
     .kind = OPTION_REFUSED}
#define COMMAND_OF_SHARD(name) \
    {0, name, NULL, "--" name ": give it to bpe-shard, which needs no text for it", .kind = OPTION_REFUSED}
/* clang-format on */

extern const char *const command_nul_bytes[], *const command_null_rows[];

/* Sets jobs; checks --via, and --parquet against the options for text and the FILEs. -1: usage error. */
struct source_options;
int command_options_check(struct command_options *o, const struct source_options *text, bool has_only, int n_files,
                          struct err *e);

/* Allows --parquet together with an option for another input format, for a command that reads both: FILEs whose names
 * end in .parquet are Parquet, and all others have the other format. Call before command_options_check. */
void command_mix(struct command_options *o, const struct source_options *text, char **files, int n_files);

/* Sets the FILEs to which the weights belong. -1: usage error. */
int command_weigh(struct command_options *o, char **files, int n_files, struct err *e);

/* The weight of a FILE, as the user wrote it; NULL: none. Start with *at = 0, and ask for FILEs (the same pointers as
 * for command_weigh) in their order. */
const char *command_weight(const struct command_options *o, const char *file, int *at);

/* Adds FILEs, and before those with another weight than the one before, --weight. Start with a zeroed struct. */
struct command_weights {
    const char *now;
    bool ended; /* `--` was added */
};
int command_line_weighed(struct command_line *l, struct command_weights *w, const char *weight, const char *file,
                         struct err *e);

/* Adds n of the FILEs, in their order, with their weights; n 0: the weight of standard input, or of a list of files. If
 * there are no weights, the same as command_line_files. */
int command_line_texts(struct command_line *l, const struct command_options *o, char **files, int n, struct err *e);

/* Whether this FILE is Parquet. */
bool command_is_parquet(const struct command_options *o, const char *file);

/* Adds the options of bpe-chunk for text from Parquet: its words except those for another input format, and -0. */
int command_line_chunk_parquet(struct command_line *l, const struct option_words *chunk, struct err *e);

/* Adds the words that --via puts before the worker's own: `sh -c 'COMMAND "$@"' --via`. *script: owned by the caller,
 * and must outlive the command line. */
int command_line_via(struct command_line *l, const char *via, char **script, struct err *e);

/* The words of `bpe parquet`, without the FILEs. */
int command_line_parquet(struct command_line *l, const struct command_options *o, struct err *e);

/* Call before reading standard input. If it is a terminal, prints a note. If it is a pipe, waits for data; -1 with
 * EX_TEMPFAIL: the pipe ended empty, so its writer has probably failed. */
int command_input_check(struct job *j, struct err *e);

#endif
