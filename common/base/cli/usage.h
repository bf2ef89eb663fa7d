/* usage.h - what a program is told: its options, and how they go together. It is constant and without the program's
 * work, so that another program, which starts this one, can check its options and show its help.
 */
#ifndef BPE_BASE_CLI_USAGE_H
#define BPE_BASE_CLI_USAGE_H

#include "base/cli/options.h"

struct usage {
    const char *name;     /* messages begin with it */
    const char *synopsis; /* what the usage shows after the name; a line or several, with \n between. A line that begins
                             with the name is another form */
    const char *about;    /* what the program does, for --help */
    const struct option_row *options; /* of the struct that is `options` below */
    size_t files, n_files;            /* USAGE_FILES: where this struct has the FILEs, a char ** and an int */

    /* Sets what is not 0 by default, in a zeroed struct. May be NULL. */
    void (*init)(void *options);

    /* Checks that the options and the FILEs go together, and sets what follows from them. -1: wrong use. May be NULL.
     */
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
