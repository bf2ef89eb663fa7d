/* id_store.h - the ids of text, kept in files between the rounds of training on superwords, so that a round need not
 * encode the text again. Each file has the ids of one piece of a source, by the model of an earlier round, whose merges
 * are the first ones of later models. A file that is missing costs time, and nothing else.
 *
 * A file is written under another name, and renamed when it is complete. It begins with a struct id_store_head; ids of
 * 2 or 4 bytes follow, in the byte order of this machine, with the largest number of that width where a pretoken ends.
 */
#ifndef BPE_SUPERWORDS_ID_STORE_H
#define BPE_SUPERWORDS_ID_STORE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "input/doc_reader.h"
#include "model/model.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What identifies a piece: two hashes of its source, its place there, and how it is read and split. */
struct id_store_key {
    uint64_t at[2];
};

struct id_store_head {
    unsigned char magic[8];
    struct id_store_key key;
    uint64_t width;    /* of an id */
    uint64_t n_merges; /* of the model that made the ids */
    uint64_t model;    /* its hash */
    uint64_t n;        /* number of ids in the file, with those that mark ends */
    uint64_t checksum; /* of their bytes */
    uint64_t text;     /* bytes of text of the piece */
    uint64_t skipped;  /* bad lines that were left out, */
    uint64_t where;    /* and bytes of the place of the first, which follows the ids */
};

struct id_store {
    const char *dir; /* borrowed; NULL: nothing is kept */
    /* The piece being written. */
    int fd;     /* -1: none */
    char *made; /* its temporary name; owned */
    struct id_store_key key;
    struct id_store_head head;
    struct buf block; /* ids not yet written */
};

/* dir: borrowed until id_store_close, or NULL. -1: EX_NOINPUT: it is no directory. */
int id_store_init(struct id_store *s, const char *dir, struct err *e);
void id_store_close(struct id_store *s); /* drops what is not complete; a zeroed one is fine */

/* The key of a piece [begin, end) of a source, with these encoded rules. */
struct id_store_key id_store_key_of(const struct source_facts *f, struct str rules, uint64_t begin, uint64_t end);

/* A piece that is being read. */
struct id_store_piece {
    struct id_store_head head;
    int fd;
    uint64_t left, checksum; /* ids not yet read; the checksum so far */
    const char *path;        /* owned by the caller of id_store_find, for messages */
};

/* Opens the file of a piece if there is one that this model can go on with: *x. 1: there is; 0: there is none; -1: out
 * of memory. */
int id_store_find(const struct id_store *s, struct id_store_key key, const struct model *m, struct id_store_piece *x,
                  struct err *e);

/* Reads the next ids to p[0 .. ID_STORE_BLOCK). Returns their number; 0: that was all, and *skipped is added to; -1:
 * EX_DATAERR: the file is damaged, or EX_IOERR. */
enum { ID_STORE_BLOCK = 256 << 10 };
ptrdiff_t id_store_read(struct id_store_piece *x, unsigned char *p, struct bad_lines *skipped, struct err *e);
void id_store_end_read(struct id_store_piece *x);

/* Begins to write the ids of a piece, by this model; id_store_put appends n ids, id_store_end completes the file. If
 * the disk is almost full, or cannot be written, the piece is not kept. */
void id_store_begin(struct id_store *s, struct id_store_key key, const struct model *m);
void id_store_put(struct id_store *s, const unsigned char *ids, size_t n);
void id_store_end(struct id_store *s, uint64_t text, uint64_t skipped, struct str where);

#endif
