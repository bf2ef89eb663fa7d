/* train_super_options.c - the options of bpe train for superwords. */
#include "bpe/train.h"

#include "base/sys/num.h"

#include <stdio.h>
#include <string.h>

int train_super_read(const char *text, struct train_super *o, struct err *e)
{
    o->n = 0;
    o->lines = o->drop = o->runs = false;
    for (const char *p = text;; p++) {
        const size_t len = strcspn(p, ",");
        char word[32];
        uint64_t n;
        snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), p);
        if (strcmp(word, "lines") == 0) {
            o->lines = true;
        } else if (strcmp(word, "drop") == 0) {
            o->drop = true;
        } else if (strcmp(word, "runs") == 0) {
            o->runs = true;
        } else {
            if (*word < '0' || *word > '9')
                return err_set(e, EX_USAGE, "--super=%s: '%s' is neither a vocabulary size, nor lines, drop or runs",
                               text, word);
            if (num_count(word, &n, "--super", e))
                return -1;
            if (o->n == TRAIN_SUPER_MAX)
                return err_set(e, EX_USAGE, "--super=%s: more than %d sizes", text, TRAIN_SUPER_MAX);
            o->at[o->n++] = n;
        }
        p += len;
        if (!*p)
            break;
    }
    return o->n ? 0 : err_set(e, EX_USAGE, "--super=%s: missing the vocabulary size after the first stage", text);
}

/* Checks the options with superwords that join whole pretokens. */
static int check_joins(const struct train_super *o, const struct merge_options *m, struct err *e)
{
    if (o->boundless && m->stats)
        return err_set(e, EX_USAGE, "--stats: with --boundless, it would count words that superwords replace");
    if (o->lines || o->drop)
        return err_set(e, EX_USAGE, "--super: runs cannot be combined with %s", o->lines ? "lines" : "drop");
    if (!m->format->has_superwords)
        return err_set(e, EX_USAGE,
                       "-f %s cannot express that superwords join only whole pretokens, so it would also join parts of "
                       "words: use -f boundless",
                       m->format->name);
    return 0;
}

/* Checks the options with superwords of SuperBPE. */
static int check_words(const struct merge_options *m, struct err *e)
{
    return m->format->has_superwords
               ? err_set(e, EX_USAGE, "-f %s: for superwords of whole pretokens, give --super=T,runs or --boundless",
                         m->format->name)
               : 0;
}

int train_super_check(struct train *t, struct err *e)
{
    const struct merge_options *m = &t->merge;
    struct train_super *o = &t->super;
    if (o->n && t->boundless)
        return err_set(e, EX_USAGE, "--super and --boundless cannot be combined");
    if (t->boundless) {
        o->boundless = true;
        o->at[o->n++] = m->size[0].n;
    }
    if (train_super_joins(o) ? check_joins(o, m, e) : check_words(m, e))
        return -1;
    const char *limit = m->max_token_len     ? "max-token-length"
                        : m->utf8_boundaries ? "utf8-boundaries"
                        : m->veto.n          ? "veto"
                                             : NULL;
    if (limit)
        return err_set(e, EX_USAGE, "--%s: superwords cannot be limited in that way; leave it out", limit);
    if (m->stats && o->n > 1)
        return err_set(e, EX_USAGE, "--stats: give one size with --super");
    if (t->sum.missing || t->sum.partial)
        return err_set(e, EX_USAGE, "--super needs complete counts; leave out %s",
                       t->sum.missing ? "--missing" : "--partial");
    for (size_t i = 0; i < o->n; i++) {
        if (o->at[i] < 256)
            return err_set(e, EX_USAGE, "--super=%llu: must be at least 256 (the bytes; more with special tokens)",
                           (unsigned long long)o->at[i]);
        if (o->at[i] >= m->size[0].n && !o->boundless)
            return err_set(e, EX_USAGE, "--super=%llu: must be less than -v %llu", (unsigned long long)o->at[i],
                           (unsigned long long)m->size[0].n);
        for (size_t k = 0; k < i; k++)
            if (o->at[k] == o->at[i])
                return err_set(e, EX_USAGE, "--super: %llu is given twice", (unsigned long long)o->at[i]);
    }
    if (o->n > 1 && (!m->path || !strstr(m->path, "%t")))
        return err_set(e, EX_USAGE,
                       "--super: several models need several names; put %%t, the size of the first stage, into that of "
                       "-o");
    return 0;
}
