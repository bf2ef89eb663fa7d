/* installed.h - where the files are that belong to this bpe: the programs beside it, its commands in other languages,
 * the manual pages. They are those of this bpe, whatever else is installed.
 *
 *     PREFIX/bin/bpe    PREFIX/libexec/bpetools/    PREFIX/share/man/     installed
 *     BUILD/bpe         BUILD/pipelines/            BUILD/man/            not installed: both are links into the source
 */
#ifndef BPE_DRIVER_INSTALLED_H
#define BPE_DRIVER_INSTALLED_H

#include "base/sys/err.h"

/* Finds them, by the file that this process runs; argv0 is for a system without /proc. Puts the directory of the
 * programs first on PATH, and makes TMPDIR absolute, for all processes that are started. -1: EX_OSERR. */
int installed_init(const char *argv0, struct err *e);

/* The directories, and a file in one; NULL before installed_init. */
extern struct installed {
    const char *programs, *commands, *pages;
    const char *parquet; /* the file of the command parquet */
} installed;

/* The file of a command in another language. Owned by the caller; NULL: out of memory. */
char *installed_command(const char *name, struct err *e);

/* The directory for temporary files: TMPDIR, or /tmp. */
const char *installed_temporary(void);

#endif
