/* shuffle_sorted.h - the entries of a file (shuffle_entry.h) in the order of their keys: those with equal keys,
 * which are the parts of a document, stay as they are. The file is in memory, or the entries are read when they are
 * asked for.
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
    bool own;        /* it is closed with the part */
    uint64_t len, n; /* bytes, entries */
    unsigned bits;   /* the first bits of all keys that are equal */
};

void shuffle_part_close(struct shuffle_part *p);

struct shuffle_sorted {
    struct shuffle_part part; /* owned while it is loaded */
    const char *name;         /* borrowed; for messages */
    bool loaded;
    struct shuffle_item *item; /* [part.n] */
    size_t next;               /* the number of items that were passed on */
    unsigned char *data;       /* the file; NULL: it is not in memory */
    void *room;                /* owned: for both */
    size_t size;
};

/* Bytes of memory to load the file; or only the places of its entries. */
uint64_t shuffle_sorted_need(const struct shuffle_part *p, bool whole);

/* Takes the part (*taken*, also on error). -1: out of memory; EX_IOERR; EX_DATAERR: the file is damaged. If it is not
 * in memory, that is noticed of each entry when it is asked for. */
int shuffle_sorted_load(struct shuffle_sorted *s, struct shuffle_part *p, const char *name, bool whole, struct err *e);

/* The entry of item s->next, in memory: if the file is not there, it is appended to *room, which has enough room for
 * it: see shuffle_sorted_next_len. NULL on error. */
const unsigned char *shuffle_sorted_entry(const struct shuffle_sorted *s, struct buf *room, struct err *e);

/* The length of that entry; 0 on error. */
uint64_t shuffle_sorted_entry_len(const struct shuffle_sorted *s, struct err *e);

void shuffle_sorted_unload(struct shuffle_sorted *s); /* keeps the memory */
void shuffle_sorted_free(struct shuffle_sorted *s);   /* a zeroed one is fine */

/* A file's entries in the order of the file. */
struct shuffle_scan {
    const struct shuffle_part *part;
    const char *name;
    uint64_t at; /* of the next entry */
    struct buf window;
    uint64_t window_at;
};

/* 1: the next entry, with the right check, borrowed until the next call; 0: there are no more; -1: EX_IOERR,
 * EX_DATAERR. */
int shuffle_scan_next(struct shuffle_scan *s, const unsigned char **entry, struct err *e);

/* Reads all entries, only to see whether they are damaged. */
int shuffle_scan_all(const struct shuffle_part *p, const char *name, struct err *e);

/* "the file is damaged", EX_DATAERR. Returns -1. */
int shuffle_damaged(const char *name, uint64_t at, struct err *e);

#endif
