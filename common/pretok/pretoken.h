/* pretoken.h - a byte string and how often it occurred, as the count table, the records and the trainer pass it to each
 * other, and its encoding. */
#ifndef BPE_PRETOK_PRETOKEN_H
#define BPE_PRETOK_PRETOKEN_H

#include "base/sys/bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PRETOKEN_PAD 24 /* bytes that must be readable after a "padded" pretoken (any content) */

struct pretoken {
    const unsigned char *p; /* borrowed; not terminated */
    size_t len;             /* > 0 */
    uint64_t count;         /* > 0 */
};

static inline struct str pretoken_str(const struct pretoken *w)
{
    return (struct str){w->p, w->len};
}

/* The encoding: varint length, the bytes, varint count. */

static inline size_t pretoken_encoded_len(const struct pretoken *w)
{
    return varint_len(w->len) + w->len + varint_len(w->count);
}

/* Writes the encoding at `to`, which has room for pretoken_encoded_len(w) bytes. Returns its end. */
static inline unsigned char *pretoken_put(unsigned char *to, const struct pretoken *w)
{
    to += varint_put(to, w->len);
    memcpy(to, w->p, w->len);
    to += w->len;
    return to + varint_put(to, w->count);
}

/* Reads the next pretoken; its bytes are borrowed from the cursor's. Sets c->bad if it has no bytes or a count of 0. */
static inline struct pretoken pretoken_get(struct cursor *c)
{
    const struct str bytes = get_str(c);
    const struct pretoken w = {bytes.p, bytes.len, get_varint(c)};
    c->bad |= (w.len == 0) | (w.count == 0);
    return w;
}

#endif
