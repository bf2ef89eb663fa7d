/* encoder.c - see encoder.h.
 *
 * The hot path is that of table.c: words of at most 11 bytes as numbers, a batch of them made, hashed and prefetched
 * before the first is looked up. tests/bench/README has the figures, and what lost.
 */
#include "encode/encoder.h"

#include "sys/hash.h"
#include "sys/huge.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SHIFT = 64 - 12,
    TINY_LAST = 64 - 19,  /* the largest tables: 8 MB, */
    SHORT_LAST = 64 - 18, /* 8 MB, */
    LONG_LAST = 64 - 15,  /* 0.8 MB, */
    LISTS_MAX = 4 << 20,  /* ids, 4 or 8 MB, */
    BYTES_MAX = 2 << 20,  /* bytes of long words */
    LONG_MAX = 1024,      /* bytes of a word that is remembered */
    LIST_COPY = 4,        /* ids copied at once */
    LIST_MOST = 31,       /* ids of a word for which a value has room to say how many; of more (0) says the list */
    LIST_AT = 26,         /* bits of a place in the lists */
};

#define LIST (1u << 31)      /* in a value: it is no id */
#define HUGE_WORD UINT32_MAX /* a value: of a word too long to be remembered */

/* ---- Ids ---- */

static size_t width(const struct ids *ids)
{
    return ids->wide ? sizeof(uint32_t) : sizeof(uint16_t);
}

int ids_reserve(struct ids *ids, size_t more, struct err *e)
{
    return array_grow(&ids->p, &ids->cap, ids->n + more, width(ids), "the ids", e);
}

static inline void set_id(struct ids *ids, bool wide, size_t i, uint32_t id)
{
    if (wide)
        ((uint32_t *)(void *)ids->p)[i] = id;
    else
        ((uint16_t *)(void *)ids->p)[i] = (uint16_t)id;
}

static inline uint32_t get_id(const unsigned char *p, bool wide)
{
    uint32_t id;
    uint16_t narrow;
    if (wide) {
        memcpy(&id, p, sizeof id);
        return id;
    }
    memcpy(&narrow, p, sizeof narrow);
    return narrow;
}

int ids_put(struct ids *ids, uint32_t id, struct err *e)
{
    if (ids_reserve(ids, 1, e))
        return -1;
    set_id(ids, ids->wide, ids->n++, id);
    return 0;
}

void ids_free(struct ids *ids)
{
    free(ids->p);
    *ids = (struct ids){0};
}

/* ---- What is remembered ---- */

/* Whether a batch of new words would make a table more than 5/8 full. */
static bool is_full(size_t n, unsigned shift)
{
    return n + TINY_BATCH >= table_slots(shift) / 8 * 5;
}

int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e)
{
    *en = (struct encoder){.tiny_shift = FIRST_SHIFT, .short_shift = FIRST_SHIFT, .long_shift = FIRST_SHIFT};
    en->lists.wide = wide;
    en->split = tiny_splitter();
    en->secret[0] = hash_bytes("first", 5, hash_secret());
    en->secret[1] = hash_bytes("second", 6, hash_secret()) | 1;
    en->secret[2] = hash_bytes("third", 5, hash_secret()) | 1;
    en->tiny = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *en->tiny);
    en->shorts = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *en->shorts);
    en->longs = huge_zeroed(table_slots(FIRST_SHIFT) * sizeof *en->longs);
    if (!en->tiny || !en->shorts || !en->longs) {
        encoder_free(en);
        return err_mem(e, "the table of words", table_slots(FIRST_SHIFT) * sizeof *en->shorts);
    }
    if (word_encoder_init(&en->word, model, e)) {
        encoder_free(en);
        return -1;
    }
    return 0;
}

