/* upload.h - the parts of bpe upload. */
#ifndef BPE_CMD_UPLOAD_H
#define BPE_CMD_UPLOAD_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "driver/job.h"
#include "shard/format/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* A file that a manifest lists, or the manifest itself. All strings are owned. */
struct upload_file {
    char *name; /* in the directory */
    uint64_t bytes;
    unsigned char checksum[CHECKSUM_LEN];
    char sha256[65]; /* "": the manifest has none */
    size_t shard;    /* which one of the manifest; SIZE_MAX: a file of the whole directory */
    char *hash;      /* of the file here, of the type by which copies are compared; NULL: not known */
    bool is_new;     /* hash is not in DIR/.upload/sums */
    bool done;       /* its copy is there, and verified */
    bool theirs;     /* the manifest that the remote had lists the same */

    /* What upload_list has found: */
    bool listed;
    uint64_t listed_bytes;
    char *listed_hash; /* NULL: the remote has none */
};

/* A line of DIR/.upload/sums. */
struct upload_sum {
    char checksum[2 * CHECKSUM_LEN + 1]; /* hex */
    char *hash;                          /* owned */
};

struct upload {
    struct job *job; /* borrowed */

    /* What is asked for. */
    bool delete_after, once, download;
    const char *transfers, *wait_text, *retries_text; /* numbers */
    uint64_t patience, retries;                       /* seconds of --wait */
    char **files;
    int n_files;
    const char *from, *to; /* the directory; REMOTE:PATH */

    char *manifest, *state, *sums; /* DIR/manifest.json, DIR/.upload, and sums in it; owned, as all below */
    int lock;

    /* upload_manifest.c */
    struct upload_file **known; /* by name: all that manifests have listed */
    size_t n_known, cap_known;
    struct upload_file **listed; /* borrowed from known: what the last one lists, in its order */
    size_t n_listed;
    size_t n_shards;
    bool complete;
    struct upload_stamp {
        ino_t inode;
        off_t size;
        struct timespec changed;
    } seen;           /* of the manifest that was read last; zero: none */
    double read_time; /* seconds that this took */

    /* upload_local.c */
    struct upload_sum *sum; /* by checksum */
    size_t n_sums, cap_sums;
    bool torn; /* the file of sums ends within a line */

    /* upload_copy.c */
    size_t next;               /* in `listed`: the first that is in no batch yet */
    struct upload_file **todo; /* borrowed: what of the batch is not verified */
    size_t n_todo;
    size_t n_uploaded; /* shards */

    /* upload_remote.c */
    const char *type; /* of the checksums by which copies are compared, as rclone calls it */
    bool kept;        /* the remote has them; else copies are read back */
    size_t n_done;    /* files that were verified so far */
    char reason[1500];
};

/* ---- upload_rclone.c ---- */

/* A step: 0; 1: it failed for now, and `reason` says why; -1: *e, which trying again does not mend. */
typedef int upload_step(struct upload *u, struct err *e);

/* Repeats a step until it succeeds or has failed too often in turn. -1: EX_IOERR; EX_USAGE: rclone does not know the
 * remote. */
int upload_persist(struct upload *u, upload_step *step, struct err *e);

/* A step: rclone with these words, which end with NULL. UPLOAD_NAMES among them is the list of the files. out: gets
 * what it writes, also if it fails. other: an exit status that means that there is nothing; or 0. */
#define UPLOAD_NAMES "--files-from-raw=/dev/fd/4"
int upload_rclone(struct upload *u, const char *const *words, struct upload_file **files, size_t n, int other,
                  struct buf *out, struct err *e);

/* Shows on a terminal how far it is. log: what rclone has said; or NULL. */
void upload_show(const struct upload *u, const struct buf *log);

void upload_nap(double seconds);

/* ---- upload_remote.c: steps ---- */

/* Finds out about files at a place, u->to or u->from. hash: the type of the checksums to ask for; or NULL. */
int upload_list(struct upload *u, const char *place, const char *hash, struct upload_file **files, size_t n,
                struct err *e);

/* Sets listed_hash of files by the bytes that the remote has. Some may have it also if not all could be read. */
int upload_read_back(struct upload *u, struct upload_file **files, size_t n, struct err *e);

int upload_copy(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* Reads a file of the remote that was listed. */
int upload_fetch(struct upload *u, struct upload_file *file, struct buf *to, struct err *e);

/* Sets type and kept. */
int upload_ask_features(struct upload *u, struct err *e);

/* ---- upload_manifest.c: which files there are ---- */

/* Reads it. -1 with EX_DATAERR: it is none of bpe-shard's, or of other files than before; EX_NOINPUT. */
int upload_read_manifest(struct upload *u, struct err *e);

/* Whether there is another one than was read; if none was, whether there is one. */
bool upload_has_new_manifest(const struct upload *u);

/* Waits until there is. False: there will be none. */
bool upload_wait_for_manifest(const struct upload *u);

/* Whether the remote has no manifest of other shards. text: the one that it has, which gets padding. -1:
 * EX_CANTCREAT. */
int upload_compare_manifest(struct upload *u, struct buf *text, struct err *e);

void upload_free_file(struct upload_file *f);

/* Whether a file of this name, in DIR, is here. */
bool upload_is_here(const struct upload *u, const char *name);

/* Sorts n files by name; and finds one among those that are sorted: NULL: it is not there. */
void upload_sort(struct upload_file **files, size_t n);
struct upload_file *upload_find(struct upload_file *const *sorted, size_t n, const char *name);

/* ---- upload_local.c: the files here ---- */

/* Reads DIR/.upload/sums; u->type is known. */
int upload_read_sums(struct upload *u, struct err *e);

/* Notes in it what was computed of these files, which are verified now. It is on the disk then. */
int upload_write_sums(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* A step: those of todo that are here are as the manifest says, and their hash is known. */
upload_step upload_check_here;

/* A step: sets hash of files that are here. */
int upload_hash(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* ---- upload_copy.c ---- */

/* Uploads what the manifest lists and is not verified, batch by batch. */
int upload_files(struct upload *u, struct err *e);

/* Uploads the manifest. replaces: the remote may have it already. */
int upload_last(struct upload *u, bool replaces, struct err *e);

#endif
