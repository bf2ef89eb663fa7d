/* shard_plan.h - what decides how documents become shards: their format, and the options of bpe-shard. No state, no
 * input or output.
 */
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

/* What is done with the ids that do not fill the last shard of a split. */
enum shard_last { LAST_SHORT, LAST_DROPPED, LAST_PADDED };

enum { SPLIT_TRAIN, SPLIT_TEST, N_SPLITS };

enum { SHARD_FILES = 4, SHARD_HEADER_MAX = 1024 };

/* A format: a file format_NAME.c, and a row in formats.h. */
struct shard_format {
    const char *name;
    bool whole;    /* documents are whole in a shard: it ends after the first that brings it to its number of ids */
    bool has_docs; /* always has the tables of documents that --docs asks for (dolma) */
    bool no_empty; /* documents without ids are left out (document_filter.h) */
    bool no_lone_separator; /* a separator put after a document without ids is left out */
    size_t n_files;         /* of a shard, without the table of documents */
    size_t header;          /* bytes before the ids in the data file, at most SHARD_HEADER_MAX */
    uint64_t most_tokens;   /* in a shard; UINT64_MAX: any number */

    /* Writes the header of a shard with this number of ids: `header` bytes. NULL if there is none. */
    void (*put_header)(unsigned char *to, const struct shard_plan *p, uint64_t tokens);

    /* -d auto for a vocabulary of that size (0: not known). */
    enum shard_dtype (*dtype)(uint64_t vocabulary);
    enum shard_dtype lacks; /* it has no ids of this type; DTYPE_AUTO: of all */
    /* Whether the format has shards of the plan's size and name; NULL: always. -1 with EX_USAGE. Called by
     * shard_plan_check_ids. */
    int (*check)(const struct shard_plan *p, struct err *e);

    /* The names of files: see shard_usual_name. */
    const char *test;  /* the word for that split */
    bool always_split; /* a name has the word for its split, even if there is but one */
    const char *suffix[SHARD_FILES];

    /* Names that are not the usual ones: as shard_file_name, without the table of documents. NULL: they are. */
    void (*file_name)(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

    /* The name, relative to DIR, of the file of the whole directory that finish_all makes for a split. NULL: there is
     * none. */
    void (*extra_name)(char *to, size_t n, const struct shard_plan *p, unsigned split);

    /* Makes the index files; a file 0 that it makes replaces the data file. May be called again for the same shard
     * after a death, and then makes the same files again. NULL: the data file with its header is all. */
    int (*finish)(struct shard_build *b, struct err *e);

    /* Makes these files when all shards are there, for each manifest_has_split, the one for tests first; may be NULL.
     * Writes them under dir (temporary file, rename) and adds them to m->extra. */
    int (*finish_all)(struct manifest *m, const char *dir, struct err *e);

    /* Passes all documents of a shard, which is open, to its sink; checks what the format says of itself (header,
     * sizes, index) on the way: EX_DATAERR with file and place. whole: each document begins and ends here; else the
     * first may continue one from the shard before and the last may go on: then begin is not called, or end is not
     * called. */
    int (*read)(struct shard_reader *r, struct err *e);
};

struct shard_plan {
    const struct shard_format *format;
    enum shard_dtype dtype; /* never DTYPE_AUTO once ids are written */
    const char *name;       /* --name; NULL: the format's own. Borrowed */
    uint64_t shard_tokens;  /* ids in a shard; 0: all in one */
    uint64_t test_shards;   /* --test: the first shards of all are for tests; 0: none */
    double test_fraction;   /* --test-fraction: of the documents; 0: none */
    bool shuffled;          /* --shuffle=documents */
    uint64_t seed;
    enum shard_last last;
    bool docs;   /* --docs: a table of documents for each shard */
    bool sha256; /* --sha256: this checksum, too */
};

/* Whether there are two splits, each with its own numbers. */
bool shard_plan_splits(const struct shard_plan *p);

/* The place of a document in the shuffled order: documents are sorted by it; where it is equal, by source number and
 * offset. A hash of the source's name and the offset, keyed by the seed. */
uint64_t shard_plan_key(const struct shard_plan *p, const struct document *d);

/* Whether --test-fraction puts a document into the split for tests. It depends on the seed, the source's name and the
 * offset alone; independent of shard_plan_key. */
bool shard_plan_is_test(const struct shard_plan *p, const struct document *d);

/* Whether names of files can begin with it (--name). -1 with EX_USAGE. */
int shard_plan_check_name(const char *name, struct err *e);

/* What the options of a plan do not go together; -1 with EX_USAGE. */
int shard_plan_check(const struct shard_plan *p, struct err *e);

/* Whether the plan's type, which is not DTYPE_AUTO, has all ids of a vocabulary of that size (0: not known), and the
 * format has that type. -1 with EX_USAGE. */
int shard_plan_check_ids(const struct shard_plan *p, uint64_t vocabulary, struct err *e);

/* The option in which the plans differ ("-n"), NULL: they make the same shards. Static. */
const char *shard_plan_difference(const struct shard_plan *a, const struct shard_plan *b);

/* Bytes of an id of that type, and how many ids there are: all are smaller. */
unsigned shard_dtype_width(enum shard_dtype t);
uint64_t shard_dtype_limit(enum shard_dtype t);
const char *shard_dtype_name(enum shard_dtype t); /* "uint16", "uint32", "int32" */

/* The final name, relative to DIR, of file i of a shard: 0: ids; 1 ...: index files; the table of documents (--docs)
 * comes after those of the format, and has the name of file 0 with .csv.gz for what is after the last dot. It may have
 * one directory in it. `to` holds n bytes. */
void shard_file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

/* NAME[_SPLIT]_NUMBER (six digits; without a split in the plan not _SPLIT, with -n 0 no _NUMBER), then the suffix: the
 * names of most formats. */
void shard_usual_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i);

/* u16 for a vocabulary of at most 65,536, else u32: what -d auto is in most formats. Not known (0): u32. */
enum shard_dtype shard_dtype_unsigned(uint64_t vocabulary);

#endif