void encoder_free(struct encoder *en)
{
    word_encoder_free(&en->word);
    huge_free(en->tiny, table_slots(en->tiny_shift ? en->tiny_shift : 1) * sizeof *en->tiny);
    huge_free(en->shorts, table_slots(en->short_shift ? en->short_shift : 1) * sizeof *en->shorts);
    huge_free(en->longs, table_slots(en->long_shift ? en->long_shift : 1) * sizeof *en->longs);
    ids_free(&en->lists);
    buf_free(&en->bytes);
    *en = (struct encoder){0};
}

static void forget_tiny(struct encoder *en)
{
    memset(en->tiny, 0, table_slots(en->tiny_shift) * sizeof *en->tiny);
    en->n_tiny = 0;
}

static void forget_shorts(struct encoder *en)
{
    memset(en->shorts, 0, table_slots(en->short_shift) * sizeof *en->shorts);
    en->n_short = 0;
}

static void forget_longs(struct encoder *en)
{
    memset(en->longs, 0, table_slots(en->long_shift) * sizeof *en->longs);
    en->n_long = en->bytes.len = 0;
}

static void find_spare(struct encoder *en)
{
    while (en->tiny[en->spare].tail)
        en->spare = table_next_slot(en->spare, en->tiny_shift);
}

/* Twice as many slots. */
#define GROW(kind, shift, used, hash)                                                                                  \
    do {                                                                                                               \
        size_t n = table_slots(en->shift);                                                                             \
        __typeof__(en->kind) old = en->kind, new = huge_zeroed(2 * n * sizeof *new);                                   \
        if (!new)                                                                                                      \
            return err_mem(e, "the table of words", 2 * n * sizeof *new);                                              \
        en->kind = new;                                                                                                \
        en->shift--;                                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const __typeof__(*old) *s = &old[i];                                                                       \
            if (!s->used)                                                                                              \
                continue;                                                                                              \
            size_t at = (size_t)((hash) >> en->shift);                                                                 \
            while (new[at].used)                                                                                       \
                at = table_next_slot(at, en->shift);                                                                   \
            new[at] = *s;                                                                                              \
        }                                                                                                              \
        huge_free(old, n * sizeof *old);                                                                               \
    } while (0)

/* Makes room for one more batch of words in each table. */
static int make_room(struct encoder *en, struct err *e)
{
    bool all = en->lists.n >= LISTS_MAX;
    bool tiny = is_full(en->n_tiny, en->tiny_shift), shorts = is_full(en->n_short, en->short_shift);
    bool longs = is_full(en->n_long, en->long_shift);
    if (all)
        en->lists.n = 0;
    if (all || (tiny && en->tiny_shift == TINY_LAST)) {
        forget_tiny(en);
    } else if (tiny) {
        GROW(tiny, tiny_shift, tail, tiny_hash(en->secret, s->head, s->tail));
        en->spare = 0;
        find_spare(en);
    }
    if (all || (shorts && en->short_shift == SHORT_LAST))
        forget_shorts(en);
    else if (shorts)
        GROW(shorts, short_shift, key[2], short_hash(en->secret, s->key));
    if (all || (longs && en->long_shift == LONG_LAST) || en->bytes.len >= BYTES_MAX)
        forget_longs(en);
    else if (longs)
        GROW(longs, long_shift, len, s->hash);
    return 0;
}

/* Encodes a word, and says what to remember of it. */
static int new_value(struct encoder *en, const unsigned char *p, size_t n, uint32_t *value, struct err *e)
{
    struct word_encoder *w = &en->word;
    if (word_encode(w, p, n, e))
        return -1;
    if (w->n == 1) {
        *value = w->id[0];
        return 0;
    }
    struct ids *lists = &en->lists;
    if (ids_reserve(lists, w->n + LIST_COPY + 2, e))
        return -1;
    size_t at = lists->n;
    bool is_short = w->n <= LIST_MOST;
    if (!is_short) { /* at most LONG_MAX */
        set_id(lists, lists->wide, lists->n++, (uint32_t)w->n);
    }
    for (size_t i = 0; i < w->n; i++)
        set_id(lists, lists->wide, lists->n++, w->id[i]);
    *value = LIST | (is_short ? (uint32_t)w->n : 0) << LIST_AT | (uint32_t)at;
    return 0;
}

