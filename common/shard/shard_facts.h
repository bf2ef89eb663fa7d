/* shard_facts.h - what the manifest says about the model and the sources, from what the records say. */
#ifndef BPE_SHARD_SHARD_FACTS_H
#define BPE_SHARD_SHARD_FACTS_H

#include "base/sys/sha256.h"
#include "pretok/rules.h"
#include "shard/format/manifest.h"
#include "shard/store/token_store.h"

/* What bpe-shard, or a program that shards, is told. All borrowed. */
struct shard_pipeline_options {
    const char *dir;
    struct shard_plan plan;
    bool resume;
    uint64_t memory;     /* bytes for ids */
    const char *id;      /* the tokens must carry ids of this field; NULL: need not */
    const char *missing; /* a file for what is missing; NULL: none */
    const char *software;

    /* Called for each shard when it is there; and now and then when ids were moved at the end of a shuffle. May be
     * NULL. */
    int (*published)(void *ctx, const struct manifest_shard *s, struct err *e);
    void (*on_progress)(void *ctx);
    void *ctx;
};

/* Sets the facts, and what follows from them for the plan (-d auto), and checks that the format can hold such ids.
 * has_before: m is an earlier run's manifest, of which all must be the same. -1: EX_DATAERR: another model; EX_USAGE.
 */
int shard_facts_set(struct manifest *m, const struct token_store *store, const struct shard_pipeline_options *o,
                    bool has_before, struct err *e);

/* A hash of rules, as encoded, if a pattern's name, a normalizer and special tokens without flags do not say all of
 * them; else 0. */
uint64_t shard_facts_rules(const struct rules *r, struct str encoded);

/* Whether ids were made as the manifest says. -1 with EX_DATAERR if not; dir is for the message. */
int shard_facts_check_model(const struct manifest *m, const struct commit_encoding *x, const char *dir, struct err *e);

/* Whether the documents of a source have the names that bpe-chunk --id=FIELD gives them. -1 with EX_USAGE if not. */
int shard_facts_check_id(const struct token_store *store, uint64_t source, const char *field, struct err *e);

/* How all sources were read, now that all are known; and what they are: `bytes` of text. */
int shard_facts_reading(struct manifest *m, const struct token_store *store, struct err *e);
void shard_facts_sources(struct manifest *m, const struct token_store *store, uint64_t bytes);

/* A part of that: adds the name of a source to a digest of all. */
void shard_facts_add_name(struct sha256 *names, struct str name);

#endif
