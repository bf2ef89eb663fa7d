/* encoder.c - see encoder.h.
 *
 * A batch of pretokens is encoded in rounds: pack the short ones into keys and prefetch their cache slots; look up all
 * values and prefetch their lists; write all ids. So the memory that a pretoken needs is loaded while others are
 * processed. tests/bench/README has the figures, and what was tried and did not help.
 */
#include "encode/encoder.h"

#include "sys/hash.h"

#include <string.h>

int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e)
{
    *en = (struct encoder){.pack_keys = pack_keys_best()};
    if (id_cache_init(&en->cache, wide, e) || pretoken_encoder_init(&en->pretoken, model, e)) {
        encoder_free(en);
        return -1;
    }
    return 0;
}

void encoder_free(struct encoder *en)
{
    pretoken_encoder_free(&en->pretoken);
    id_cache_free(&en->cache);
    *en = (struct encoder){0};
}

/* ---- Looking up values ---- */

/* Encodes a pretoken that is not in the cache, and makes its value for the cache. */
static int new_value(struct encoder *en, const unsigned char *p, size_t n, uint64_t *value, struct err *e)
{
    struct pretoken_encoder *w = &en->pretoken;
    return pretoken_encode(w, p, n, e) || id_cache_make_value(&en->cache, w->out.id, w->out.n, value, e) ? -1 : 0;
}

/* Each finds the value of a pretoken, or adds it to the cache. */

static int find12(struct encoder *en, const unsigned char *p, size_t n, uint64_t head, uint32_t tail, size_t line,
                  uint64_t *value, struct err *e)
{
    if (id_cache_get12(&en->cache, head, tail, line, value))
        return 0;
    if (new_value(en, p, n, value, e))
        return -1;
    id_cache_put12(&en->cache, head, tail, line, *value);
    return 0;
}

static int find24(struct encoder *en, const unsigned char *p, size_t n, uint64_t hash, uint64_t *value, struct err *e)
{
    struct key24 key = key24_of(p, n);
    if (id_cache_get24(&en->cache, &key, hash, value))
        return 0;
    if (new_value(en, p, n, value, e))
        return -1;
    id_cache_put24(&en->cache, &key, hash, *value);
    return 0;
}

static int find_long(struct encoder *en, const unsigned char *p, size_t n, uint64_t hash, uint64_t *value,
                     struct err *e)
{
    if (id_cache_get_long(&en->cache, p, n, hash, value))
        return 0;
    return new_value(en, p, n, value, e) || id_cache_put_long(&en->cache, p, n, hash, *value, e) ? -1 : 0;
}

/* Hashes the pretokens of more than 11 bytes and prefetches their slots. */
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
                __builtin_prefetch(&c->slots_long[table_slot(hash[i], c->shift_long)]);
            }
        }
    }
}

/* ---- Writing ids ---- */

/* Makes room for the ids of n pretokens, if they are in the cache: at most one id for each byte, and a value more. */
static int reserve(struct ids *ids, const uint32_t *ends, size_t start, size_t n, struct err *e)
{
    size_t bytes = ends[n - 1] - start;
    if (bytes > KEY_BATCH * CACHE_LONGEST)
        bytes = KEY_BATCH * CACHE_LONGEST;
    return ids_reserve(ids, bytes + VALUE_BYTES, e);
}

/* Writes the ids of a list; there must be room for them. Returns how many. */
static __attribute__((noinline)) size_t put_list(const struct id_cache *c, unsigned char *to, bool wide, uint64_t value)
{
    const unsigned char *list = id_cache_list(c, value, wide);
    size_t n = ids_get(list, wide);
    memcpy(to, list + ids_width(wide), n * ids_width(wide));
    return n;
}

/* Encodes a pretoken too long for the cache, and writes its ids. */
static int put_uncached(struct encoder *en, struct ids *ids, const unsigned char *p, size_t n, struct err *e)
{
    struct pretoken_encoder *w = &en->pretoken;
    if (pretoken_encode(w, p, n, e) || ids_reserve(ids, w->out.n, e))
        return -1;
    for (size_t i = 0; i < w->out.n; i++)
        ids_set(ids, ids->wide, ids->n++, w->out.id[i]);
    return 0;
}

/* ---- Batches ---- */

/* Puts the values of a batch into value[]. First all pretokens are compared with the first of their lines, where most
 * of them are, without a branch; then those that are not there are looked for, or encoded. */
static int find_values(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                       uint64_t *value, struct err *e)
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
        if (len > CACHE_LONGEST) {
            value[i] = VALUE_NONE;
            continue;
        }
        if (b.tail[i]          ? find12(en, text + from, len, b.head[i], b.tail[i], b.slot[i], &value[i], e)
            : len <= KEY24_MAX ? find24(en, text + from, len, hash[i], &value[i], e)
                               : find_long(en, text + from, len, hash[i], &value[i], e))
            return -1;
    }
    return 0;
}

static inline __attribute__((always_inline)) int encode_batch(struct encoder *en, const unsigned char *text,
                                                              size_t start, const uint32_t *ends, size_t n,
                                                              struct ids *ids, bool wide, struct err *e)
{
    uint64_t value[KEY_BATCH];
    size_t width = ids_width(wide), n_ids = ids->n;
    if (find_values(en, text, start, ends, n, value, e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(!value_is_list(value[i], wide), 1)) {
            memcpy(ids->p + n_ids * width, &value[i], VALUE_BYTES);
            n_ids += value_n(value[i], wide);
        } else if (value[i] != VALUE_NONE) {
            n_ids += put_list(&en->cache, ids->p + n_ids * width, wide, value[i]);
        } else {
            size_t from = i ? ends[i - 1] : start, left = n - i - 1;
            ids->n = n_ids;
            if (put_uncached(en, ids, text + from, ends[i] - from, e) ||
                (left && reserve(ids, ends + i + 1, ends[i], left, e)))
                return -1;
            n_ids = ids->n;
        }
    }
    ids->n = n_ids;
    return 0;
}

static int encode_narrow(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                         struct ids *ids, struct err *e)
{
    return encode_batch(en, text, start, ends, n, ids, false, e);
}

static int encode_wide(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                       struct ids *ids, struct err *e)
{
    return encode_batch(en, text, start, ends, n, ids, true, e);
}

int encoder_pretokens(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct ids *ids, struct err *e)
{
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        some = n < KEY_BATCH ? n : KEY_BATCH;
        if (id_cache_make_room(&en->cache, e) || reserve(ids, ends, start, some, e) ||
            (ids->wide ? encode_wide : encode_narrow)(en, text, start, ends, some, ids, e))
            return -1;
    }
    return 0;
}
