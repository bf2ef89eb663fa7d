/* front.h - the parts of bpe itself: its commands, of which commands.c has the table; scripts.c runs commands in other
 * languages; help.c lists commands and shows manual pages.
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
int report_main(int argc, char **argv);
int show_main(int argc, char **argv);
int sum_tree_main(int argc, char **argv);
int tasks_main(int argc, char **argv);
int train_main(int argc, char **argv);
int tune_main(int argc, char **argv);
int upload_main(int argc, char **argv);
int complete_main(int argc, char **argv); /* for completion in shells; not for users */

struct builtin {
    const char *name, *about; /* about NULL: only for scripts, and not listed */
    int (*main)(int argc, char **argv);
};

extern const struct builtin builtins[];            /* name is NULL after the last */
extern const struct usage *const program_usages[]; /* NULL after the last */

const struct builtin *builtin(const char *name); /* NULL: not found */

/* Finds a program by its name, with or without `bpe-`. NULL: not found. */
const struct usage *program_of(const char *name);

/* ---- scripts.c ---- */

/* Notes which standard streams are closed, so that scripts inherit them closed. Call before fd_prepare. */
void script_note_streams(void);

bool script_is(const char *name);
bool script_is_engine(const char *name);

/* The file of an engine's command, relative to the directory of commands; NULL: not found. Owned by the caller. */
char *script_of_engine(const char *engine, const char *command);

/* A script's description: `# NAME - ...` in its second line; else empty. */
void script_about(const char *name, char *to, size_t n);

/* Puts a command line into the environment: bpe monitor shows it for processes that a script runs. */
int script_note_command(char **argv, struct err *e);

/* Replaces this program by a file, whose path becomes argv[0]. -1: it cannot be run. */
int script_run(const char *file, char **argv, struct err *e);

/* script_help.c: reads the options of a script from its --help, into a table that is never freed; NULL: no options.
 * Options that the help excludes are refused. *splits: the help continues with that of bpe tasks split. */
int script_options(const char *file, const struct option_row **options, bool *splits, struct err *e);

/* ---- help.c ---- */

int help_overview(struct err *e);

/* Adds the names of all commands and engines. */
int help_names(struct option_words *names, struct err *e);

/* Shows the manual page of a command, an engine or a program, or any other page by its name; or the text of --help if
 * the page cannot be shown. Returns the exit status, or -1. */
int help_on(char *word, struct err *e);

/* Errors, -1 with EX_USAGE: an unknown command; no command. */
int help_no_command(const char *name, struct err *e);
int help_which_command(struct err *e);

int help_print(struct buf *out, struct err *e); /* to standard output; frees out */

#endif
