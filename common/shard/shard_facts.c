/* shard_facts.c - see shard_facts.h. */
#include "shard/shard_facts.h"

#include "base/sys/hash.h"
#include "base/sys/sha256.h"
#include "shard/format/formats.h"
#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

uint64_t shard_facts_rules(const struct rules *r, struct str encoded)
{
    bool more = r->n_regex || r->prefix.len || r->metaspace.on;
    for (size_t i = 0; i < r->n_special; i++)
        more = more || r->special[i].flags;
    return more ? hash_bytes(encoded.p, encoded.len, 0) : 0;
}

static int set_rules(struct manifest *m, struct str encoded, struct err *e)
{
    struct rules r = {0};
    int rc = rules_get(&r, encoded, e);
    m->normalizer = r.normalizer;
    m->rules = rc == 0 ? shard_facts_rules(&r, encoded) : 0;
    m->special = rc == 0 ? calloc(r.n_special + 1, sizeof *m->special) : NULL;
    if (rc == 0 && !m->special)
        rc = err_mem(e, "the special tokens", r.n_special * sizeof *m->special);
    for (size_t i = 0; i < r.n_special && rc == 0; i++)
        rc = manifest_set_text(&m->special[m->n_special++], r.special[i].text, e);
    rules_free(&r);
    return rc;
}

int shard_facts_reading(struct manifest *m, const struct token_store *store, struct err *e)
{
    struct source_facts x;
    m->reading.len = 0;
    for (uint64_t i = 0; token_store_source(store, i, &x); i++) {
        if (i && !str_equal(buf_str(&m->reading), x.reading)) {
            m->reading.len = 0;
            return 0;
        }
        if (i == 0 && buf_put(&m->reading, x.reading.p, x.reading.len, e))
            return -1;
    }
    return 0;
}

void shard_facts_add_name(struct sha256 *names, struct str name)
{
    sha256_add(names, name.p, name.len);
    sha256_add(names, "", 1);
}

void shard_facts_sources(struct manifest *m, const struct token_store *store, uint64_t bytes)
{
    struct manifest_sources *to = &m->sources;
    struct source_facts x;
    struct sha256 names;
    sha256_begin(&names);
    for (to->n = 0; token_store_source(store, to->n, &x); to->n++)
        shard_facts_add_name(&names, x.name);
    sha256_end(&names, to->names);
    to->bytes = bytes;
    to->known = true;
}

int shard_facts_check_id(const struct token_store *store, uint64_t source, const char *field, struct err *e)
{
    struct source_facts x;
    struct reading r;
    if (!token_store_source(store, source, &x))
        return 0;
    if (reading_get(&r, x.reading, e))
        return -1;
    if (r.id.len && str_equal(r.id, str_of(field)))
        return 0;
    return err_set(e, EX_USAGE,
                   "--id=%s: the ids of %.*s do not have this field; give --id=%s to bpe-chunk (JSON Lines only)",
                   field, (int)x.name.len, (const char *)x.name.p, field);
}

int shard_facts_check_model(const struct manifest *m, const struct commit_encoding *x, const char *dir, struct err *e)
{
    const char *differs = m->eot != x->eot                  ? "--eot"
                          : m->separator != x->separator    ? "the token that separates documents"
                          : m->special_policy != x->special ? "--special"
                                                            : NULL;
    if (m->model == x->model && differs)
        return err_set(e, EX_DATAERR,
                       "%s: was begun with ids that were made with another value of %s; give another directory", dir,
                       differs);
    if (m->model == x->model)
        return 0;
    return err_set(e, EX_DATAERR,
                   "%s: was begun with ids of model %016llx, but these are of %016llx; give another directory", dir,
                   (unsigned long long)m->model, (unsigned long long)x->model);
}

int shard_facts_set(struct manifest *m, const struct token_store *store, const struct shard_pipeline_options *o,
                    bool has_before, struct err *e)
{
    static const struct commit_encoding none;
    const struct commit_encoding *x = token_store_encoding(store);
    struct shard_plan *p = &m->plan;
    if (has_before)
        return x ? shard_facts_check_model(m, x, o->dir, e) : 0; /* the manifest is older than all journal entries */
    x = x ? x : &none;
    m->model = x->model;
    m->vocabulary = x->n_ids;
    m->eot = x->eot;
    m->separator = x->separator;
    m->special_policy = x->special;
    if (p->dtype == DTYPE_AUTO)
        p->dtype = p->format->dtype(m->vocabulary);
    if (shard_plan_check_ids(p, m->vocabulary, e) || manifest_set_text(&m->pattern, x->pattern, e) ||
        manifest_set_text(&m->software, str_of(o->software), e) ||
        (o->plan.name && manifest_set_text(&m->name, str_of(o->plan.name), e)))
        return -1;
    p->name = m->name;
    struct str rules = token_store_rules(store);
    if ((rules.len && set_rules(m, rules, e)) || shard_facts_reading(m, store, e))
        return -1;
    return 0;
}
