/* cached_encoder.c - see cached_encoder.h.
 *
 * Many keys are encoded together, in three rounds: their values are looked up in the cache; those that are not found
 * are encoded, and their values put into the cache; all ids are written. Lookup works in batches, also in rounds: short
 * keys are packed and their cache lines prefetched; all are compared with the first key of their lines, without a
 * branch; the others are then searched for. So the memory that a key needs is loaded while others are processed, and
 * new keys are encoded in groups. tests/bench/README has the figures, and lists what did not help.
 */
#include "encode/cached_encoder.h"

#include "base/sys/hash.h"

#include <string.h>

int cached_encoder_init(struct cached_encoder *en, const struct key_coder *coder, bool wide, struct err *e)
{
    en->coder = *coder;
    en->new_ids = (struct id_list){0};
    en->pack_keys = pack_keys_best();
    return id_cache_init(&en->cache, wide, e);
}

void cached_encoder_free(struct cached_encoder *en)
{
    id_cache_free(&en->cache);
    id_list_free(&en->new_ids);
}

/* ---- Lookup of values ---- */

/* Records a new key; returns its temporary value. */
static uint64_t note_new(struct cached_encoder *en, const unsigned char *p, size_t n, uint64_t where)
{
    en->word[en->n_new] = (struct word){.p = p, .n = (uint32_t)n};
    en->new[en->n_new].where = where;
    return value_pending(en->n_new++);
}

/* Each finds the value of a key or adds the key to the cache. */

static uint64_t find12(struct cached_encoder *en, const unsigned char *p, size_t n, uint64_t head, uint32_t tail,
                       size_t line)
{
    uint64_t value;
    if (!id_cache_get12(&en->cache, head, tail, line, &value))
        id_cache_put12(&en->cache, head, tail, line, value = note_new(en, p, n, line));
    return value;
}

static uint64_t find24(struct cached_encoder *en, const unsigned char *p, size_t n, uint64_t hash)
{
    uint64_t value;
    struct key24 key = key24_of(p, n);
    if (!id_cache_get24(&en->cache, &key, hash, &value))
        id_cache_put24(&en->cache, &key, hash, value = note_new(en, p, n, hash));
    return value;
}

static int find_long(struct cached_encoder *en, const unsigned char *p, size_t n, uint64_t hash, uint64_t *value,
                     struct err *e)
{
    if (id_cache_get_long(&en->cache, p, n, hash, value))
        return 0;
    *value = note_new(en, p, n, hash);
    return id_cache_put_long(&en->cache, p, n, hash, *value, e);
}

/* Hashes the keys of more than 11 bytes and prefetches their slots. */
static void hash_longer(const struct id_cache *c, const struct key_batch *b, const unsigned char *text, size_t start,
                        const uint32_t *ends, uint64_t *hash)
{
    for (size_t k = 0; k < (b->n + 63) / 64; k++) {
        for (uint64_t left = b->longer[k]; left; left &= left - 1) {
            size_t i = 64 * k + (size_t)__builtin_ctzll(left), from = i ? ends[i - 1] : start, len = ends[i] - from;
            if (len <= KEY24_MAX) {
                hash[i] = key24_hash(c->secret, key24_of(text + from, len).k);
                const struct id_set *set = &c->sets24[table_slot(hash[i], c->shift24)];
                __builtin_prefetch(&set->slot[0]);
                __builtin_prefetch(&set->slot[SET_WAYS / 2]);
            } else if (len <= CACHE_LONGEST) {
                hash[i] = hash_bytes(text + from, len, c->secret[0]);
                __builtin_prefetch(&c->hash_index_long[table_slot(hash[i], c->shift_long)]);
            }
        }
    }
}

/* Sets value[] to the values of a batch. */
static int find_values(struct cached_encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                       size_t n, uint64_t *value, struct err *e)
{
    struct key_batch b;
    uint64_t hash[KEY_BATCH];
    uint16_t missed[KEY_BATCH];
    size_t n_missed = 0;
    const struct id_cache *c = &en->cache;
    const struct id_line *lines = c->lines12;
    en->pack_keys(&b, text, start, ends, n, &(struct key12_slots){c->secret, c->shift12, 0});
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&lines[b.slot[i]]);
    hash_longer(c, &b, text, start, ends, hash);
    for (size_t i = 0; i < n; i++) {
        const struct id_line *line = &lines[b.slot[i]];
        value[i] = line->value[0];
        missed[n_missed] = (uint16_t)i;
        n_missed += (line->head[0] != b.head[i]) | (line->tail[0] != b.tail[i]) | !b.tail[i];
    }
    for (size_t k = 0; k < n_missed; k++) {
        size_t i = missed[k], from = i ? ends[i - 1] : start, len = ends[i] - from;
        if (b.tail[i])
            value[i] = find12(en, text + from, len, b.head[i], b.tail[i], b.slot[i]);
        else if (len <= KEY24_MAX)
            value[i] = find24(en, text + from, len, hash[i]);
        else if (len > CACHE_LONGEST)
            value[i] = VALUE_NONE;
        else if (find_long(en, text + from, len, hash[i], &value[i], e))
            return -1;
    }
    return 0;
}

