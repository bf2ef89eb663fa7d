/* program.h - what every program does in the same way: options, help, version, one line for an error, the exit status.
 *
 * A program describes itself by a struct program, and its main calls program_main. */
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
    void *options; /* the struct that the usage is about, zeroed */

    program_versions *scanner, *codecs; /* for --version, as below */

    bool writes_records; /* to standard output, which therefore must not be a terminal */
    void *ctx;           /* passed to the functions below; all but `run` may be NULL */

    /* Does the work. Returns the exit status, or -1 with *e. */
    int (*run)(void *ctx, struct err *e);

    /* Passes an error, also one in the options, to the process that reads standard output. Called before the message is
     * printed, and not if standard output is a terminal. */
    void (*send_failure)(void *ctx, const struct err *e);

    /* Called last, after `run`, whatever `run` returned. */
    void (*free)(void *ctx);
};

/* Returns the exit status of the program. */
int program_main(const struct program *p, int argc, char **argv);

/* Appends the text of --version. The first line has all that results depend on: the name, this version, and how text is
 * split into pretokens (scanner). The second: other libraries (codecs), and the vector instructions in use. Either may
 * be NULL: the program does nothing of the kind. -1: out of memory, or BPE_SIMD is wrong. */
int program_put_version(struct buf *out, const char *name, program_versions *scanner, program_versions *codecs,
                        struct err *e);

/* Writes `NAME: remark` and a newline to standard error (printf style), by one write(2): many processes share it.
 * Control characters are shown as in errors. */
void program_note(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* -1 with EX_USAGE if standard output is a terminal: records and ids are not readable text. hint: what to do instead.
 */
#define PROGRAM_FOR_RECORDS "records go into a pipe or a file (bpe-view shows them)"
int program_no_terminal(const char *hint, struct err *e);

#endif
