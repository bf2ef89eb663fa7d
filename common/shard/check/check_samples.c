/* check_samples.c - see check_samples.h. */
#include "shard/check/check_samples.h"

#include "base/sys/bytes.h"
#include "shard/format/docs_csv.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARDS = 500, /* sample the edges of about this many shards, */
    ROWS = 2000,  /* and about this many rows of document tables */
};

int check_samples_init(struct check_samples *x, const struct manifest *m, const struct input_form *form, struct err *e)
{
    *x = (struct check_samples){.manifest = m, .form = form, .every = 1 + m->n_shards / SHARDS, .row_before = SIZE_MAX};
    for (size_t i = 0; i < N_TRACKS; i++) {
        x->track[i].hash = hash128_new(e);
        if (!x->track[i].hash)
            return -1;
    }
    return 0;
}

void check_samples_free(struct check_samples *x)
{
    for (size_t i = 0; i < N_TRACKS; i++)
        hash128_free(x->track[i].hash);
    for (size_t i = 0; i < x->n_names; i++)
        free(x->name[i]);
    free(x->name);
    free(x->sample);
    *x = (struct check_samples){0};
}

void check_hash_ids(struct hash128 *h, const unsigned char *p, size_t n, unsigned width)
{
    unsigned char wide[4 * 256] = {0};
    if (width == 4) {
        hash128_add(h, p, 4 * n);
        return;
    }
    for (size_t done = 0; done < n;) {
        size_t part = n - done < 256 ? n - done : 256;
        for (size_t i = 0; i < part; i++)
            memcpy(wide + 4 * i, p + 2 * (done + i), 2);
        hash128_add(h, wide, 4 * part);
        done += part;
    }
}

/* ---- Tracks ---- */

static int start(struct check_samples *x, size_t track, const struct check_sample *sample, struct err *e)
{
    struct check_track *t = &x->track[track];
    if (array_grow(&x->sample, &x->cap, x->n + 1, sizeof *x->sample, "samples", e))
        return -1;
    t->on = true;
    t->sample = x->n;
    t->from = sample->token;
    t->to = sample->token + sample->tokens;
    hash128_reset(t->hash);
    x->sample[x->n++] = *sample;
    return 0;
}

/* All ids of the sample were seen. */
static void stop(struct check_samples *x, size_t track)
{
    struct check_track *t = &x->track[track];
    if (!t->on)
        return;
    t->on = false;
    x->sample[t->sample].whole = true;
    hash128_get(t->hash, x->sample[t->sample].hash);
}

/* The end of a document's text; 0: unknown, as in struct check_sample. */
static uint64_t end_of(const struct manifest_document *d)
{
    return d->end == DOCUMENT_UNKNOWN ? 0 : d->end;
}

static int start_edge(struct check_samples *x, const struct manifest_shard *s, const struct manifest_document *d,
                      struct err *e)
{
    struct check_sample sample = {.source = d->source,
                                  .line = d->line,
                                  .offset = d->offset,
                                  .end = end_of(d),
                                  .exact = true,
                                  .shard = s,
                                  .token = d->token,
                                  .tokens = d->tokens};
    x->carries = d->end == DOCUMENT_UNKNOWN;
    return start(x, x->carries || d == &s->last ? TRACK_LAST : TRACK_FIRST, &sample, e);
}

/* Continues TRACK_LAST into the shard, which begins with the rest of its document. */
static void carry_on(struct check_samples *x, const struct manifest_document *d)
{
    struct check_track *last = &x->track[TRACK_LAST], *first = &x->track[TRACK_FIRST], t = *last;
    t.from = d->token;
    t.to = d->token + d->tokens;
    x->sample[t.sample].tokens += d->tokens;
    x->sample[t.sample].end = end_of(d);
    x->carries = d->end == DOCUMENT_UNKNOWN;
    *last = x->carries ? t : *first;
    if (!x->carries)
        *first = t;
}

static bool same(const struct manifest_document *a, const struct manifest_document *b)
{
    return a->token == b->token && a->tokens == b->tokens && a->offset == b->offset &&
           strcmp(a->source, b->source) == 0;
}

/* Ends the tracks of the previous shard, except that of a document that continues. */
static void end_edges(struct check_samples *x)
{
    stop(x, TRACK_FIRST);
    if (!x->carries)
        stop(x, TRACK_LAST);
    x->track[TRACK_ROW].on = false;
    x->row_before = SIZE_MAX;
}

