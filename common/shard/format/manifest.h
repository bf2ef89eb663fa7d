/* manifest.h - manifest.json: the contents of a directory of shards, as documented in bpe-shard(1).
 *
 * It contains nothing that depends on how the shards were made (run ids, times, number of processes), so directories
 * with equal shards have equal manifests.
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

/* A file of a shard. All strings in this header are *owned*. */
struct manifest_file {
    char *name; /* relative to the directory */
    uint64_t bytes;
    unsigned char checksum[CHECKSUM_LEN]; /* 128-bit XXH3 of the file, canonical (big-endian) */
    char sha256[65];                      /* hex; "" unless --sha256 */
};

/* A document at the edge of a shard. */
struct manifest_document {
    char *source, *id;    /* id: of --id; NULL or "": none */
    uint64_t offset, end; /* of its text in the source's text. DOCUMENT_UNKNOWN: unknown; so is `end` if the document
                             continues in the next shard, which may not exist yet */
    uint64_t line;
    uint64_t token;  /* index, within the shard, of its first id there */
    uint64_t tokens; /* number of its ids in the shard */
    bool continued;  /* it began in an earlier shard */
};

/* The range of a source's text in a shard: from the beginning of its first document there to the end of its last
 * (DOCUMENT_UNKNOWN: it continues in the next shard). */
struct manifest_range {
    char *source;
    uint64_t begin, end;
};

struct manifest_shard {
    unsigned split;
    uint64_t number;                        /* in its split, from 0 */
    struct manifest_file file[SHARD_FILES]; /* file[0] holds the ids */
    size_t n_files;
    uint64_t tokens;
    uint64_t documents;                   /* number of documents that begin in it */
    struct manifest_document first, last; /* source NULL: no document */
    struct manifest_range *range;         /* in corpus order; none if shuffled */
    size_t n_ranges;
};

/* Identifies the text: equal for equal text and source names, however it was read. */
struct manifest_sources {
    bool known; /* set once all input has arrived */
    uint64_t n;
    uint64_t bytes; /* of text, decompressed */
    char names[65]; /* SHA-256, in hex, of all names in order, each NUL-terminated */
};

struct manifest {
    struct shard_plan plan; /* its name is owned by the manifest */
    char *name;
    char *software;      /* "bpetools 0.2.0" */
    uint64_t model;      /* fingerprint; 0: unknown */
    uint64_t vocabulary; /* all ids are smaller; 0: unknown */
    char *pattern;       /* name of the pattern; "": regexes */
    unsigned normalizer; /* enum normalizer, from the rules */
    uint64_t rules;      /* a hash of the rules, if the other members do not determine them; 0: they do, or (with
                            regexes, in manifests of earlier versions) unknown */
    char **special;      /* special tokens of the rules */
    size_t n_special;
    unsigned eot;       /* as in struct commit_encoding */
    uint64_t separator; /* an id, plus 1; 0: none */
    unsigned special_policy;
    struct manifest_sources sources;
    struct buf reading;           /* how all sources were read (reading_put); empty: in different ways */
    struct manifest_shard *shard; /* by split, then number: test before train */
    size_t n_shards, cap_shards;
    struct manifest_file *extra; /* directory-wide files (shard_format.extra_name), once complete */
    size_t n_extra;
    bool complete;
    unsigned char checksum[CHECKSUM_LEN]; /* as read from the file; manifest_put computes its own */
};

void manifest_free(struct manifest *m); /* a zeroed one is fine */

/* Appends the JSON text. */
int manifest_put(struct buf *out, const struct manifest *m, struct err *e);

/* Parses a manifest in memory; JSON_READ_PAD bytes after it must be readable. -1 with EX_DATAERR; m is then empty. */
int manifest_get(struct manifest *m, const unsigned char *p, size_t n, struct err *e);

/* Checks that a manifest is consistent, as bpe-shard writes it: the options; order, numbers and sizes of shards; the
 * files of each, with the names that the format gives them; the chained checksum. path: the manifest's, for messages.
 * -1 with EX_DATAERR. */
int manifest_check(const struct manifest *m, const char *path, struct err *e);

/* Reads dir/manifest.json, and checks it as manifest_check does. text: gets its contents; may be NULL. 1; 0: there is
 * no manifest; -1: EX_DATAERR, EX_NOINPUT, EX_IOERR. */
int manifest_read(struct manifest *m, const char *dir, struct buf *text, struct err *e);

/* Writes it durably: writes and syncs a file in dir/.work (which must exist), renames it, and syncs the directory.
 * *bytes: its length; may be NULL. -1 with EX_CANTCREAT or EX_IOERR. */
int manifest_write(const struct manifest *m, const char *dir, uint64_t *bytes, struct err *e);

/* Inserts a shard (*taken*, also on error) in order. */
int manifest_add(struct manifest *m, struct manifest_shard *s, struct err *e);
const struct manifest_shard *manifest_find(const struct manifest *m, unsigned split, uint64_t number); /* or NULL */

/* Totals of the shards of a split; bytes: of all their files. */
struct manifest_totals {
    uint64_t shards, tokens, documents, bytes;
};
struct manifest_totals manifest_totals(const struct manifest *m, unsigned split);
uint64_t manifest_n_shards(const struct manifest *m, unsigned split);
uint64_t manifest_shard_bytes(const struct manifest_shard *s);

/* Whether a complete directory has this split. The train split exists, even without shards, if there is no test split.
 */
bool manifest_has_split(const struct manifest *m, unsigned split);

/* The chained checksum of the listed shards: c starts as 16 zero bytes; for each file of each shard, in order, c
 * becomes the 128-bit XXH3 of c, the file's checksum, and its name. */
int manifest_checksum(const struct manifest *m, unsigned char to[CHECKSUM_LEN], struct err *e);
void manifest_shard_free(struct manifest_shard *s);

/* Replaces the *owned* string *to with a NUL-terminated copy of s. */
int manifest_set_text(char **to, struct str s, struct err *e);

/* Appends a shard as one line of JSON, as in the manifest, without a newline. */
int manifest_put_shard(struct buf *out, const struct manifest_shard *s, struct err *e);

#endif
