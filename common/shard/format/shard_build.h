/* shard_build.h - a shard with all its ids, for its format to finish.
 *
 * shard_writer writes the ids to a file (after space for a header) and the documents to a table (docs_table.h). When
 * the shard has all its ids, the format writes header and index files from them. Memory does not grow with the shard.
 */
#ifndef BPE_SHARD_FORMAT_SHARD_BUILD_H
#define BPE_SHARD_FORMAT_SHARD_BUILD_H

#include "base/sys/err.h"
#include "shard/format/shard_plan.h"

#include <stdint.h>

/* Path of a shard's file in dir, a DIR/.work: "train.000012.data". *Owned* by the caller; NULL: out of memory. */
char *shard_work_path(const char *dir, unsigned split, uint64_t number, const char *what, struct err *e);

/* A shard whose ids are all written. */
struct shard_build {
    const struct shard_plan *plan;
    const struct manifest *manifest; /* for the facts about the model */
    const char *dir;                 /* where temporary files are made: DIR/.work */
    int fd;                          /* of the data file, for reading */
    const char *path;                /* of the data file, a temporary one in dir; for messages */
    uint64_t tokens;
    uint64_t documents; /* rows of the table, */
    uint64_t with_ids;  /* and those of them with ids */
    int docs; /* descriptor of the table, at any position, for docs_reader_init(docs, docs_path, docs_bytes) */
    const char *docs_path;
    uint64_t docs_bytes;
    unsigned split;
    uint64_t number;
    /* Results: the files that `finish` made by shard_build_file. made[0] NULL: file 0 is the data file. The final names
     * are shard_file_name(i). */
    char *made[SHARD_FILES]; /* paths (owned) */
    size_t n_files;          /* file 0 included: 1 before finish */
};

/* Creates a file in b->dir for file i of the shard (i is n_files, or 0), sets b->made[i] and n_files, and returns its
 * descriptor for writing. -1 with EX_CANTCREAT. The format's `finish` closes it, and the caller of `finish` syncs it.
 */
int shard_build_file(struct shard_build *b, size_t i, struct err *e);

#endif
