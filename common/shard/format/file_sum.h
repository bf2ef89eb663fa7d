/* file_sum.h - the checksums of a shard's file, computed while it is written, or from disk. */
#ifndef BPE_SHARD_FORMAT_FILE_SUM_H
#define BPE_SHARD_FORMAT_FILE_SUM_H

#include "base/sys/hash.h"
#include "base/sys/sha256.h"
#include "shard/format/manifest.h"

/* Sums bytes in sequence. */
struct file_sum {
    struct hash128 *hash; /* owned; NULL: the struct is not in use */
    struct sha256 sha256;
    bool with_sha256;
    uint64_t bytes;
};

int file_sum_begin(struct file_sum *s, bool sha256, struct err *e); /* s is zeroed, or was used before */
void file_sum_add(struct file_sum *s, const void *p, size_t n);
void file_sum_end(struct file_sum *s, struct manifest_file *to); /* sets bytes, checksums; s must be begun again */
void file_sum_free(struct file_sum *s);                          /* a zeroed one is fine */

/* Adds the bytes of a file, from an offset to its end. -1 with EX_IOERR. */
int file_sum_add_file(struct file_sum *s, int fd, const char *path, uint64_t from, struct err *e);

/* Sets bytes and checksums of *to from a file. sha256: compute SHA-256, too. */
int file_sum_of(struct manifest_file *to, int fd, const char *path, bool sha256, struct err *e);

#endif
