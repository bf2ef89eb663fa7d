/* durable.h - what survives the death of the machine: files and directories on disk. */
#ifndef BPE_BASE_IO_DURABLE_H
#define BPE_BASE_IO_DURABLE_H

#include "base/sys/err.h"

#include <stddef.h>

/* The bytes of a file are on disk. -1 with EX_IOERR. */
int durable_file(int fd, const char *name, struct err *e);

/* The names in a directory are. */
int durable_directory(const char *path, struct err *e);

/* Gives a file another name; that is durable after durable_directory. -1 with EX_CANTCREAT. */
int durable_rename(const char *from, const char *to, struct err *e);

/* Creates a directory of our own, unless it is there. A link to one is none: what is in it might be somebody else's. -1
 * with EX_CANTCREAT. */
int durable_make_directory(const char *path, struct err *e);

/* Makes n bytes a file: writes them to `made`, which is then renamed to `path`; dir is the directory of `path`. All of
 * it is on disk then. -1 with EX_CANTCREAT or EX_IOERR; there may be a file `made` then, or from before. */
int durable_write(const char *made, const char *path, const char *dir, const void *p, size_t n, struct err *e);

#endif
