/* describe_text.c - text as the input of bpe describe: read once, and counted by the rules of each model.
 *
 * Models with the same rules share a split. All splits read the same windows of text, each with its own pretokenizer;
 * one may be ahead of another, because their pretokens end at different positions. Counts that take too much memory go
 * to sorted segments on disk, so that each distinct pretoken is encoded once, however long the text is. Only for models
 * whose superwords join whole pretokens (BoundlessBPE), and with in_order, are all pretokens encoded, while they are
 * counted (describe_order.c).
 */
#include "bpe/describe.h"

#include "base/cli/program.h"
#include "wire/payload.h"

#include <stdlib.h>
#include <string.h>

/* ---- The splits ---- */

/* A split of the same rules, which ends documents at the same token; else a free one. The text of a SentencePiece model
 * is cut by its own tokens. */
static struct describe_split *find_split(struct describe *d, const struct rules *r, size_t separator)
{
    size_t i = r->metaspace.on ? d->n_splits : 0;
    while (i < d->n_splits && (rules_difference(d->split[i].rules, r) || d->split[i].separator != separator))
        i++;
    return &d->split[i];
}

static int open_split(struct describe *d, struct describe_split *s, const struct rules *r, size_t separator,
                      struct err *e)
{
    memset(s, 0, sizeof *s);
    s->rules = r;
    s->of = d;
    s->separator = separator;
    external_merge_init(&s->merge, d->opt.temp, (size_t)(d->opt.memory / 2 / d->n_models));
    d->n_splits++;
    return counter_open(&s->counter, r, INVALID_ERROR, e);
}

/* Makes one split for each set of rules. -1 with EX_USAGE: a model does not state how it splits text, or does not split
 * it. */
static int split_text(struct describe *d, struct err *e)
{
    for (size_t i = 0; i < d->n_models; i++) {
        struct describe_model *m = &d->model[i];
        uint32_t id;
        size_t separator;
        if (encode_rules_for_text(&m->how, &m->rules, e))
            return -1;
        if (m->rules.metaspace.on && !d->in_order)
            return err_set(
                e, EX_USAGE,
                "%s: cannot describe text for a SentencePiece model, to which it is one pretoken; describe a sum",
                m->how.name);
        rules_sort_special(&m->rules);
        if (encode_rules_separator(&m->how, &m->rules, false, &id, &separator, e))
            return -1;
        separator = d->in_order ? separator : SIZE_MAX;
        m->split = find_split(d, &m->rules, separator);
        if ((!m->split->rules && open_split(d, m->split, &m->rules, separator, e)) ||
            token_counts_begin(&m->tokens, d->in_order, e) || (m->tokens.in_order && describe_in_order(m, e)))
            return -1;
    }
    return 0;
}

/* ---- Text ---- */

static int begin_text(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct describe *d = ctx;
    (void)r, (void)e;
    for (size_t i = 0; i < d->n_splits; i++) {
        d->split[i].ahead = 0;
        pretokenizer_begin(&d->split[i].counter.pretokenizer, x->inside, x->later);
    }
    return 0;
}

/* Counts the rest of the window in a split. */
static int count_window(struct describe *d, struct describe_split *s, const struct chunk_run *r, const unsigned char *p,
                        size_t n, enum window_end end, size_t *where, struct err *e)
{
    struct pretokenizer *t = &s->counter.pretokenizer;
    chunk_run_pretokenizer(r, t);
    if (s->in_order)
        describe_window(s, p + s->ahead, r->form->documents);
    ptrdiff_t used = pretokenize_text(t, p + s->ahead, n - s->ahead, end, where, e);
    if (used < 0) {
        *where += s->ahead;
        return -1;
    }
    s->ahead += (size_t)used;
    if (s->in_order && describe_window_end(s, (size_t)used, end, e))
        return -1;
    return external_merge_relieve(&s->merge, &s->counter.table, d->opt.memory / 2 / d->n_splits, e);
}

static ptrdiff_t count_text(void *ctx, struct chunk_run *r, const unsigned char *p, size_t n, enum window_end end,
                            size_t *where, struct err *e)
{
    struct describe *d = ctx;
    size_t used = n;
    for (size_t i = 0; i < d->n_splits; i++) {
        struct describe_split *s = &d->split[i];
        if (count_window(d, s, r, p, n, end, where, e))
            return -1;
        used = s->ahead < used ? s->ahead : used;
    }
    for (size_t i = 0; i < d->n_splits; i++)
        d->split[i].ahead -= used;
    d->n_seen += used;
    progress_show(&d->progress, d->n_seen, 0, true, "read");
    return (ptrdiff_t)used;
}

static int end_text(void *ctx, struct chunk_run *r, const struct piece *x, struct err *e)
{
    struct describe *d = ctx;
    (void)r, (void)e;
    d->text += x->text_end - x->text_begin;
    return 0;
}

static int end_batch(void *ctx, struct chunk_run *r, struct err *e)
{
    struct describe *d = ctx;
    char text[ERR_TEXT];
    if (r->skipped.n)
        program_note(d->name, "%s",
                     reading_skipped_text(r->skipped.n, buf_str(&r->skipped.first), d->n_seen == 0, text, sizeof text));
    d->ignored.len = 0;
    return chunk_run_put(r, &d->ignored, e);
}

static int begin(struct describe *d, const struct reading *how, struct err *e)
{
    static const struct chunk_ops ops = {.begin = begin_text, .text = count_text, .end = end_text, .flush = end_batch};
    chunk_reader_init(&d->reader, d->name, &ops, d);
    if (split_text(d, e))
        return -1;
    d->run = chunk_reader_own_run(&d->reader, d->split->rules, how, e);
    return d->run ? 0 : -1;
}

static int read_text(struct describe *d, struct input *in, struct buf *first, uint64_t source, struct err *e)
{
    struct reading how;
    if (d->sum)
        return err_set(e, EX_USAGE, "%s: cannot describe text and sums together", input_name(in));
    if (source_options_reading(&d->opt.source, &how, e) || (!d->run && begin(d, &how, e)) ||
        source_options_probe(&how, in, first, &d->json, d->name, e))
        return -1;
    uint64_t before = d->text;
    if (chunk_reader_text(&d->reader, d->run, in, first, source, e))
        return -1;
    d->files += input_is_compressed(in) ? input_position(in) : d->text - before;
    return 0;
}

int describe_add_text(struct describe *d, struct input *in, struct buf *first, uint64_t source, struct err *e)
{
    int rc = read_text(d, in, first, source, e);
    input_close(in);
    return rc;
}

int describe_end_text(struct describe *d, struct err *e)
{
    int rc = chunk_reader_finish(&d->reader, e);
    for (size_t i = 0; i < d->n_splits && rc == 0; i++)
        rc = describe_encode(d, &d->split[i], e);
    return rc;
}

void describe_text_free(struct describe *d)
{
    for (size_t i = 0; i < d->n_splits; i++) {
        counter_close(&d->split[i].counter);
        external_merge_free(&d->split[i].merge);
    }
    if (d->split)
        memset(d->split, 0, d->n_models * sizeof *d->split);
    d->n_splits = 0;
    chunk_reader_free(&d->reader);
}
