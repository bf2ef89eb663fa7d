/* shuffle_sorted.h - the entries of a file (shuffle_entry.h) in the order of their keys; entries with equal keys, such
 * as the parts of a document, keep their order. The file is loaded into memory, or entries are read one by one.
 */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_SORTED_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_SORTED_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/shuffle/shuffle_sort.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file of entries. */
struct shuffle_part {
    int fd;          /* read by pread(2) */
    bool own;        /* the descriptor is closed with the part */
    uint64_t len, n; /* bytes, entries */
    unsigned bits;   /* leading bits that all keys share */
};

void shuffle_part_close(struct shuffle_part *p);

struct shuffle_sorted {
    struct shuffle_part part; /* owned while it is loaded */
    const char *name;         /* borrowed; for messages */
    bool loaded;
    struct shuffle_item *item; /* [part.n] */
    size_t next;               /* the next item to pass on */
    unsigned char *data;       /* the contents of the file; NULL: not in memory */
    void *room;                /* owned: memory for both */
    size_t size;
};

/* Bytes of memory to load the whole file, or else only the offsets of its entries. */
uint64_t shuffle_sorted_need(const struct shuffle_part *p, bool whole);

/* Loads the part (*taken*, also on error). -1: out of memory; EX_IOERR; EX_DATAERR: the file is damaged. If the file is
 * not loaded whole, damage to an entry is found only when that entry is read. */
int shuffle_sorted_load(struct shuffle_sorted *s, struct shuffle_part *p, const char *name, bool whole, struct err *e);

/* Returns the entry of item s->next. If the file is not in memory, the entry is appended to *room, which must have room
 * for it: see shuffle_sorted_entry_len. NULL on error. */
const unsigned char *shuffle_sorted_entry(const struct shuffle_sorted *s, struct buf *room, struct err *e);

/* The length of that entry; 0 on error. */
uint64_t shuffle_sorted_entry_len(const struct shuffle_sorted *s, struct err *e);

void shuffle_sorted_unload(struct shuffle_sorted *s); /* keeps the memory */
void shuffle_sorted_free(struct shuffle_sorted *s);   /* a zeroed one is fine */

/* Iterates over a file's entries in file order. */
struct shuffle_scan {
    const struct shuffle_part *part;
    const char *name;
    uint64_t at; /* of the next entry */
    struct buf window;
    uint64_t window_at;
};

/* 1: the next entry, verified by its check, *borrowed* until the next call; 0: there are no more; -1: EX_IOERR,
 * EX_DATAERR. */
int shuffle_scan_next(struct shuffle_scan *s, const unsigned char **entry, struct err *e);

/* Reads all entries to verify their checks. */
int shuffle_scan_all(const struct shuffle_part *p, const char *name, struct err *e);

/* Sets EX_DATAERR: the file is damaged. Returns -1. */
int shuffle_damaged(const char *name, uint64_t at, struct err *e);

#endif
