/* outfile.h - an output file that appears under its name only when it is complete: it is written to a temporary file in
 * the same directory, PATH.bpe-N.tmp, synced and renamed. A signal that ends the process (but SIGKILL) removes the
 * temporary file; one that such a death has left is taken by the next process that writes PATH: it is locked as long
 * as its process lives. Of a link, the file that it leads to is written so. What is no regular file is written to as
 * it is, and so is a descriptor that has a name (/dev/stdout). Not to be copied between open and commit or drop.
 */
#ifndef BPE_BASE_IO_OUTFILE_H
#define BPE_BASE_IO_OUTFILE_H

#include "base/sys/err.h"

#include <stddef.h>

struct outfile {
    int fd;
    int lock;         /* holds the lock of the temporary file when fd is closed; 0 or -1: none */
    char *path, *tmp; /* owned; tmp NULL: there is no temporary file */
    struct outfile *next;
};

int outfile_open(struct outfile *o, const char *path, struct err *e); /* -1 with EX_CANTCREAT */
void outfile_drop(struct outfile *o);                                 /* removes what was written; fine after commit */

/* Has a signal remove a file of another name, too, which somebody else writes, until outfile_drop does. -1: out of
 * memory. */
int outfile_note(struct outfile *o, const char *path, struct err *e);

/* Finishes n files, of which none appears before all are on disk; then they do in this order. -1: those that have not
 * appeared are removed. */
int outfile_commit(struct outfile *o, size_t n, struct err *e);

/* Lets `first`, which may use only what is safe in a signal handler, be called before a signal from outside (one that
 * is not ignored) removes the temporary files and ends the process. In a process that is forked, and becomes another
 * program, outfile_signals_default takes that back. */
void outfile_at_signal(void (*first)(void));
void outfile_signals_default(void);

#endif