/* A tiny word that is not in its first slot. */
static __attribute__((noinline)) int find_tiny(struct encoder *en, const unsigned char *p, size_t n, uint64_t head,
                                               uint32_t tail, size_t at, uint32_t *value, struct err *e)
{
    for (; en->tiny[at].tail; at = table_next_slot(at, en->tiny_shift)) {
        if (en->tiny[at].head == head && en->tiny[at].tail == tail) {
            *value = en->tiny[at].value;
            return 0;
        }
    }
    if (new_value(en, p, n, value, e))
        return -1;
    at = (size_t)(tiny_hash(en->secret, head, tail) >> en->tiny_shift);
    while (en->tiny[at].tail)
        at = table_next_slot(at, en->tiny_shift);
    en->tiny[at] = (struct encoder_tiny){head, tail, *value};
    en->n_tiny++;
    find_spare(en);
    return 0;
}

static int find_short(struct encoder *en, const unsigned char *p, size_t n, uint64_t hash, uint32_t *value,
                      struct err *e)
{
    struct short_key key = short_key(p, n);
    size_t at = (size_t)(hash >> en->short_shift);
    for (; en->shorts[at].key[2]; at = table_next_slot(at, en->short_shift)) {
        const struct encoder_short *s = &en->shorts[at];
        if (((s->key[0] ^ key.k[0]) | (s->key[1] ^ key.k[1]) | (s->key[2] ^ key.k[2])) == 0) {
            *value = (uint32_t)s->value;
            return 0;
        }
    }
    if (new_value(en, p, n, value, e))
        return -1;
    at = (size_t)(hash >> en->short_shift);
    while (en->shorts[at].key[2])
        at = table_next_slot(at, en->short_shift);
    en->shorts[at] = (struct encoder_short){{key.k[0], key.k[1], key.k[2]}, *value};
    en->n_short++;
    return 0;
}

static int find_long(struct encoder *en, const unsigned char *p, size_t n, uint64_t hash, uint32_t *value,
                     struct err *e)
{
    size_t at = (size_t)(hash >> en->long_shift);
    for (; en->longs[at].len; at = table_next_slot(at, en->long_shift)) {
        const struct encoder_long *s = &en->longs[at];
        if (s->hash == hash && s->len == n && memcmp(en->bytes.p + s->at, p, n) == 0) {
            *value = s->value;
            return 0;
        }
    }
    if (new_value(en, p, n, value, e) || buf_put(&en->bytes, p, n, e))
        return -1;
    at = (size_t)(hash >> en->long_shift);
    while (en->longs[at].len)
        at = table_next_slot(at, en->long_shift);
    en->longs[at] = (struct encoder_long){hash, (uint32_t)(en->bytes.len - n), (uint32_t)n, *value};
    en->n_long++;
    return 0;
}

/* ---- Encoding ---- */

