/* program.h - what every program does the same way: options, help, version, one line for what went wrong, the exit
 * status.
 *
 * A program describes itself by a struct program, and its main is program_main. */
#ifndef BPE_CLI_PROGRAM_H
#define BPE_CLI_PROGRAM_H

#include "cli/options.h"
#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>

struct program {
    const char *name;     /* as messages begin with it */
    const char *synopsis; /* what the usage shows after the name; a line or several, with \n between */
    const char *about;    /* what the program does, for --help */
    const struct option_row *options;
    char ***files; /* becomes the FILEs (borrowed from argv), program_no_files if there are none */
    int *n_files;

    /* Puts what --version prints into buf of n bytes and returns buf, given name and version of the program. NULL: only
     * these. */
    const char *(*version)(char *buf, size_t n, const char *program);

    bool writes_records; /* to standard output, which then may be no terminal */
    void *ctx;           /* passed to the functions below, all of which but `run` may be NULL */

    /* Whether the options go together; fills in what follows from them. -1: wrong use. */
    int (*check)(void *ctx, struct err *e);

    /* Does the work. Returns the exit status, or -1 with *e. */
    int (*run)(void *ctx, struct err *e);

    /* Passes on what went wrong, in the options too, to whoever reads standard output; called before the message is
     * printed, and not if standard output is a terminal. */
    void (*send_failure)(void *ctx, const struct err *e);

    /* Comes last, after `run`, whatever that returned. */
    void (*free)(void *ctx);
};

/* The FILEs where none are given: "-", one. */
extern char *program_no_files[];

/* Returns the exit status of the program. */
int program_main(const struct program *p, int argc, char **argv);

/* Writes `NAME: remark` and a newline to standard error (printf style), by one write(2): many processes share it. */
void program_note(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* -1 with EX_USAGE if standard output is a terminal: records and ids are not for the eye. hint: what to do instead. */
#define PROGRAM_FOR_RECORDS "records go into a pipe or a file (bpe-view shows them)"
int program_no_terminal(const char *hint, struct err *e);

#endif
