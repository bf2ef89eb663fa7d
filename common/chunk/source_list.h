/* source_list.h - the inputs of bpe-chunk: name and size of each, and whether its text is sent by reference (file and
 * offsets) or by value (the text itself).
 */
#ifndef BPE_CHUNK_SOURCE_LIST_H
#define BPE_CHUNK_SOURCE_LIST_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/intervals.h"
#include "chunk/input_warnings.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {                /* zeroed: unused; a list may have many unused entries */
    const char *path;          /* path to read, borrowed; NULL: it is not read */
    char *name;                /* in records and messages, owned */
    enum source_access access; /* by reference or by value */
    /* zstd or gzip, in a regular file that other processes may read: `size` is at first that of the file, and
     * choose_compressed (chunks.c) decides whether it is sent by reference. */
    bool compressed;
    uint64_t size;              /* as its access counts; if not `sized`, set when all has been read */
    bool sized;                 /* the size is known in advance: by reference, or a plain file by value */
    uint64_t file_size;         /* size of a regular file; else 0 */
    uint64_t mtime_s, mtime_ns; /* of a regular file; else 0 */
    struct intervals wanted;    /* --only: the ranges to send */
    struct buf reading;         /* encoded; empty: as for all sources of the run. Set with --only, or if it has a
                                   weight */
};

struct source_list {   /* zeroed: empty */
    struct source *at; /* owned */
    size_t n, cap;
};

/* Adds an input, after checking that it exists and whether other processes can read it by offset. by_value: its text is
 * sent even if they can. `watch` sees the first bytes of a regular file that is not compressed. -1: EX_NOINPUT,
 * EX_IOERR; EX_DATAERR: it is not text. */
int source_list_add(struct source_list *l, const char *path, bool by_value, struct input_warnings *watch,
                    struct err *e);

/* Extends the list to include this number, which may be any below SOURCES_MAX, because unused entries take no memory.
 * -1: EX_DATAERR if it is too large, or out of memory. */
int source_list_reach(struct source_list *l, uint64_t number, struct err *e);

/* The sum of the sizes of all sources by reference. */
uint64_t source_list_bytes(const struct source_list *l);

/* The bytes of text in all sources by reference (see access_text). */
uint64_t source_list_text(const struct source_list *l);

/* The sum of the file sizes (possibly compressed) of all sources by value; 0: not known, because one is a pipe. */
uint64_t source_list_value_files(const struct source_list *l);

/* Makes a source by value, although other processes may read its file. */
void source_by_value(struct source *s);

void source_list_free(struct source_list *l);

#endif
