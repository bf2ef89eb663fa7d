/* fragments.c - see fragments.h. */
#include "wire/fragments.h"

#include <stdlib.h>

/* A promise does not belong to a batch, so its records have no number. */
static bool has_seq(unsigned type)
{
    return type != RECORD_PROMISE;
}

int fragment_get(struct fragment *p, const struct record *rec, struct err *e)
{
    struct cursor c = cursor_over(rec->payload, rec->len);
    p->id = get_bytes(&c, ID_LEN);
    p->seq = has_seq(rec->type) ? get_varint(&c) : 0;
    p->part = get_varint(&c);
    p->n_parts = get_varint(&c);
    p->bytes = (struct str){c.p, cursor_left(&c)};
    if (c.bad || p->part >= p->n_parts || p->n_parts > FRAGMENTS_MAX)
        return payload_damaged(e, rec->type == RECORD_PROMISE  ? "promise"
                                  : rec->type == RECORD_COMMIT ? "commit"
                                                               : "summary");
    return 0;
}

int fragments_put(struct buf *out, enum record_type type, const unsigned char *id, uint64_t first_seq,
                  const struct buf *content, struct err *e)
{
    struct buf payload = {0};
    size_t each = RECORD_ATOMIC_PAYLOAD - ID_LEN - 3 * VARINT_MAX;
    uint64_t n_parts = content->len / each + 1;
    int rc = 0;
    if (n_parts > FRAGMENTS_MAX)
        return err_set(e, EX_DATAERR, "too many inputs or pieces for one run: their list takes %zu bytes",
                       content->len);
    for (uint64_t i = 0; i < n_parts && rc == 0; i++) {
        size_t len = i + 1 < n_parts ? each : content->len - i * each;
        payload.len = 0;
        rc = buf_put(&payload, id, ID_LEN, e) || (has_seq(type) && put_varint(&payload, first_seq + i, e)) ||
             put_varint(&payload, i, e) || put_varint(&payload, n_parts, e) ||
             buf_put(&payload, content->p + i * each, len, e) || record_put(out, type, payload.p, payload.len, e);
    }
    buf_free(&payload);
    return rc ? -1 : 0;
}

int fragments_add(struct fragments *p, const struct fragment *in, struct err *e)
{
    if (!p->part) {
        p->part = calloc((size_t)in->n_parts, sizeof *p->part);
        if (!p->part)
            return err_mem(e, "a long record", in->n_parts * sizeof *p->part);
        p->n = in->n_parts;
    }
    if (in->n_parts != p->n)
        return err_set(e, EX_DATAERR, "records that contradict each other (%llu and %llu parts)",
                       (unsigned long long)p->n, (unsigned long long)in->n_parts);
    struct buf *b = &p->part[in->part];
    if (p->have == p->n || b->p)
        return 0;
    if (buf_reserve(b, in->bytes.len + 1, e) || buf_put(b, in->bytes.p, in->bytes.len, e))
        return -1;
    if (++p->have < p->n)
        return 0;
    for (uint64_t i = 0; i < p->n; i++) {
        if (buf_put(&p->whole, p->part[i].p, p->part[i].len, e))
            return -1;
        buf_free(&p->part[i]);
    }
    return 1;
}

void fragments_free(struct fragments *p)
{
    for (uint64_t i = 0; p->part && i < p->n; i++)
        buf_free(&p->part[i]);
    free(p->part);
    p->part = NULL;
    buf_free(&p->whole);
}
