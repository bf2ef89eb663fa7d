/* prog.h - what every program does the same way: saying its name, failing with one line, --version. */
#ifndef BPE_IO_PROG_H
#define BPE_IO_PROG_H

#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes `NAME: msg` and a newline to standard error, by one write(2) (many processes share it). Returns e->code. */
int prog_fail(const char *name, const struct err *e);

/* The same for a remark that is no failure (printf style). */
void prog_note(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints a usage text to standard output and returns the exit status. */
int prog_print(const char *name, const char *text);

/* Fills *e (EX_USAGE) from what getopt_long returned for an option it does not like ('?' or ':'). Returns -1. */
int prog_bad_option(int c, char **argv, struct err *e);

/* The place of an option's word in a list that ends with NULL; else -1 with an error that shows the list (EX_USAGE). */
int prog_choice(const char *option, const char *word, const char *const *list, struct err *e);

/* The FILEs after the options that getopt_long has read (borrowed from argv), or "-" alone if there are none. */
char **prog_files(int argc, char **argv, int *n);

/* Adds a word (borrowed) to a list of *n, which grows: free it at the end. */
int prog_add(const char ***list, size_t *n, const char *word, struct err *e);

/* -1 with EX_USAGE if standard output is a terminal: records are not for the eye. */
int prog_no_terminal(struct err *e);

/* A progress line on standard error, if that is a terminal, for work that takes longer than two seconds. */
struct progress {
    const char *name; /* of the program; borrowed */
    bool active;      /* standard error is a terminal */
    bool shown;
    double start, last; /* seconds */
};

void progress_start(struct progress *p, const char *name);

/* Shows `done of total what`, rate and time left, at most a few times a second. total 0: not known. bytes: units are
 * bytes. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what);
void progress_end(struct progress *p); /* clears the line */

#endif
