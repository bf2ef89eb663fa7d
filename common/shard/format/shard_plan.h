/* shard_plan.h - what decides how documents become shards: the options of bpe-shard. No state, no input or output. */
#ifndef BPE_SHARD_FORMAT_SHARD_PLAN_H
#define BPE_SHARD_FORMAT_SHARD_PLAN_H

#include "base/sys/err.h"
#include "shard/format/document.h"

#include <stdbool.h>
#include <stdint.h>

struct shard_format; /* formats.h */

enum shard_dtype { DTYPE_AUTO, DTYPE_U16, DTYPE_U32, DTYPE_I32 };

/* What is done with the ids that do not fill the last shard of a split. */
enum shard_last { LAST_SHORT, LAST_DROPPED, LAST_PADDED };

enum { SPLIT_TRAIN, SPLIT_TEST, N_SPLITS };

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

#endif
