/* usage.h - the command line of a program: its options, and which of them can be combined. This description is constant
 * and separate from the program's work, so a program that starts another one can check the other's options and show its
 * help.
 */
#ifndef BPE_BASE_CLI_USAGE_H
#define BPE_BASE_CLI_USAGE_H

#include "base/cli/options.h"

struct usage {
    const char *name;     /* messages begin with it */
    const char *synopsis; /* shown after the name in the usage; one or more lines, separated by \n. A line that begins
                             with the name is an alternative form of the command */
    const char *about;    /* what the program does, for --help */
    const struct option_row *options; /* of the struct called `options` below */
    size_t files, n_files;            /* USAGE_FILES: the offsets of the FILEs in that struct, a char ** and an int */

    /* Sets the defaults other than 0 in a zeroed struct. May be NULL. */
    void (*init)(void *options);

    /* Checks that the options and the FILEs can be combined, and sets derived fields. -1: usage error. May be NULL. */
    int (*check)(void *options, struct err *e);
};

#define USAGE_FILES(owner, field, n)                                                                                   \
    .files = OPTION_OFFSET(char **, owner, field), .n_files = OPTION_OFFSET(int, owner, n)

/* The FILEs if none are given: "-" only. */
extern char *usage_no_files[];

/* Sets the FILEs (borrowed), or usage_no_files if n is 0. */
void usage_set_files(const struct usage *u, void *options, char **files, int n);

/* Appends the text of --help. */
int usage_put_help(struct buf *out, const struct usage *u, struct err *e);

#endif
