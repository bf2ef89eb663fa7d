/* shuffle_entry.c - see shuffle_entry.h. */
#include "shard/shuffle/shuffle_entry.h"

#include "base/sys/hash.h"

enum { ENTRY_FIRST = 1, ENTRY_LAST = 2 };

int shuffle_entry_put(struct buf *out, const struct shuffle_entry *x, uint64_t n, struct err *e)
{
    size_t start = out->len;
    if (x->first && x->id.len > ENTRY_IDS)
        return err_set(e, EX_DATAERR, "a document id of %zu bytes; at most %d are possible", x->id.len, ENTRY_IDS);
    if (buf_reserve(out, ENTRY_PREFIX + 6 * VARINT_MAX + x->id.len, e))
        return -1;
    unsigned char *p = out->p + start + ENTRY_PREFIX;
    *p++ = (unsigned char)((x->first ? ENTRY_FIRST : 0) | (x->last ? ENTRY_LAST : 0));
    if (x->first) {
        p += varint_put(p, x->source);
        p += varint_put(p, x->offset);
        p += varint_put(p, x->line);
        p += varint_put(p, x->id.len);
        if (x->id.len)
            memcpy(p, x->id.p, x->id.len);
        p += x->id.len;
    }
    if (x->last)
        p += varint_put(p, x->end);
    out->len = (size_t)(p - out->p);
    store_le(out->p + start, ENTRY_CHECK, 0);
    store_le(out->p + start + 4, 8, x->key);
    store_le(out->p + start + 12, 4, out->len - start - ENTRY_PREFIX + n);
    return 0;
}

void shuffle_entry_seal(unsigned char *head, size_t n, struct str ids)
{
    const unsigned char *p = head + ENTRY_CHECK;
    store_le(head, ENTRY_CHECK,
             ids.len ? hash_parts(p, n - ENTRY_CHECK, ids.p, ids.len, 0) : hash_bytes(p, n - ENTRY_CHECK, 0));
}

bool shuffle_entry_good(const unsigned char *p)
{
    return load_le(p, ENTRY_CHECK) == (uint32_t)hash_bytes(p + ENTRY_CHECK, (size_t)entry_len(p) - ENTRY_CHECK, 0);
}

bool shuffle_entry_get(struct shuffle_entry *x, const unsigned char *p)
{
    struct cursor c = cursor_over(p + ENTRY_PREFIX, (size_t)entry_len(p) - ENTRY_PREFIX);
    unsigned flags = get_choice(&c, ENTRY_FIRST | ENTRY_LAST);
    *x = (struct shuffle_entry){.key = entry_key(p), .first = flags & ENTRY_FIRST, .last = flags & ENTRY_LAST};
    if (x->first) {
        x->source = get_varint(&c);
        x->offset = get_varint(&c);
        x->line = get_varint(&c);
        x->id = get_str(&c);
    }
    if (x->last)
        x->end = get_varint(&c);
    x->ids = (struct str){c.p, cursor_left(&c)};
    return !c.bad;
}

int shuffle_source_put(struct buf *out, const struct document *d, struct err *e)
{
    unsigned char check[ENTRY_CHECK];
    size_t start = out->len;
    if (put_varint(out, d->number, e) || put_str(out, d->source, e))
        return -1;
    store_le(check, ENTRY_CHECK, hash_bytes(out->p + start, out->len - start, 0));
    return buf_put(out, check, sizeof check, e);
}

bool shuffle_source_get(struct document *d, struct str names, uint64_t at)
{
    if (at >= names.len)
        return false;
    struct cursor c = cursor_over(names.p + at, names.len - (size_t)at);
    d->number = get_varint(&c);
    d->source = get_str(&c);
    return !c.bad;
}

bool shuffle_sources_good(struct str names, uint64_t *at)
{
    struct cursor c = cursor_over(names.p, names.len);
    while (cursor_left(&c)) {
        const unsigned char *p = c.p;
        *at = (uint64_t)(p - names.p);
        get_varint(&c);
        get_str(&c);
        uint32_t is = c.bad ? 0 : (uint32_t)hash_bytes(p, (size_t)(c.p - p), 0);
        const unsigned char *check = get_bytes(&c, ENTRY_CHECK);
        if (!check || c.bad || load_le(check, ENTRY_CHECK) != is)
            return false;
    }
    return true;
}
