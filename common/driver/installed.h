/* installed.h - locates the files of this bpe: the programs in its directory, its commands in other languages, and the
 * manual pages. Other installations do not matter.
 *
 *     PREFIX/bin/bpe    PREFIX/libexec/bpetools/    PREFIX/share/man/     installed
 *     BUILD/bpe         BUILD/pipelines/            BUILD/man/            not installed: both are links into the source
 */
#ifndef BPE_DRIVER_INSTALLED_H
#define BPE_DRIVER_INSTALLED_H

#include "base/sys/err.h"

/* Locates them from the executable of this process; argv0 is for a system without /proc. For all processes started
 * later, puts the directory of the programs first on PATH and makes TMPDIR absolute. -1: EX_OSERR. */
int installed_init(const char *argv0, struct err *e);

/* The directories and one file; NULL before installed_init. */
extern struct installed {
    const char *programs, *commands, *pages;
    const char *parquet; /* the file of `bpe parquet` */
} installed;

/* The file of a command in another language. Owned by the caller; NULL: out of memory. */
char *installed_command(const char *name, struct err *e);

/* The directory for temporary files: TMPDIR, or /tmp. */
const char *installed_temporary(void);

#endif