static inline const unsigned char *list_at(const struct encoder *en, uint32_t value, bool wide)
{
    return en->lists.p + (value & ((1u << LIST_AT) - 1)) * (wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

/* For the ids of a word there is room for one a byte, and for LIST_COPY more. */
static inline void put_value(struct encoder *en, struct ids *ids, bool wide, uint32_t value)
{
    if (!(value & LIST)) {
        set_id(ids, wide, ids->n++, value);
        return;
    }
    size_t w = wide ? sizeof(uint32_t) : sizeof(uint16_t), n = (value & ~LIST) >> LIST_AT;
    const unsigned char *list = list_at(en, value, wide);
    if (__builtin_expect(n == 0, 0)) {
        n = get_id(list, wide);
        list += w;
    }
    unsigned char *to = ids->p + ids->n * w;
    for (size_t i = 0; i < n; i += LIST_COPY)
        memcpy(to + i * w, list + i * w, LIST_COPY * w);
    ids->n += n;
}

/* A word too long to be remembered. */
static int put_huge(struct encoder *en, struct ids *ids, const unsigned char *p, size_t n, struct err *e)
{
    if (word_encode(&en->word, p, n, e) || ids_reserve(ids, en->word.n, e))
        return -1;
    for (size_t i = 0; i < en->word.n; i++)
        set_id(ids, ids->wide, ids->n++, en->word.id[i]);
    return 0;
}

/* Bytes for which room is made, of words that may be remembered. */
static int reserve(struct ids *ids, const uint32_t *ends, size_t start, size_t n, struct err *e)
{
    size_t bytes = ends[n - 1] - start;
    if (bytes > TINY_BATCH * LONG_MAX)
        bytes = TINY_BATCH * LONG_MAX; /* the others make room for themselves */
    return ids_reserve(ids, bytes + LIST_COPY, e);
}

/* The hashes of the words that are not tiny; and asks for their slots. */
static void hash_others(const struct encoder *en, const struct tiny_split *s, const unsigned char *text, size_t start,
                        const uint32_t *ends, uint64_t *hash)
{
    for (size_t k = 0; k < (s->n + 63) / 64; k++) {
        for (uint64_t left = s->other[k]; left; left &= left - 1) {
            size_t i = 64 * k + (size_t)__builtin_ctzll(left), from = i ? ends[i - 1] : start, len = ends[i] - from;
            if (len <= SHORT_MAX) {
                hash[i] = short_hash(en->secret, short_key(text + from, len).k);
                __builtin_prefetch(&en->shorts[hash[i] >> en->short_shift]);
            } else if (len <= LONG_MAX) {
                hash[i] = hash_bytes(text + from, len, en->secret[0]);
                __builtin_prefetch(&en->longs[hash[i] >> en->long_shift]);
            }
        }
    }
}

static inline int encode_batch(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                               size_t n, struct ids *ids, bool wide, struct err *e)
{
    struct tiny_split s;
    uint64_t hash[TINY_BATCH];
    uint32_t value[TINY_BATCH];
    en->split(&s, text, start, ends, n, &(struct tiny_place){en->secret, en->tiny_shift, en->spare});
    const struct encoder_tiny *tiny = en->tiny;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&tiny[s.slot[i]]);
    hash_others(en, &s, text, start, ends, hash);
    for (size_t i = 0; i < n; i++) {
        const struct encoder_tiny *slot = &tiny[s.slot[i]];
        value[i] = slot->value;
        if (__builtin_expect(slot->head != s.head[i] || slot->tail != s.tail[i] || !s.tail[i], 0)) {
            size_t from = i ? ends[i - 1] : start, len = ends[i] - from;
            if (len > LONG_MAX) {
                value[i] = HUGE_WORD;
                continue;
            }
            if (s.tail[i]          ? find_tiny(en, text + from, len, s.head[i], s.tail[i], s.slot[i], &value[i], e)
                : len <= SHORT_MAX ? find_short(en, text + from, len, hash[i], &value[i], e)
                                   : find_long(en, text + from, len, hash[i], &value[i], e))
                return -1;
        }
        if (value[i] & LIST)
            __builtin_prefetch(list_at(en, value[i], wide));
    }
    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(value[i] == HUGE_WORD, 0)) {
            size_t from = i ? ends[i - 1] : start, left = n - i - 1;
            if (put_huge(en, ids, text + from, ends[i] - from, e) ||
                (left && reserve(ids, ends + i + 1, ends[i], left, e)))
                return -1;
            continue;
        }
        put_value(en, ids, wide, value[i]);
    }
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

int encoder_words(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  struct ids *ids, struct err *e)
{
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        some = n < TINY_BATCH ? n : TINY_BATCH;
        if (make_room(en, e) || reserve(ids, ends, start, some, e) ||
            (ids->wide ? encode_wide : encode_narrow)(en, text, start, ends, some, ids, e))
            return -1;
    }
    return 0;
}
