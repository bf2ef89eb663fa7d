/* join_encoder.c - see join_encoder.h. */
#include "encode/join_encoder.h"

#include "base/sys/buf.h"

#include <string.h>

int join_encoder_init(struct join_encoder *j, const struct model *m, bool wide, struct err *e)
{
    const size_t first = m->n_merges - m->n_super;
    bool good;
    *j = (struct join_encoder){.words = *m};
    j->words.n_merges = first;
    j->words.n_super = 0;
    j->ids.wide = model_id_bytes(m) > sizeof(uint16_t);
    if (superwords_check(m, first, &good, e))
        return -1;
    if (!good)
        return err_set(e, EX_USAGE,
                       "the model has a superword that is also a token of words, or made in two ways: encoding with it "
                       "is not supported");
    return superwords_init(&j->second, m, first, j->ids.wide, wide, e);
}

void join_encoder_free(struct join_encoder *j)
{
    superwords_free(&j->second);
    ids_free(&j->ids);
    id_borders_free(&j->borders);
}

/* Adds a border for which there is room, unless there is one. */
static inline void put_border(struct join_encoder *j, size_t at)
{
    struct id_borders *b = &j->borders;
    b->at[b->n] = at;
    b->n += at > 0 && !(b->n && b->at[b->n - 1] == at);
}

static int more_borders(struct join_encoder *j, size_t more, struct err *e)
{
    struct id_borders *b = &j->borders;
    return b->n + more <= b->cap ? 0
                                 : array_grow(&b->at, &b->cap, b->n + more, sizeof *b->at, "the ends of pretokens", e);
}

/* The number of ids of a pretoken that was found; 0: not known. */
static inline size_t count_ids(const struct cached_encoder *words, size_t i, bool wide)
{
    uint64_t value = words->value[i];
    if (__builtin_expect(!value_is_list(value, wide), 1))
        return value_n(value, wide);
    if (value != VALUE_NONE && value_is_pending(value))
        value = words->new[value_index(value)].value;
    return !value_is_list(value, wide) ? value_n(value, wide)
           : value == VALUE_NONE       ? 0
                                       : ids_get(id_cache_list(&words->cache, value, wide), wide);
}

/* Puts a border at each end of the ids from `at` on, if they are several. */
static inline size_t enclose(struct join_encoder *j, size_t at, size_t n)
{
    for (size_t i = 0; n > 1 && i <= n; i++)
        put_border(j, at + i);
    return at + n;
}

/* Appends the ids of a pretoken that is not in the cache. */
static int put_uncached(struct join_encoder *j, struct cached_encoder *words, const unsigned char *text, size_t start,
                        const uint32_t *ends, size_t i, struct err *e)
{
    const size_t at = j->ids.n;
    if (cached_encoder_put(words, text, start, ends, i, 1, &j->ids, e) || more_borders(j, j->ids.n - at + 1, e))
        return -1;
    enclose(j, at, j->ids.n - at);
    return 0;
}

/* Appends the ids of the n pretokens that were found. */
static int put_found(struct join_encoder *j, struct cached_encoder *words, const unsigned char *text, size_t start,
                     const uint32_t *ends, size_t n, struct err *e)
{
    uint16_t n_ids[ENCODER_BATCH]; /* at most CACHE_LONGEST */
    for (size_t i = 0; i < n;) {
        size_t to = i, all = 0, at = j->ids.n;
        while (to < n && (n_ids[to] = (uint16_t)count_ids(words, to, j->ids.wide)))
            all += n_ids[to++];
        if (to > i &&
            (cached_encoder_put(words, text, start, ends, i, to - i, &j->ids, e) || more_borders(j, all + 1, e)))
            return -1;
        for (; i < to; i++)
            at = enclose(j, at, n_ids[i]);
        if (i < n && put_uncached(j, words, text, start, ends, i++, e))
            return -1;
    }
    return 0;
}

int join_encoder_pretokens(struct join_encoder *j, struct cached_encoder *words, const unsigned char *text,
                           size_t start, const uint32_t *ends, size_t n, struct ids *ids, struct id_borders *borders,
                           struct err *e)
{
    for (size_t found; n; start = ends[found - 1], ends += found, n -= found) {
        const size_t before = j->ids.n;
        if (cached_encoder_find(words, text, start, ends, n, &found, e) ||
            put_found(j, words, text, start, ends, found, e))
            return -1;
        j->n_words += j->ids.n - before;
        if (superwords_encode(&j->second, &j->ids, &j->borders, ids, borders, e))
            return -1;
    }
    return 0;
}

int join_encoder_end(struct join_encoder *j, struct ids *ids, struct id_borders *borders, struct err *e)
{
    if (more_borders(j, 1, e))
        return -1;
    put_border(j, j->ids.n);
    return superwords_encode(&j->second, &j->ids, &j->borders, ids, borders, e);
}
