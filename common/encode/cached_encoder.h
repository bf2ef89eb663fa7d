/* cached_encoder.h - encodes keys to ids, with a cache: most keys of a text have occurred before, and most have few
 * ids. The keys are pretokens, pieces of pretokens (encoder.h), or runs of ids (superwords.h).
 */
#ifndef BPE_ENCODE_CACHED_ENCODER_H
#define BPE_ENCODE_CACHED_ENCODER_H

#include "base/sys/err.h"
#include "encode/encode_vector.h"
#include "encode/id_cache.h"
#include "encode/ids.h"
#include "pretok/packed_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ENCODER_BATCH = 2048, /* keys whose ids are written together */
    NEW_ENOUGH = 256,     /* new keys that are encoded together; up to one batch of keys more */
    NEW_MAX = NEW_ENOUGH + KEY_BATCH,
};

/* How keys are encoded that are not in the cache. Both return -1 if out of memory. */
struct key_coder {
    int (*some)(void *ctx, struct word *word, size_t n, struct err *e); /* n keys of up to CACHE_LONGEST bytes */
    int (*one)(void *ctx, const unsigned char *p, size_t n, const struct id_list **ids, struct err *e); /* a longer one;
                                                                           *ids is borrowed until the next call */
    void *ctx;
};

/* A key that is not in the cache yet. Until it is encoded, its value in the cache is value_pending(its index). */
struct new_key {
    uint64_t where; /* its line in the cache, or its hash if it is longer than KEY12_MAX */
    uint64_t value;
};

struct cached_encoder {
    struct key_coder coder;
    struct id_cache cache;
    pack_keys_fn *pack_keys;
    uint64_t value[ENCODER_BATCH]; /* of the keys that were found */
    struct new_key new[NEW_MAX];
    struct word word[NEW_MAX]; /* of each new key */
    size_t n_new;
    struct id_list new_ids; /* of the new keys */
};

/* wide: as in the struct ids that will be passed; if false, every id must fit into 16 bits. -1: out of memory; call
 * cached_encoder_free in any case. */
int cached_encoder_init(struct cached_encoder *en, const struct key_coder *coder, bool wide, struct err *e);
void cached_encoder_free(struct cached_encoder *en); /* a zeroed one is fine */

/* Encodes the first *found, 1 to ENCODER_BATCH, of the n keys text[start .. ends[0]), text[ends[0] .. ends[1]) and so
 * on. It may read 64 bytes past the last. -1: out of memory. */
int cached_encoder_find(struct cached_encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                        size_t n, size_t *found, struct err *e);

/* Appends the ids of n > 0 of the keys that the last cached_encoder_find encoded, from this one on; the other arguments
 * must be the same. -1: out of memory. */
int cached_encoder_put(struct cached_encoder *en, const unsigned char *text, size_t start, const uint32_t *ends,
                       size_t from, size_t n, struct ids *ids, struct err *e);

/* Writes the ids of a list. Returns how many. */
size_t cached_encoder_write_list(const struct cached_encoder *en, unsigned char *to, bool wide, uint64_t value);

/* Writes the ids of a value in en->value, of a key of up to CACHE_LONGEST bytes that the last cached_encoder_find
 * encoded; wide: as the cache. There must be room for as many ids as the key can have, and for VALUE_BYTES. Returns how
 * many. */
static inline size_t cached_encoder_write(const struct cached_encoder *en, unsigned char *to, bool wide, uint64_t value)
{
    if (__builtin_expect(value_is_list(value, wide), 0))
        return cached_encoder_write_list(en, to, wide, value);
    memcpy(to, &value, VALUE_BYTES);
    return value_n(value, wide);
}

#endif
