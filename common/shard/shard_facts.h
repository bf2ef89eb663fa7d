/* shard_facts.h - fills in the manifest's facts about the model and the sources, from the records. */
#ifndef BPE_SHARD_SHARD_FACTS_H
#define BPE_SHARD_SHARD_FACTS_H

#include "base/sys/sha256.h"
#include "pretok/rules.h"
#include "shard/format/manifest.h"
#include "shard/store/token_store.h"

/* The options of bpe-shard, or of another program that makes shards. All are *borrowed*. */
struct shard_pipeline_options {
    const char *dir;
    struct shard_plan plan;
    bool resume;
    uint64_t memory;     /* bytes for ids */
    const char *id;      /* the tokens must have document ids from this field; NULL: any */
    const char *missing; /* file for the list of missing ranges; NULL: none */
    const char *software;

    /* published is called for each shard when it appears, on_progress now and then while a shuffle passes on its
     * documents. May be NULL. */
    int (*published)(void *ctx, const struct manifest_shard *s, struct err *e);
    void (*on_progress)(void *ctx);
    void *ctx;
};

/* Sets the facts, resolves -d auto in the plan, and checks that the format can hold such ids. has_before: m is the
 * manifest of an earlier process, which must agree. -1: EX_DATAERR: another model; EX_USAGE.
 */
int shard_facts_set(struct manifest *m, const struct token_store *store, const struct shard_pipeline_options *o,
                    bool has_before, struct err *e);

/* A hash of the encoded rules, unless the pattern's name, the normalizer and special tokens without flags determine
 * them completely: then 0. */
uint64_t shard_facts_rules(const struct rules *r, struct str encoded);

/* Checks that ids were made with the manifest's model and settings. -1 with EX_DATAERR if not; dir is for the message.
 */
int shard_facts_check_model(const struct manifest *m, const struct commit_encoding *x, const char *dir, struct err *e);

/* Checks that the documents of a source have the ids of bpe-chunk --id=FIELD. -1 with EX_USAGE if not. */
int shard_facts_check_id(const struct token_store *store, uint64_t source, const char *field, struct err *e);

/* Set the facts about the sources, once all are known: how they were read; their number, names and size (`bytes` of
 * text). */
int shard_facts_reading(struct manifest *m, const struct token_store *store, struct err *e);
void shard_facts_sources(struct manifest *m, const struct token_store *store, uint64_t bytes);

/* Adds the name of a source to the digest of all names. */
void shard_facts_add_name(struct sha256 *names, struct str name);

#endif
