/* front.h - the parts of bpe itself: the everyday commands, of which commands.c has the table; scripts.c runs commands
 * in other languages, help.c says what there is.
 */
#ifndef BPE_CMD_FRONT_H
#define BPE_CMD_FRONT_H

#include "base/cli/usage.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Commands: each takes its command line, with its own name as argv[0], and returns the exit status ---- */

int describe_main(int argc, char **argv);
int encode_main(int argc, char **argv);
int job_main(int argc, char **argv);
int monitor_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int shard_main(int argc, char **argv);
int sum_tree_main(int argc, char **argv);
int tasks_main(int argc, char **argv);
int train_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int upload_main(int argc, char **argv);
int complete_main(int argc, char **argv); /* what asks for the table of them: no command of the user */

struct builtin {
    const char *name, *about; /* about NULL: scripts call it, and it is in no list */
    int (*main)(int argc, char **argv);
};

extern const struct builtin builtins[];            /* name is NULL after the last */
extern const struct usage *const program_usages[]; /* NULL after the last */

const struct builtin *builtin(const char *name); /* NULL: there is none */

/* A program by its name, or by what comes after `bpe-`. NULL: there is none. */
const struct usage *program_of(const char *name);

/* ---- scripts.c ---- */

/* Notes which standard streams are closed: a script is to find them as they were. Before fd_prepare. */
void script_note_streams(void);

bool script_is(const char *name);
bool script_is_engine(const char *name);

/* The file of an engine's command, below the directory of commands; NULL: there is none. Owned by the caller. */
char *script_of_engine(const char *engine, const char *command);

/* What it is for: `# NAME - ...` in its second line; or empty. */
void script_about(const char *name, char *to, size_t n);

/* Puts the words of a command line into the environment: bpe monitor names by them what a script runs in its place. */
int script_note_command(char **argv, struct err *e);

/* Runs a file in place of this program. Its name is put into argv[0]. -1: it cannot be run. */
int script_run(const char *file, char **argv, struct err *e);

/* script_help.c: the options of a script, by its --help, as a table that is never freed; those that it says it does not
 * take are refused; NULL: there are none. *splits: the help goes on with that of bpe tasks split. */
int script_options(const char *file, const struct option_row **options, bool *splits, struct err *e);

/* ---- help.c ---- */

int help_overview(struct err *e);

/* Adds the names of all commands and engines. */
int help_names(struct option_words *names, struct err *e);

/* The manual page of a command, an engine, a program, or any other of its name; or the text of --help if it cannot be
 * shown. Returns the exit status, or -1. */
int help_on(char *word, struct err *e);

/* -1 with EX_USAGE: it is none; or none was named. */
int help_no_command(const char *name, struct err *e);
int help_which_command(struct err *e);

int help_print(struct buf *out, struct err *e); /* to standard output; and releases it */

#endif
