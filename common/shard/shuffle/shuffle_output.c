/* shuffle_output.c - see shuffle_output.h.
 *
 * The ids of most documents are copied once more to be contiguous, so that the sink can write many documents with one
 * write(2).
 */
#include "shard/shuffle/shuffle_output.h"

#include "shard/shuffle/shuffle_entry.h"

#include <stdlib.h>

enum {
    GATHERED = 512 << 10, /* bytes of ids that are passed on together */
    LONG = 64 << 10,      /* a document in memory with this many bytes of ids is passed on uncopied */
    DIVIDE_BITS = 6,      /* a part that is too large is divided into 2^6 parts */
    AHEAD = 12,           /* how many entries ahead to prefetch */
};

void shuffle_output_free(struct shuffle_output *o)
{
    while (o->n_parts)
        shuffle_part_close(&o->part[--o->n_parts]);
    free(o->part);
    shuffle_sorted_free(&o->sorted);
    buf_free(&o->ids);
    buf_free(&o->names);
    *o = (struct shuffle_output){0};
}

static int push(struct shuffle_output *o, const struct shuffle_part *p, struct err *e)
{
    if (array_grow(&o->part, &o->cap_parts, o->n_parts + 1, sizeof *p, "the parts of a bucket", e))
        return -1;
    o->part[o->n_parts++] = *p;
    return 0;
}

/* Copies the entries of a part to the files of its divisions. */
static int distribute(const struct shuffle_output *o, const struct shuffle_part *p, struct shuffle_files *to,
                      struct err *e)
{
    struct shuffle_scan scan = {.part = p, .name = o->name};
    const unsigned char *entry;
    int rc;
    while ((rc = shuffle_scan_next(&scan, &entry, e)) > 0) {
        size_t i = (size_t)(entry_key(entry) << p->bits >> (64 - DIVIDE_BITS));
        to->file[i].n++;
        if ((rc = shuffle_files_put(to, i, (struct str){entry, (size_t)entry_len(entry)}, e)) != 0)
            break;
    }
    buf_free(&scan.window);
    return rc ? -1 : shuffle_files_flush(to, e);
}

/* Divides a part by the next bits of its keys, and pushes the resulting parts. */
static int divide(struct shuffle_output *o, const struct shuffle_part *p, struct err *e)
{
    struct shuffle_files to;
    if (shuffle_files_open(&to, 1 << DIVIDE_BITS, o->files->dir, NULL, o->memory / 4, e))
        return -1;
    int rc = distribute(o, p, &to, e);
    for (size_t i = to.n; rc == 0 && i-- > 0;) {
        struct shuffle_part sub = {to.file[i].fd, true, to.file[i].len, to.file[i].n, p->bits + DIVIDE_BITS};
        if (sub.n == 0)
            continue;
        rc = push(o, &sub, e);
        if (rc == 0)
            to.file[i].fd = -1;
    }
    shuffle_files_close(&to);
    return rc;
}

/* Whether to read a part that does not fit in memory entry by entry: that is cheap if entries are long, and a long
 * document cannot be divided. */
static bool read_piecemeal(const struct shuffle_output *o, const struct shuffle_part *p)
{
    return p->bits > 64 - DIVIDE_BITS || (p->len / p->n >= LONG && shuffle_sorted_need(p, false) <= o->memory / 2);
}

/* Pops the next part from the list, and skips, loads or divides it. */
static int take_part(struct shuffle_output *o, struct err *e)
{
    struct shuffle_part p = o->part[--o->n_parts];
    bool whole = shuffle_sorted_need(&p, true) <= o->memory / 2;
    int rc = 0;
    if (p.n <= o->skip) {
        o->skip -= p.n;
        shuffle_part_close(&p);
    } else if (whole || read_piecemeal(o, &p)) {
        /* A damaged key could change which entries are skipped. So verify all entries first; loading a whole part does
         * that anyway. */
        rc = o->skip && !whole ? shuffle_scan_all(&p, o->name, e) : 0;
        if (rc == 0)
            rc = shuffle_sorted_load(&o->sorted, &p, o->name, whole, e);
        o->sorted.next = (size_t)o->skip;
        o->skip = 0;
    } else {
        rc = divide(o, &p, e);
        shuffle_part_close(&p);
    }
    return rc;
}

