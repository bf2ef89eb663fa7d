/* durable.h - writes that survive a crash of the machine: files and directories synced to disk. */
#ifndef BPE_BASE_IO_DURABLE_H
#define BPE_BASE_IO_DURABLE_H

#include "base/sys/err.h"

#include <stddef.h>

/* Syncs the contents of a file. -1 with EX_IOERR. */
int durable_file(int fd, const char *name, struct err *e);

/* Syncs the names in a directory. -1 with EX_IOERR. */
int durable_directory(const char *path, struct err *e);

/* Renames a file; the new name is durable after durable_directory. -1 with EX_CANTCREAT. */
int durable_rename(const char *from, const char *to, struct err *e);

/* Creates a directory unless it exists. A symbolic link to a directory is an error, because the directory might be
 * somebody else's. -1 with EX_CANTCREAT. */
int durable_make_directory(const char *path, struct err *e);

/* Writes n bytes to the file `made`, renames it to `path`, which is in the directory `dir`, and syncs both. An existing
 * `made` is overwritten; after an error, it may remain. -1 with EX_CANTCREAT or EX_IOERR. */
int durable_write(const char *made, const char *path, const char *dir, const void *p, size_t n, struct err *e);

#endif
