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
    char *name; /* relative to DIR */
    uint64_t bytes;
    unsigned char checksum[CHECKSUM_LEN];
    char sha256[65]; /* "": the manifest has none */
    size_t shard;    /* index in the manifest; SIZE_MAX: a file of the whole directory */
    char *hash;      /* of the local file, of the type by which copies are compared; NULL: unknown */
    bool is_new;     /* hash is not in DIR/.upload/sums */
    bool done;       /* its copy is verified */
    bool theirs;     /* the manifest found on the remote lists the same */

    /* Set by upload_list: */
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

    /* The request. */
    bool delete_after, once, download;
    const char *transfers, *wait_text, *retries_text; /* numbers, as text */
    uint64_t patience, retries;                       /* seconds of --wait */
    char **files;
    int n_files;
    const char *from, *to; /* the directory; REMOTE:PATH */

    char *manifest, *state, *sums; /* DIR/manifest.json, DIR/.upload and DIR/.upload/sums; owned, as are all below */
    int lock;

    /* upload_manifest.c */
    struct upload_file **known; /* sorted by name: all files that manifests have listed */
    size_t n_known, cap_known;
    struct upload_file **listed; /* borrowed from known: the files of the last manifest, in its order */
    size_t n_listed;
    size_t n_shards;
    bool complete;
    struct upload_stamp {
        ino_t inode;
        off_t size;
        struct timespec changed;
    } seen;           /* of the manifest that was read last; zero: none */
    double read_time; /* seconds that reading it took */

    /* upload_local.c */
    struct upload_sum *sum; /* sorted by checksum */
    size_t n_sums, cap_sums;
    bool torn; /* the file of sums ends in the middle of a line */

    /* upload_copy.c */
    size_t next;               /* index in `listed` of the first file that is in no batch yet */
    struct upload_file **todo; /* borrowed: the files of the batch that are not verified */
    size_t n_todo;
    size_t n_uploaded; /* shards */

    /* upload_remote.c */
    const char *type; /* of the checksums by which copies are compared, by rclone's name */
    bool kept;        /* the remote keeps them; else copies are read back */
    size_t n_done;    /* files verified so far */
    char reason[1500];
};

/* ---- upload_rclone.c ---- */

/* A step returns 0; 1: it failed for now, for the `reason`; -1: *e, a permanent error. */
typedef int upload_step(struct upload *u, struct err *e);

/* Repeats a step until it succeeds or has failed too many times in a row. -1: EX_IOERR; EX_USAGE: rclone does not know
 * the remote. */
int upload_persist(struct upload *u, upload_step *step, struct err *e);

/* A step: runs rclone with these words, the last of which is NULL. UPLOAD_NAMES among them stands for the list of the
 * files. out: gets its output, even if it fails. other: an exit status that means that nothing was found; or 0. */
#define UPLOAD_NAMES "--files-from-raw=/dev/fd/4"
int upload_rclone(struct upload *u, const char *const *words, struct upload_file **files, size_t n, int other,
                  struct buf *out, struct err *e);

/* Shows the progress on a terminal. log: rclone's messages so far; or NULL. */
void upload_show(const struct upload *u, const struct buf *log);

void upload_nap(double seconds);

/* ---- upload_remote.c: steps ---- */

/* Lists files at a place, u->to or u->from. hash: the type of the checksums to ask for; or NULL. */
int upload_list(struct upload *u, const char *place, const char *hash, struct upload_file **files, size_t n,
                struct err *e);

/* Sets listed_hash of files from the bytes that the remote has; of some files even if not all could be read. */
int upload_read_back(struct upload *u, struct upload_file **files, size_t n, struct err *e);

int upload_copy(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* Reads a listed file of the remote. */
int upload_fetch(struct upload *u, struct upload_file *file, struct buf *to, struct err *e);

/* Sets type and kept. */
int upload_ask_features(struct upload *u, struct err *e);

/* ---- upload_manifest.c: the files to upload ---- */

/* Reads the manifest. -1 with EX_DATAERR: it is not one of bpe-shard's, or lists a file that has changed; EX_NOINPUT.
 */
int upload_read_manifest(struct upload *u, struct err *e);

/* Whether the manifest differs from the one that was read last; if none was read, whether it exists. */
bool upload_has_new_manifest(const struct upload *u);

/* Waits for a new manifest. False: none came in time. */
bool upload_wait_for_manifest(const struct upload *u);

/* Checks that the remote has no manifest of other shards. text: the one that it has, which gets padding. -1:
 * EX_CANTCREAT. */
int upload_compare_manifest(struct upload *u, struct buf *text, struct err *e);

void upload_free_file(struct upload_file *f);

/* Whether DIR has a file of this name. */
bool upload_is_here(const struct upload *u, const char *name);

/* Sort n files by name; find one among sorted files (NULL: not found). */
void upload_sort(struct upload_file **files, size_t n);
struct upload_file *upload_find(struct upload_file *const *sorted, size_t n, const char *name);

/* ---- upload_local.c: the local files ---- */

/* Reads DIR/.upload/sums, of which u->type is needed. */
int upload_read_sums(struct upload *u, struct err *e);

/* Appends to it, and syncs, the new checksums of these files, which are verified now. */
int upload_write_sums(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* A step: checks that local files of todo are as in the manifest, and sets their hash. */
upload_step upload_check_here;

/* A step: sets hash of local files. */
int upload_hash(struct upload *u, struct upload_file **files, size_t n, struct err *e);

/* ---- upload_copy.c ---- */

/* Uploads the files of the manifest that are not verified, batch by batch. */
int upload_files(struct upload *u, struct err *e);

/* Uploads the manifest. replaces: the remote may have it already. */
int upload_last(struct upload *u, bool replaces, struct err *e);

#endif
