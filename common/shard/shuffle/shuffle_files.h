/* shuffle_files.h - many append-only files, each with a buffer in memory. */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_FILES_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_FILES_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shuffle_file {
    int fd;       /* -1: not created yet */
    uint64_t len; /* bytes appended, of which `held` are still in the buffer */
    uint64_t n;   /* entries appended, as counted by the caller */
    size_t held;
    bool dirty; /* bytes were written since the last sync */
};

struct shuffle_files {
    struct shuffle_file *file; /* [n], owned */
    size_t n;
    unsigned char *buffer; /* [n * size], owned */
    size_t size;           /* of each buffer */
    const char *dir;       /* borrowed */
    const char *name;      /* file i is DIR/NAME.00i; NULL: unnamed temporary files. Borrowed */
    bool created;          /* a file was created since the last sync */
};

/* memory: bytes for all buffers together. -1: out of memory. */
int shuffle_files_open(struct shuffle_files *f, size_t n, const char *dir, const char *name, uint64_t memory,
                       struct err *e);
void shuffle_files_close(struct shuffle_files *f); /* a zeroed one is fine; named files are kept */

/* Reopens file i, of `len` valid bytes and n entries; bytes beyond them are truncated. len 0: deletes the file. -1:
 * EX_DATAERR: it has fewer bytes; EX_NOINPUT: it is gone; EX_IOERR. */
int shuffle_files_resume(struct shuffle_files *f, size_t i, uint64_t len, uint64_t n, struct err *e);

/* Appends bytes to file i, which is created if necessary. -1: EX_CANTCREAT, EX_IOERR. */
int shuffle_files_put(struct shuffle_files *f, size_t i, struct str bytes, struct err *e);

/* Appends n bytes, at most f->size, to file i; the caller writes them at the pointer returned. NULL on error. */
unsigned char *shuffle_files_room(struct shuffle_files *f, size_t i, size_t n, struct err *e);

/* Writes the buffers to the files; sync also makes them durable. */
int shuffle_files_flush(struct shuffle_files *f, struct err *e);
int shuffle_files_sync(struct shuffle_files *f, struct err *e);

/* Releases the buffers, after a flush. Nothing may be appended afterwards. */
void shuffle_files_end(struct shuffle_files *f);

/* Closes file i, and deletes it if it has a name. A second call does nothing. */
int shuffle_files_delete(struct shuffle_files *f, size_t i, struct err *e);

/* Writes the name of file i to `to` (SHUFFLE_NAME bytes) and returns it. */
enum { SHUFFLE_NAME = 4096 };
const char *shuffle_files_name(const struct shuffle_files *f, size_t i, char to[SHUFFLE_NAME]);

#endif
