/* outfile.h - an output file that appears under its name only when it is complete: it is written to a temporary file in
 * the same directory, PATH.bpe-N.tmp, synced and renamed. A signal that ends the process (except SIGKILL) removes the
 * temporary file. The next process that writes PATH reuses a file left by SIGKILL; a running process keeps its own file
 * locked. For a symbolic link, this applies to its target. Anything but a regular file is opened and written directly,
 * and so is a named descriptor (/dev/stdout). Do not copy the struct between open and commit or drop.
 */
#ifndef BPE_BASE_IO_OUTFILE_H
#define BPE_BASE_IO_OUTFILE_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>

struct outfile {
    int fd;
    int lock;         /* holds the lock of the temporary file after fd is closed; 0 or -1: none */
    char *path, *tmp; /* owned; tmp NULL: no temporary file */
    struct outfile *next;
};

int outfile_open(struct outfile *o, const char *path, struct err *e); /* -1 with EX_CANTCREAT */
void outfile_drop(struct outfile *o);                                 /* removes an uncommitted file */

/* Whether outputs at two paths would be the same file, which need not exist yet. A device is no file. */
bool outfile_same(const char *a, const char *b);

/* Registers the file at `path`, which another process writes, to be removed by a signal or by outfile_drop. -1: out of
 * memory. */
int outfile_note(struct outfile *o, const char *path, struct err *e);

/* Commits n files: syncs all of them, then gives them their names, in this order. -1: files without their name are
 * removed. */
int outfile_commit(struct outfile *o, size_t n, struct err *e);

/* Sets a function (async-signal-safe) to call when a signal from outside is about to end the process, before the
 * temporary files are removed. A forked process calls outfile_signals_default before exec to undo this. */
void outfile_at_signal(void (*first)(void));
void outfile_signals_default(void);

#endif
