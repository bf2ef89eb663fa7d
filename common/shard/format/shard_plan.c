/* shard_plan.c - see shard_plan.h. */
#include "shard/format/shard_plan.h"

#include "base/sys/bytes.h"
#include "base/sys/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Makes shard_plan_is_test independent of shard_plan_key. Like both hashes, it is part of the definition. */
#define TEST_SEED UINT64_C(0x9e3779b97f4a7c15)

enum { NAME_LEN_MAX = 200 /* bytes of --name: the rest of a file name has at most 45, and a file name at most 255 */ };

bool shard_plan_splits(const struct shard_plan *p)
{
    return p->test_shards || p->test_fraction > 0;
}

/* 64-bit XXH3 of the source's name, a NUL byte, and the offset as 8 bytes, little-endian. */
static uint64_t hash_place(const struct document *d, uint64_t seed)
{
    unsigned char tail[9] = {0};
    store_le(tail + 1, 8, d->offset);
    return hash_parts(d->source.p, d->source.len, tail, sizeof tail, seed);
}

uint64_t shard_plan_key(const struct shard_plan *p, const struct document *d)
{
    return hash_place(d, p->seed);
}

bool shard_plan_is_test(const struct shard_plan *p, const struct document *d)
{
    return p->test_fraction > 0 && hash_place(d, p->seed ^ TEST_SEED) < (uint64_t)ldexp(p->test_fraction, 64);
}

/* Whether a name contains a control character: of ASCII, or U+0080 to U+009F in UTF-8. */
static bool has_control(const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p < 0x20 || *p == 0x7F || (*p == 0xC2 && p[1] >= 0x80 && p[1] <= 0x9F))
            return true;
    }
    return false;
}

int shard_plan_check_name(const char *name, struct err *e)
{
    if (has_control(name))
        return err_set(e, EX_USAGE, "--name: must not contain control characters, such as a newline");
    if (!*name || strchr(name, '/') || name[0] == '.')
        return err_set(e, EX_USAGE,
                       "--name %s: must not be empty, contain /, or begin with ., as names of files begin with it",
                       name);
    if (strlen(name) > NAME_LEN_MAX)
        return err_set(e, EX_USAGE, "--name: has %zu bytes, but at most %d are possible", strlen(name), NAME_LEN_MAX);
    return 0;
}

int shard_plan_check_ids(const struct shard_plan *p, uint64_t vocabulary, struct err *e)
{
    static const char *const letters[] = {[DTYPE_U16] = "u16", [DTYPE_U32] = "u32", [DTYPE_I32] = "i32"};
    uint64_t limit = shard_dtype_limit(p->dtype);
    if (vocabulary > limit)
        return err_set(e, EX_USAGE,
                       "-d %s: ids of this model go up to %llu, but this type holds at most %llu; give -d auto",
                       letters[p->dtype], (unsigned long long)(vocabulary - 1), (unsigned long long)(limit - 1));
    if (p->dtype == p->format->lacks)
        return err_set(e, EX_USAGE, "-d %s: format %s stores ids as u16 or %s", letters[p->dtype], p->format->name,
                       letters[p->dtype == DTYPE_I32 ? DTYPE_U32 : DTYPE_I32]);
    return p->format->check ? p->format->check(p, e) : 0;
}

int shard_plan_check(const struct shard_plan *p, struct err *e)
{
    const struct shard_format *f = p->format;
    if (p->test_shards && p->test_fraction > 0)
        return err_set(e, EX_USAGE, "--test and --test-fraction cannot be combined");
    if (p->test_shards && !p->shard_tokens)
        return err_set(e, EX_USAGE, "--test takes the first shards, but -n 0 makes only one; use --test-fraction");
    if (p->last == LAST_PADDED && (f->whole || !p->shard_tokens))
        return err_set(e, EX_USAGE, "--pad-last: %s",
                       f->whole ? "shards of this format hold whole documents and have different sizes"
                                : "with -n 0 there is no size to fill");
    if (p->last == LAST_DROPPED && !p->shard_tokens)
        return err_set(e, EX_USAGE, "--drop-last: with -n 0 all would be dropped");
    if (p->shard_tokens > f->most_tokens)
        return err_set(e, EX_USAGE, "-n %llu: a shard of format %s holds at most %llu ids",
                       (unsigned long long)p->shard_tokens, f->name, (unsigned long long)f->most_tokens);
    if (p->name && shard_plan_check_name(p->name, e))
        return -1;
    struct shard_plan narrow = *p; /* the narrowest type, as the vocabulary is not known yet */
    narrow.dtype = p->dtype == DTYPE_AUTO ? f->dtype(1) : p->dtype;
    return shard_plan_check_ids(&narrow, 0, e);
}

const char *shard_plan_difference(const struct shard_plan *a, const struct shard_plan *b)
{
    bool seeded = a->shuffled || a->test_fraction > 0;
    return a->format != b->format                                               ? "-f"
           : a->dtype != b->dtype && a->dtype && b->dtype                       ? "-d"
           : a->shard_tokens != b->shard_tokens                                 ? "-n"
           : a->test_shards != b->test_shards                                   ? "--test"
           : fabs(a->test_fraction - b->test_fraction) > 0                      ? "--test-fraction"
           : a->shuffled != b->shuffled                                         ? "--shuffle"
           : seeded && a->seed != b->seed                                       ? "--seed"
           : a->last != b->last                                                 ? "--drop-last or --pad-last"
           : a->docs != b->docs                                                 ? "--docs"
           : a->sha256 != b->sha256                                             ? "--sha256"
           : !a->name != !b->name || (a->name && strcmp(a->name, b->name) != 0) ? "--name"
                                                                                : NULL;
}

unsigned shard_dtype_width(enum shard_dtype t)
{
    return t == DTYPE_U16 ? 2 : 4;
}

uint64_t shard_dtype_limit(enum shard_dtype t)
{
    return t == DTYPE_U16 ? UINT64_C(1) << 16 : t == DTYPE_I32 ? UINT64_C(1) << 31 : UINT64_C(1) << 32;
}

const char *shard_dtype_name(enum shard_dtype t)
{
    return t == DTYPE_U16 ? "uint16" : t == DTYPE_I32 ? "int32" : "uint32";
}

/* ---- Formats ---- */

enum shard_dtype shard_dtype_unsigned(uint64_t vocabulary)
{
    return vocabulary && vocabulary <= shard_dtype_limit(DTYPE_U16) ? DTYPE_U16 : DTYPE_U32;
}

void shard_usual_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    const struct shard_format *f = p->format;
    bool splits = f->always_split || shard_plan_splits(p);
    char digits[32] = "";
    if (p->shard_tokens)
        snprintf(digits, sizeof digits, "_%06llu", (unsigned long long)number);
    snprintf(to, n, "%s%s%s%s%s", p->name ? p->name : "tokens", splits ? "_" : "",
             !splits               ? ""
             : split == SPLIT_TEST ? f->test
                                   : "train",
             digits, f->suffix[i]);
}

void shard_file_name(char *to, size_t n, const struct shard_plan *p, unsigned split, uint64_t number, size_t i)
{
    const struct shard_format *f = p->format;
    bool docs = i == f->n_files;
    (f->file_name ? f->file_name : shard_usual_name)(to, n, p, split, number, docs ? 0 : i);
    char *dot = docs ? strrchr(to, '.') : NULL;
    if (dot)
        snprintf(dot, n - (size_t)(dot - to), ".csv.gz");
}
