/* manifest.h - manifest.json: what is in a directory of shards. bpe-shard(1) describes it for readers.
 *
 * It holds nothing that depends on the way the work was done (run ids, times, number of processes), so that two
 * directories with the same shards have the same manifest.
 */
#ifndef BPE_SHARD_FORMAT_MANIFEST_H
#define BPE_SHARD_FORMAT_MANIFEST_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "shard/format/shard_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_NAME "manifest.json"

enum { CHECKSUM_LEN = 16 };

/* A file of a shard; all strings of this header are owned. */
struct manifest_file {
    char *name; /* relative to the directory */
    uint64_t bytes;
    unsigned char checksum[CHECKSUM_LEN]; /* XXH3, 128 bits, of all its bytes: canonical (big-endian) */
    char sha256[65];                      /* hex; "" if not asked for */
};

/* A document at the edge of a shard. */
struct manifest_document {
    char *source, *id;    /* id: of --id; NULL or "": none */
    uint64_t offset, end; /* its text, in bytes of the source's text. DOCUMENT_UNKNOWN: not known; so is `end`, if the
                             document goes on in the next shard, which may not have come yet */
    uint64_t line;
    uint64_t token;  /* of the shard: where its ids in this shard begin */
    uint64_t tokens; /* number of its ids in this shard */
    bool continued;  /* it began in the shard before */
};

/* Text of a source in a shard: from the beginning of its first document there to the end of the last one
 * (DOCUMENT_UNKNOWN: that goes on in the next shard). */
struct manifest_range {
    char *source;
    uint64_t begin, end;
};

struct manifest_shard {
    unsigned split;
    uint64_t number;                        /* in its split, from 0 */
    struct manifest_file file[SHARD_FILES]; /* file[0] has the ids */
    size_t n_files;
    uint64_t tokens;
    uint64_t documents;                   /* that begin in it */
    struct manifest_document first, last; /* source NULL: there is none */
    struct manifest_range *range;         /* in corpus order; none if shuffled */
    size_t n_ranges;
};

/* What the text was: the same for the same text and names, however it was read. */
struct manifest_sources {
    bool known; /* when all has come */
    uint64_t n;
    uint64_t bytes; /* of text: of a compressed file, decompressed */
    char names[65]; /* SHA-256 of all names in order, each ended by NUL; hex */
};

struct manifest {
    struct shard_plan plan; /* its name is owned by the manifest */
    char *name;
    char *software;      /* "bpetools 0.2.0" */
    uint64_t model;      /* fingerprint; 0: not known */
    uint64_t vocabulary; /* all ids are smaller; 0: not known */
    char *pattern;       /* name; "" regexes */
    unsigned normalizer; /* of enum normalizer, of the rules */
    uint64_t rules;      /* a hash of rules of which the members beside it do not say all; 0: they do, or (with regexes,
                            in manifests of earlier versions) it is not known */
    char **special;      /* special tokens of the rules */
    size_t n_special;
    unsigned eot;       /* as in struct commit_encoding */
    uint64_t separator; /* an id, plus 1; 0: none */
    unsigned special_policy;
    struct manifest_sources sources;
    struct buf reading;           /* how all sources were read, encoded (reading_put); empty: in different ways */
    struct manifest_shard *shard; /* by split, then number: test before train */
    size_t n_shards, cap_shards;
    struct manifest_file *extra; /* files of the whole directory (shard_format.extra_name), there when complete */
    size_t n_extra;
    bool complete;
    unsigned char checksum[CHECKSUM_LEN]; /* as it was read; manifest_put computes it (manifest_checksum) */
};

void manifest_free(struct manifest *m); /* a zeroed one is fine */

/* Appends the JSON text. */
int manifest_put(struct buf *out, const struct manifest *m, struct err *e);

/* Reads a manifest from memory; JSON_READ_PAD bytes after it must be readable. -1 with EX_DATAERR; m is then empty. */
int manifest_get(struct manifest *m, const unsigned char *p, size_t n, struct err *e);

/* Whether a manifest is in itself as bpe-shard writes it: the options; order, numbers and sizes of shards; which files
 * each has, with the names that the format gives them; the chained checksum. path: of it, for messages. -1 with
 * EX_DATAERR. */
int manifest_check(const struct manifest *m, const char *path, struct err *e);

/* Reads dir/manifest.json, and checks it so. text (may be NULL): gets what was read. 1; 0: there is none; -1:
 * EX_DATAERR, EX_NOINPUT, EX_IOERR. */
int manifest_read(struct manifest *m, const char *dir, struct buf *text, struct err *e);

/* Writes it: a file in dir/.work, which exists, synced, renamed, and the directory synced. *bytes (may be NULL): its
 * length. -1 with EX_CANTCREAT or EX_IOERR. */
int manifest_write(const struct manifest *m, const char *dir, uint64_t *bytes, struct err *e);

/* Adds a shard (*taken*, also on error) at its place. */
int manifest_add(struct manifest *m, struct manifest_shard *s, struct err *e);
const struct manifest_shard *manifest_find(const struct manifest *m, unsigned split, uint64_t number); /* or NULL */

/* What the shards of a split have together; bytes: of all their files. */
struct manifest_totals {
    uint64_t shards, tokens, documents, bytes;
};
struct manifest_totals manifest_totals(const struct manifest *m, unsigned split);
uint64_t manifest_n_shards(const struct manifest *m, unsigned split);
uint64_t manifest_shard_bytes(const struct manifest_shard *s);

/* Whether a complete directory has this split: what has one may have no shard in it. */
bool manifest_has_split(const struct manifest *m, unsigned split);

/* The chained checksum of the shards that it lists: c is at first 16 zero bytes; then for each file of each shard, in
 * order, XXH3 (128 bits) of c, the file's checksum and its name. */
int manifest_checksum(const struct manifest *m, unsigned char to[CHECKSUM_LEN], struct err *e);
void manifest_shard_free(struct manifest_shard *s);

/* Makes *to, which is freed, a copy ended by NUL: for the strings above that are owned. */
int manifest_set_text(char **to, struct str s, struct err *e);

/* One line of JSON without newline about a shard: as in the manifest. */
int manifest_put_shard(struct buf *out, const struct manifest_shard *s, struct err *e);

#endif
