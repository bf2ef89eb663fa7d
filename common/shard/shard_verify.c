/* shard_verify.c - see shard_verify.h. */
#include "shard/shard_verify.h"

#include "pretok/rules.h"
#include "shard/shard_facts.h"
#include "wire/payload.h"

#include <string.h>

static int other(const struct shard_verify *a, const char *what, struct err *e)
{
    return err_set(e, EX_DATAERR, "%s: was made with %s; give another directory", a->dir, what);
}

static int put(void *ctx, void **state, const struct record *rec, struct err *e)
{
    const struct shard_verify *a = ctx;
    struct commit_encoding how = {.eot = a->m->eot, .separator = a->m->separator, .special = a->m->special_policy};
    struct tokens t;
    (void)state;
    if (rec->type != RECORD_TOKENS)
        return err_set(e, EX_DATAERR, "these are counts, from bpe-count or bpe-sum, not ids from bpe-encode");
    if (tokens_get(&t, rec, e))
        return -1;
    how.model = t.model;
    return a->m->model ? shard_facts_check_model(a->m, &how, a->dir, e) : 0;
}

static int check_rules(const struct shard_verify *a, struct str encoded, struct err *e)
{
    struct rules r = {0};
    if (rules_get(&r, encoded, e))
        return -1;
    const uint64_t rules = shard_facts_rules(&r, encoded);
    bool known = a->m->rules || (a->m->pattern && *a->m->pattern), alike = !known || rules == a->m->rules;
    bool normalized = r.normalizer == a->m->normalizer, same = r.n_special == a->m->n_special;
    for (size_t i = 0; same && i < r.n_special; i++)
        same = str_equal(r.special[i].text, str_of(a->m->special[i]));
    rules_free(&r);
    return !normalized ? other(a, "another normalizer", e)
           : !same     ? other(a, "other special tokens", e)
           : !alike    ? other(a, "other rules for splitting text", e)
                       : 0;
}

static int check_encoding(const struct shard_verify *a, struct str encoded, struct err *e)
{
    struct commit_encoding how;
    if (!encoded.len)
        return 0;
    if (commit_encoding_get(&how, encoded, e) || shard_facts_check_model(a->m, &how, a->dir, e))
        return -1;
    return str_equal(how.pattern, str_of(a->m->pattern ? a->m->pattern : "")) ? 0 : other(a, "another pattern", e);
}

/* Describes how sources were read, for a message. */
static int put_reading(struct buf *to, struct str encoded, struct err *e)
{
    struct reading how;
    if (reading_get(&how, encoded, e) || reading_put_words(to, &how, e))
        return -1;
    return 0;
}

static int check_reading(const struct shard_verify *a, struct str encoded, struct err *e)
{
    struct buf was = {0}, is = {0};
    struct str known = buf_str(&a->m->reading);
    if (known.len == 0 || str_equal(known, encoded))
        return 0;
    if (put_reading(&was, known, e) == 0 && put_reading(&is, encoded, e) == 0)
        err_set(e, EX_DATAERR, "%s: its text was read as %.*s, but this as %.*s; give another directory", a->dir,
                (int)was.len, (const char *)was.p, (int)is.len, (const char *)is.p);
    buf_free(&was);
    buf_free(&is);
    return -1;
}

static int consume(void *ctx, void *state, const struct commit *k, struct err *e)
{
    const struct shard_verify *a = ctx;
    struct cursor c = cursor_over(k->sources.p, k->sources.len);
    (void)state;
    if (k->kind != RECORD_TOKENS || !a->m->model)
        return 0;
    if (check_encoding(a, k->encoding, e) || check_rules(a, k->rules, e))
        return -1;
    while (cursor_left(&c)) {
        struct source_facts x;
        if (commit_source_get(&x, &c, e) || check_reading(a, x.reading, e))
            return -1;
    }
    return 0;
}

static void drop(void *ctx, void *state)
{
    (void)ctx;
    (void)state;
}

/* Nothing counts as covered, so that every batch is checked; a batch is dropped when it ends. */
static bool covered(void *ctx, const struct record *rec)
{
    (void)ctx;
    (void)rec;
    return false;
}

static bool any_covered(void *ctx, const void *state)
{
    (void)ctx;
    (void)state;
    return false;
}

static const struct ledger_content content = {
    .put = put, .consume = consume, .drop = drop, .covered = covered, .any_covered = any_covered};

void shard_verify_init(struct shard_verify *a, const struct manifest *m, const char *dir)
{
    *a = (struct shard_verify){.m = m, .dir = dir};
    ledger_init(&a->ledger, &content, a);
}

void shard_verify_free(struct shard_verify *a)
{
    ledger_free(&a->ledger);
}

int shard_verify_put(struct shard_verify *a, const struct record *rec, const char *stream, struct err *e)
{
    switch (rec->type) {
    case RECORD_TOKENS:
    case RECORD_COMMIT:
    case RECORD_PROMISE:
    case RECORD_WORDS:
        return ledger_put(&a->ledger, rec, stream, e);
    default:
        return 0; /* a failure loses nothing: the directory is complete */
    }
}

int shard_verify_finish(struct shard_verify *a, struct err *e)
{
    const struct coverage *c = &a->ledger.coverage;
    const struct manifest_sources *was = &a->m->sources;
    const unsigned char *run = coverage_only_run(c);
    struct manifest_sources is = {0};
    struct source_facts x;
    struct sha256 names;
    bool sized = true;
    if (!was->known || !run || coverage_state(c) == COVERAGE_UNPROMISED)
        return 0;
    sha256_begin(&names);
    for (; coverage_source(c, run, is.n, &x); is.n++) {
        if (check_reading(a, x.reading, e))
            return -1;
        shard_facts_add_name(&names, x.name);
        is.bytes += x.size;
        sized &= x.access != ACCESS_COMPRESSED; /* the size of its text is unknown */
    }
    sha256_end(&names, is.names);
    if (is.n != was->n || strcmp(is.names, was->names) != 0)
        return err_set(e, EX_DATAERR, "%s: was made from other sources (%llu; now %llu); give another directory",
                       a->dir, (unsigned long long)was->n, (unsigned long long)is.n);
    if (sized && is.bytes != was->bytes)
        return err_set(e, EX_DATAERR,
                       "%s: was made from %llu bytes of text, but these sources have %llu: they changed; give another "
                       "directory",
                       a->dir, (unsigned long long)was->bytes, (unsigned long long)is.bytes);
    return 0;
}