/* ---- New keys ---- */

/* Replaces the temporary value of a key in the cache, if it is still there. */
static void settle(struct id_cache *c, const struct word *word, const struct new_key *new)
{
    if (word->n <= KEY12_MAX) {
        struct key12 key = key12_of(word->p, word->n);
        id_cache_set12(c, key.head, key.tail, new->where, new->value);
    } else if (word->n <= KEY24_MAX) {
        struct key24 key = key24_of(word->p, word->n);
        id_cache_set24(c, &key, new->where, new->value);
    } else {
        id_cache_set_long(c, word->p, word->n, new->where, new->value);
    }
}

/* Encodes the new keys. */
static int encode_new(struct cached_encoder *en, struct err *e)
{
    struct id_list *ids = &en->new_ids;
    size_t n_bytes = 0, at = 0;
    for (size_t i = 0; i < en->n_new; i++)
        n_bytes += en->word[i].n;
    if (id_list_reserve(ids, n_bytes, e))
        return -1;
    for (size_t i = 0; i < en->n_new; at += en->word[i++].n)
        en->word[i].id = ids->id + at;
    if (en->coder.some(en->coder.ctx, en->word, en->n_new, e))
        return -1;
    for (size_t i = 0; i < en->n_new; i++) {
        const struct word *word = &en->word[i];
        if (id_cache_make_value(&en->cache, word->n, word->id, word->n_ids, &en->new[i].value, e))
            return -1;
        settle(&en->cache, word, &en->new[i]);
    }
    return 0;
}

/* ---- Writing ids ---- */

/* Reserves memory for the ids of n keys of so many bytes that are in the cache: at most one id for each byte, and one
 * more value. */
static int reserve(struct ids *ids, size_t bytes, size_t n, struct err *e)
{
    return ids_reserve(ids, (bytes > n * CACHE_LONGEST ? n * CACHE_LONGEST : bytes) + VALUE_BYTES, e);
}

/* Writes the ids of a list, for which memory must be reserved. Returns how many. */
static size_t put_list(const struct id_cache *c, unsigned char *to, bool wide, uint64_t value)
{
    const unsigned char *list = id_cache_list(c, value, wide);
    size_t n = ids_get(list, wide);
    memcpy(to, list + ids_width(wide), n * ids_width(wide));
    return n;
}

/* Encodes a key too long for the cache, and writes its ids. */
static int put_uncached(struct cached_encoder *en, struct ids *ids, const unsigned char *p, size_t n, struct err *e)
{
    const struct id_list *list;
    if (en->coder.one(en->coder.ctx, p, n, &list, e) || ids_reserve(ids, list->n, e))
        return -1;
    for (size_t i = 0; i < list->n; i++)
        ids_set(ids, ids->wide, ids->n++, list->id[i]);
    return 0;
}

size_t cached_encoder_write_list(const struct cached_encoder *en, unsigned char *to, bool wide, uint64_t value)
{
    if (value_is_pending(value))
        value = en->new[value_index(value)].value;
    if (value_is_list(value, wide))
        return put_list(&en->cache, to, wide, value);
    memcpy(to, &value, VALUE_BYTES);
    return value_n(value, wide);
}

static inline __attribute__((always_inline)) int put_values(struct cached_encoder *en, const uint64_t *values,
                                                            const unsigned char *text, size_t start,
                                                            const uint32_t *ends, size_t n, struct ids *ids, bool wide,
                                                            struct err *e)
{
    size_t width = ids_width(wide), n_ids = ids->n;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = values[i];
        if (__builtin_expect(value == VALUE_NONE, 0)) {
            size_t from = i ? ends[i - 1] : start, left = n - i - 1;
            ids->n = n_ids;
            if (put_uncached(en, ids, text + from, ends[i] - from, e) ||
                (left && reserve(ids, ends[n - 1] - ends[i], left, e)))
                return -1;
            n_ids = ids->n;
            continue;
        }
        n_ids += cached_encoder_write(en, ids->p + n_ids * width, wide, value);
    }
    ids->n = n_ids;
    return 0;
}

int cached_encoder_find(struct cached_encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                        size_t n, size_t *found, struct err *e)
{
    size_t some = 0;
    en->n_new = 0;
    if (id_cache_make_room(&en->cache, NEW_MAX, e))
        return -1;
    while (some < n && some < ENCODER_BATCH && en->n_new < NEW_ENOUGH) {
        size_t batch = n - some < KEY_BATCH ? n - some : KEY_BATCH;
        if (find_values(en, text, some ? ends[some - 1] : start, ends + some, batch, en->value + some, e))
            return -1;
        some += batch;
    }
    *found = some;
    return encode_new(en, e);
}

int cached_encoder_put(struct cached_encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                       size_t from, size_t n, struct ids *ids, struct err *e)
{
    if (from)
        start = ends[from - 1];
    ends += from;
    return reserve(ids, ends[n - 1] - start, n, e) ||
                   (ids->wide ? put_values(en, en->value + from, text, start, ends, n, ids, true, e)
                              : put_values(en, en->value + from, text, start, ends, n, ids, false, e))
               ? -1
               : 0;
}