/* Puts the next nonempty bucket into the empty list. 1; 0: no more buckets; -1. */
static int begin_bucket(struct shuffle_output *o, struct err *e)
{
    if (o->begun) {
        o->bucket++;
        o->passed = 0;
    }
    o->begun = false;
    while (o->bucket < o->n_buckets && o->files->file[o->bucket].n == 0)
        o->bucket++;
    if (o->bucket >= o->n_buckets)
        return 0;
    const struct shuffle_file *f = &o->files->file[o->bucket];
    struct shuffle_part p = {f->fd, false, f->len, f->n, o->bits};
    shuffle_files_name(o->files, (size_t)o->bucket, o->name);
    o->skip = o->passed;
    o->begun = true;
    return push(o, &p, e) ? -1 : 1;
}

/* Flushes the sink, and releases the ids that were passed on. */
static int flush(struct shuffle_output *o, struct document_sink *to, struct err *e)
{
    o->ids.len = 0;
    return to->flush(to->ctx, e);
}

/* Makes the next entry available. 1; 0: there are no more; -1. */
static int ready(struct shuffle_output *o, struct document_sink *to, struct err *e)
{
    while (!o->sorted.loaded || o->sorted.next == o->sorted.part.n) {
        if (o->sorted.loaded && flush(o, to, e))
            return -1;
        shuffle_sorted_unload(&o->sorted);
        int rc = o->n_parts ? 1 : begin_bucket(o, e);
        if (rc <= 0)
            return rc;
        if (take_part(o, e))
            return -1;
    }
    return 1;
}

/* Makes room for n bytes of ids, which must not move until the next flush. */
static int make_room(struct shuffle_output *o, struct document_sink *to, uint64_t n, struct err *e)
{
    if (o->ids.cap < GATHERED && buf_reserve(&o->ids, GATHERED, e))
        return -1;
    if (n > o->ids.cap - o->ids.len && flush(o, to, e))
        return -1;
    return n > o->ids.cap ? buf_reserve(&o->ids, (size_t)n, e) : 0;
}

/* Gets the next entry in memory; ids of short documents are copied next to the ids before them. */
static int get(struct shuffle_output *o, struct document_sink *to, struct shuffle_entry *x, struct err *e)
{
    const struct shuffle_sorted *s = &o->sorted;
    uint64_t at = s->item[s->next].at;
    if (!s->data) {
        uint64_t len = shuffle_sorted_entry_len(s, e);
        if (len == 0 || make_room(o, to, len, e))
            return -1;
    } else if (s->next + AHEAD < s->part.n) {
        __builtin_prefetch(s->data + s->item[s->next + AHEAD].at);
    }
    const unsigned char *p = shuffle_sorted_entry(s, &o->ids, e);
    if (!p)
        return -1;
    if (!shuffle_entry_get(x, p))
        return shuffle_damaged(o->name, at, e);
    if (!s->data || x->ids.len >= LONG)
        return 0;
    if (make_room(o, to, x->ids.len, e))
        return -1;
    p = o->ids.p + o->ids.len;
    if (buf_put(&o->ids, x->ids.p, x->ids.len, e))
        return -1;
    x->ids.p = p;
    return 0;
}

static int pass(struct shuffle_output *o, struct document_sink *to, const struct shuffle_entry *x, struct err *e)
{
    struct document d = {.offset = x->offset, .line = x->line, .id = x->id};
    if (x->first && !shuffle_source_get(&d, buf_str(&o->names), x->source))
        return shuffle_damaged(o->name, o->sorted.item[o->sorted.next].at, e);
    if (x->first && to->begin(to->ctx, &d, e))
        return -1;
    if (x->ids.len && to->ids(to->ctx, x->ids.p, x->ids.len, e))
        return -1;
    return x->last ? to->end(to->ctx, x->end, e) : 0;
}

int shuffle_output_next(struct shuffle_output *o, struct document_sink *to, uint64_t bytes, struct err *e)
{
    struct shuffle_entry x;
    uint64_t done = 0;
    int rc = 1;
    while (done < bytes && (rc = ready(o, to, e)) > 0) {
        if (get(o, to, &x, e) || pass(o, to, &x, e))
            return -1;
        done += ENTRY_PREFIX + x.ids.len;
        o->sorted.next++;
        o->passed++;
    }
    return rc < 0 || flush(o, to, e) ? -1 : rc;
}