int check_samples_shard(struct check_samples *x, const struct manifest_shard *s, struct err *e)
{
    const struct manifest_document *first = &s->first, *last = &s->last;
    bool carried = x->carries && first->source && first->continued;
    end_edges(x);
    if (x->carries && !carried)
        x->track[TRACK_LAST].on = x->carries = false;
    x->shard = s;
    x->documents = 0;
    x->next_row = UINT64_MAX;
    x->step = 1 + s->documents * x->manifest->n_shards / ROWS;
    if (!first->source)
        return 0;
    if (carried)
        carry_on(x, first);
    if (x->manifest->plan.docs && s->documents)
        x->next_row = hash_secret() % x->step;
    if ((size_t)(s - x->manifest->shard) % x->every || first->offset == DOCUMENT_UNKNOWN)
        return 0;
    if (!first->continued && start_edge(x, s, first, e))
        return -1;
    return !last->source || last->continued || same(first, last) ? 0 : start_edge(x, s, last, e);
}

/* ---- Rows of tables ---- */

/* Returns a copy that lives as long as the samples; consecutive documents of a source share one. */
static const char *keep_name(struct check_samples *x, struct str s, struct err *e)
{
    if (x->n_names && str_equal(str_of(x->name[x->n_names - 1]), s))
        return x->name[x->n_names - 1];
    if (array_grow(&x->name, &x->cap_names, x->n_names + 1, sizeof *x->name, "names of sources", e))
        return NULL;
    x->name[x->n_names] = NULL;
    return manifest_set_text(&x->name[x->n_names], s, e) ? NULL : x->name[x->n_names++];
}

/* The sample's document ends where the next one begins, at the latest. */
static void end_before(struct check_samples *x, const struct document *d)
{
    uint64_t offset;
    if (x->row_before == SIZE_MAX)
        return;
    struct check_sample *s = &x->sample[x->row_before];
    x->row_before = SIZE_MAX;
    if (str_equal(str_of(s->source), d->source) && docs_csv_number(d->id, &offset) && offset > s->offset)
        s->end = offset;
}

int check_samples_begin(struct check_samples *x, const struct document *d, uint64_t token, struct err *e)
{
    struct check_sample s = {
        .line = d->line, .by_line = x->form->place == PLACE_LINE, .shard = x->shard, .token = token};
    end_before(x, d);
    if (x->documents++ != x->next_row || d->source.len == 0)
        return 0;
    x->next_row += 1 + hash_bytes(&x->documents, sizeof x->documents, hash_secret()) % (2 * x->step);
    if (x->form->place == PLACE_RECORD || (!s.by_line && !docs_csv_number(d->id, &s.offset)))
        return 0;
    s.source = keep_name(x, d->source, e);
    if (!s.source || start(x, TRACK_ROW, &s, e))
        return -1;
    x->track[TRACK_ROW].to = UINT64_MAX;
    return 0;
}

void check_samples_ids(struct check_samples *x, const unsigned char *p, size_t n, unsigned width, uint64_t token)
{
    for (size_t i = 0; i < N_TRACKS; i++) {
        const struct check_track *t = &x->track[i];
        uint64_t from = t->from > token ? t->from : token, to = t->to < token + n ? t->to : token + n;
        if (t->on && from < to)
            check_hash_ids(t->hash, p + (size_t)(from - token) * width, (size_t)(to - from), width);
    }
}

void check_samples_end(struct check_samples *x, uint64_t token)
{
    struct check_track *t = &x->track[TRACK_ROW];
    if (!t->on)
        return;
    x->sample[t->sample].tokens = token - t->from;
    stop(x, TRACK_ROW);
    x->row_before = t->sample;
}

/* ---- The end ---- */

static int by_place(const void *p, const void *q)
{
    const struct check_sample *a = p, *b = q;
    int names = strcmp(a->source, b->source);
    uint64_t x = a->by_line ? a->line : a->offset, y = b->by_line ? b->line : b->offset;
    return names ? names : a->by_line != b->by_line ? a->by_line - b->by_line : x < y ? -1 : x > y;
}

void check_samples_finish(struct check_samples *x)
{
    size_t n = 0;
    end_edges(x);
    for (size_t i = 0; i < x->n; i++) {
        const struct check_sample *s = &x->sample[i];
        if (s->whole && (s->end || s->by_line || input_form_has_end(x->form)))
            x->sample[n++] = *s;
    }
    x->n = n;
    if (n)
        qsort(x->sample, n, sizeof *x->sample, by_place);
}
