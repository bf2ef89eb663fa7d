/* program.h - what all programs have in common: options, help, version, one-line error messages and the exit status.
 *
 * A program describes itself in a struct program, and its main calls program_main. */
#ifndef BPE_BASE_CLI_PROGRAM_H
#define BPE_BASE_CLI_PROGRAM_H

#include "base/cli/usage.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes versions, "zstd 1.5.4, zlib 1.2.13", to buf of n bytes, and returns buf. */
typedef const char *program_versions(char *buf, size_t n);

struct program {
    const struct usage *usage;
    void *options; /* the struct that the option rows fill, zeroed */

    program_versions *scanner, *codecs; /* for --version: see program_put_version */

    bool writes_records; /* to standard output, which therefore must not be a terminal */
    void *ctx;           /* passed to the functions below; all of them except `run` may be NULL */

    /* Does the work. Returns the exit status, or -1 with *e. */
    int (*run)(void *ctx, struct err *e);

    /* Passes an error, including a usage error, to the process that reads standard output. Called before the message is
     * printed, but not if standard output is a terminal. */
    void (*send_failure)(void *ctx, const struct err *e);

    /* Called after `run`, whether or not it succeeded. */
    void (*free)(void *ctx);
};

/* Returns the exit status of the program. */
int program_main(const struct program *p, int argc, char **argv);

/* Appends the text of --version. The first line names everything that results depend on: the program, its version and
 * how it splits text into pretokens (scanner). The second line lists other libraries (codecs) and the vector
 * instructions in use. scanner and codecs are NULL if the program has none. -1: out of memory, or BPE_SIMD is invalid.
 */
int program_put_version(struct buf *out, const char *name, program_versions *scanner, program_versions *codecs,
                        struct err *e);

/* Writes `NAME: message` and a newline to standard error (printf style) with a single write(2), because many processes
 * share it. Control characters are escaped as in errors. */
void program_note(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* -1 with EX_USAGE if standard output is a terminal, because records and ids are binary. hint: what to do instead. */
#define PROGRAM_FOR_RECORDS "records go into a pipe or a file (bpe-view shows them)"
int program_no_terminal(const char *hint, struct err *e);

#endif
