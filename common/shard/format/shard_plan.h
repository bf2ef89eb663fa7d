/* shard_plan.h - determines how documents become shards: the format, and the options of bpe-shard. No state, no I/O. */
#ifndef BPE_SHARD_FORMAT_SHARD_PLAN_H
#define BPE_SHARD_FORMAT_SHARD_PLAN_H

#include "base/sys/err.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stdint.h>

struct shard_build;
struct shard_reader;
struct manifest;
struct shard_plan;

enum shard_dtype { DTYPE_AUTO, DTYPE_U16, DTYPE_U32, DTYPE_I32 };

/* What happens to ids that do not fill the last shard of a split. */
enum shard_last { LAST_SHORT, LAST_DROPPED, LAST_PADDED };

enum { SPLIT_TRAIN, SPLIT_TEST, N_SPLITS };

enum { SHARD_FILES = 4, SHARD_HEADER_MAX = 1024 };

/* A format: a file format_NAME.c, and a row in the table of formats.h. */
struct shard_format {
    const char *name;
    bool whole;             /* documents are not split: a shard ends after the document that fills it */
    bool has_docs;          /* always has the document tables of --docs (dolma) */
    bool no_empty;          /* documents without ids are dropped (document_filter.h) */
    bool no_lone_separator; /* the separator of an empty document is dropped */
    size_t n_files;         /* of a shard, not counting the document table */
    size_t header;          /* bytes before the ids in the data file, at most SHARD_HEADER_MAX */
    uint64_t most_tokens;   /* in a shard; UINT64_MAX: no limit */

    /* Writes the header, of `header` bytes, of a shard with this number of ids. NULL: the format has no header. */
    void (*put_header)(unsigned char *to, const struct shard_plan *p, uint64_t tokens);

    /* The type of -d auto for a vocabulary of that size (0: unknown). */
    enum shard_dtype (*dtype)(uint64_t vocabulary);
    enum shard_dtype lacks; /* a type that the format cannot store; DTYPE_AUTO: it stores all */
    /* Whether the format supports the plan's size and name; NULL: any. -1 with EX_USAGE. Called by
     * shard_plan_check_ids. */
    int (*check)(const struct shard_plan *p, struct err *e);

    /* File names: see shard_usual_name. */
    const char *test;  /* the word for the test split */
    bool always_split; /* names include the split, even if there is only one */
    const char *suffix[SHARD_FILES];

    /* The format's own file names: like shard_file_name, without the document table. NULL: the usual names. */
    void (*file_name)(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

    /* The name, relative to DIR, of the directory-wide file that finish_all makes for a split. NULL: the format has
     * none. */
    void (*extra_name)(char *to, size_t n, const struct shard_plan *p, unsigned split);

    /* Makes the index files; if it makes file 0, that replaces the data file. After a crash it may be called again for
     * the same shard, and must make the same files. NULL: the data file with its header is complete. */
    int (*finish)(struct shard_build *b, struct err *e);

    /* Makes the directory-wide files of each split (manifest_has_split), test first, once all shards exist; may be
     * NULL. Writes them in dir (temporary file, rename), and adds them to m->extra. */
    int (*finish_all)(struct manifest *m, const char *dir, struct err *e);

    /* Passes all documents of an open shard to its sink, and checks the format's own data (header, sizes, index):
     * EX_DATAERR with file and offset. If the format is `whole`, each document begins and ends in the shard. Otherwise
     * the first document may continue one from the shard before (begin is not called) and the last may continue in the
     * next (end is not called). */
    int (*read)(struct shard_reader *r, struct err *e);
};

struct shard_plan {
    const struct shard_format *format;
    enum shard_dtype dtype; /* not DTYPE_AUTO once ids are written */
    const char *name;       /* --name; NULL: the format's own. *Borrowed* */
    uint64_t shard_tokens;  /* ids in a shard; 0: one shard */
    uint64_t test_shards;   /* --test: number of leading shards that are for tests; 0: none */
    double test_fraction;   /* --test-fraction: share of the documents for tests; 0: none */
    bool shuffled;          /* --shuffle=documents */
    uint64_t seed;
    enum shard_last last;
    bool docs;   /* --docs: a document table for each shard */
    bool sha256; /* --sha256: also compute SHA-256 */
};

/* Whether there are two splits, each with its own shard numbers. */
bool shard_plan_splits(const struct shard_plan *p);

/* The sort key of a document in the shuffled order: a hash of the source's name and the offset, keyed by the seed.
 * Documents with equal keys keep the order of source number and offset. */
uint64_t shard_plan_key(const struct shard_plan *p, const struct document *d);

/* Whether --test-fraction assigns a document to the test split. Depends only on the seed, the source's name and the
 * offset; independent of shard_plan_key. */
bool shard_plan_is_test(const struct shard_plan *p, const struct document *d);

/* Whether file names can begin with this name (--name). -1 with EX_USAGE. */
int shard_plan_check_name(const char *name, struct err *e);

/* Whether the options of a plan are compatible. -1 with EX_USAGE. */
int shard_plan_check(const struct shard_plan *p, struct err *e);

/* Whether the plan's type, which is not DTYPE_AUTO, can hold all ids of a vocabulary of that size (0: unknown), and the
 * format supports that type. -1 with EX_USAGE. */
int shard_plan_check_ids(const struct shard_plan *p, uint64_t vocabulary, struct err *e);

/* The option in which the plans differ ("-n"); NULL: they make the same shards. A static string. */
const char *shard_plan_difference(const struct shard_plan *a, const struct shard_plan *b);

/* Bytes of an id of that type, and the exclusive limit of its ids. */
unsigned shard_dtype_width(enum shard_dtype t);
uint64_t shard_dtype_limit(enum shard_dtype t);
const char *shard_dtype_name(enum shard_dtype t); /* "uint16", "uint32", "int32" */

/* The final name, relative to DIR, of file i of a shard; it may contain one directory. File 0 holds the ids; 1 and up
 * are index files; the document table (--docs) comes after the format's files, and is named like file 0 with .csv.gz
 * after the last dot. `to` holds n bytes. */
void shard_file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

/* The file names of most formats: NAME[_SPLIT]_NUMBER and the suffix. NUMBER has six digits. _SPLIT is omitted if there
 * is only one split, _NUMBER with -n 0. */
void shard_usual_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

/* -d auto of most formats: u16 for a vocabulary of at most 65,536, else u32; unknown (0): u32. */
enum shard_dtype shard_dtype_unsigned(uint64_t vocabulary);

#endif
