/* describe_put.c - prints the output of bpe describe: lines for one model, or a column for each of several. */
#include "bpe/describe.h"

#include "wire/record_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 21 }; /* columns of a line before its figures */

/* ---- Which tokens are listed ---- */

/* At most `max` token ids, sorted by `before`. */
struct list {
    const struct describe_model *m;
    bool (*before)(const struct describe_model *m, uint32_t a, uint32_t b);
    size_t max, n;
    uint32_t id[DESCRIBE_TOP];
};

/* Breaks ties between tokens, by their bytes. */
static bool is_less(const struct describe_model *m, uint32_t a, uint32_t b)
{
    const struct model_token *x = &m->model.token[a], *y = &m->model.token[b];
    int order = memcmp(x->p, y->p, x->len < y->len ? x->len : y->len);
    return order ? order < 0 : x->len < y->len;
}

static bool is_more_frequent(const struct describe_model *m, uint32_t a, uint32_t b)
{
    return m->tokens.count[a] == m->tokens.count[b] ? is_less(m, a, b) : m->tokens.count[a] > m->tokens.count[b];
}

static bool is_longer(const struct describe_model *m, uint32_t a, uint32_t b)
{
    const struct model_token *x = &m->model.token[a], *y = &m->model.token[b];
    return x->len == y->len ? is_less(m, a, b) : x->len > y->len;
}

static void put_id(struct list *l, uint32_t id)
{
    size_t at = l->n;
    while (at && l->before(l->m, id, l->id[at - 1]))
        at--;
    if (at == l->max)
        return;
    l->n += l->n < l->max;
    memmove(&l->id[at + 1], &l->id[at], (l->n - at - 1) * sizeof l->id[0]);
    l->id[at] = id;
}

/* Whether a token has an ASCII letter or, if `other`, any byte that is not ASCII. */
static bool has_letter(const struct model_token *t, bool other)
{
    for (uint32_t i = 0; i < t->len; i++) {
        if (((t->p[i] | 0x20) >= 'a' && (t->p[i] | 0x20) <= 'z') || (other && t->p[i] >= 0x80))
            return true;
    }
    return false;
}

static bool is_special(const struct model *m, uint32_t id)
{
    for (size_t i = 0; i < m->n_special; i++) {
        if (m->special[i].id == id)
            return true;
    }
    return false;
}

static bool is_superword(const struct describe_model *m, uint32_t id)
{
    return m->tokens.superwords.is && m->tokens.superwords.is[id];
}

enum { FREQUENT, PARTS, SUPERWORDS, WORDS, LISTS };

static void make_lists(struct list l[LISTS], const struct describe_model *m)
{
    l[FREQUENT] = (struct list){.m = m, .before = is_more_frequent, .max = DESCRIBE_TOP};
    l[PARTS] = (struct list){.m = m, .before = is_more_frequent, .max = 12};
    l[SUPERWORDS] = (struct list){.m = m, .before = is_more_frequent, .max = 12};
    l[WORDS] = (struct list){.m = m, .before = is_longer, .max = 6};
    for (uint32_t id = 0; id < m->model.n_ids; id++) {
        const struct model_token *t = &m->model.token[id];
        if (m->tokens.count[id])
            put_id(&l[FREQUENT], id);
        if (m->tokens.count[id] && t->len > 2 && has_letter(t, true))
            put_id(&l[PARTS], id);
        if (m->tokens.count[id] && is_superword(m, id))
            put_id(&l[SUPERWORDS], id);
        if (t->p && t->len > 1 && has_letter(t, false) && !is_special(&m->model, id))
            put_id(&l[WORDS], id);
    }
}

/* ---- Figures as text ---- */

static int put_commas(struct buf *out, uint64_t n, struct err *e)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), rc = 0;
    for (int i = 0; i < len && rc == 0; i++)
        rc = (i && (len - i) % 3 == 0 && buf_put_byte(out, ',', e)) || buf_put_byte(out, (unsigned char)digits[i], e);
    return rc ? -1 : 0;
}

static uint64_t vocabulary(const struct model *m)
{
    uint64_t n = 0;
    for (uint32_t id = 0; id < m->n_ids; id++)
        n += m->token[id].p != NULL;
    return n;
}

static int put_text_line(const struct describe *d, struct buf *out, struct err *e)
{
    if (buf_printf(out, e, "%-*s", LABEL, "text") || put_commas(out, d->text, e) ||
        buf_put_str(out, d->text == 1 ? " byte" : " bytes", e))
        return -1;
    if ((d->files != d->text &&
         (buf_put_str(out, " (", e) || put_commas(out, d->files, e) || buf_put_str(out, " in files)", e))) ||
        buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

/* ---- Rows ---- */

enum what {
    NAME,
    PRETOKENS,
    DISTINCT,
    VOCABULARY,
    TOKENS,
    COMPRESSION,
    /* Of models with superwords: */
    FIRST,
    FIRST_COMPRESSION,
    SAVED,
    N_SUPERWORDS,
    SHARE,
    FREQUENT_PRETOKENS,
    OF_LIST,
};

static const struct row {
    const char *label;
    enum what what;
    unsigned list;
} rows[] = {{"", NAME, 0},
            {"pretokens", PRETOKENS, 0},
            {"  distinct", DISTINCT, 0},
            {"vocabulary", VOCABULARY, 0},
            {"tokens", TOKENS, 0},
            {"bytes per token", COMPRESSION, 0},
            {"without superwords", FIRST, 0},
            {"  bytes per token", FIRST_COMPRESSION, 0},
            {"  superwords save", SAVED, 0},
            {"superwords", N_SUPERWORDS, 0},
            {"  of all tokens", SHARE, 0},
            {"frequent pretokens", FREQUENT_PRETOKENS, 0},
            {"frequent tokens", OF_LIST, FREQUENT},
            {"  of 3 bytes or more", OF_LIST, PARTS},
            {"frequent superwords", OF_LIST, SUPERWORDS},
            {"longest words", OF_LIST, WORDS}};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* How many items a row has: one, or those of a list. */
static size_t n_items(const struct describe_model *m, const struct list *lists, const struct row *row)
{
    return row->what == OF_LIST              ? lists[row->list].n
           : row->what == FREQUENT_PRETOKENS ? m->split->top.n
           : row->what >= FIRST              ? m->tokens.superwords.is != NULL
                                             : 1;
}

/* Appends the ith item of a row. */
static int put_item(struct buf *out, const struct describe_model *m, const struct list *lists, const struct row *row,
                    size_t i, struct err *e)
{
    const struct describe_split *s = m->split;
    const struct token_counts *c = &m->tokens;
    const struct model_token *t = row->what == OF_LIST ? &m->model.token[lists[row->list].id[i]] : NULL;
    switch (row->what) {
    case NAME:
        return record_text_escape(out, (const unsigned char *)m->name, strlen(m->name), e);
    case PRETOKENS:
        return put_commas(out, s->n, e);
    case DISTINCT:
        return put_commas(out, s->n_distinct, e);
    case VOCABULARY:
        return put_commas(out, vocabulary(&m->model), e);
    case TOKENS:
        return put_commas(out, c->n_tokens, e);
    case COMPRESSION:
        return buf_printf(out, e, "%.2f", (double)s->n_bytes / (double)c->n_tokens);
    case FIRST:
        return put_commas(out, c->n_first, e);
    case FIRST_COMPRESSION:
        return buf_printf(out, e, "%.2f", (double)s->n_bytes / (double)c->n_first);
    case SAVED:
        return buf_printf(out, e, "%.1f %%", 100 * (1 - (double)c->n_tokens / (double)c->n_first));
    case N_SUPERWORDS:
        return put_commas(out, c->n_superwords, e);
    case SHARE:
        return buf_printf(out, e, "%.1f %%", 100 * (double)c->n_superwords / (double)c->n_tokens);
    case FREQUENT_PRETOKENS:
        return record_text_quote(out, s->top.at[i].p, s->top.at[i].len, DESCRIBE_SHOWN, e);
    case OF_LIST:
        return record_text_quote(out, t->p, t->len, DESCRIBE_SHOWN, e);
    }
    return 0;
}

/* ---- One model ---- */

static int put_row(struct buf *out, const struct describe_model *m, const struct list *lists, const struct row *row,
                   struct err *e)
{
    size_t n = n_items(m, lists, row);
    int rc = buf_printf(out, e, "%-*s", n ? LABEL - 1 : 0, row->label);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = buf_put_byte(out, ' ', e) || put_item(out, m, lists, row, i, e) ? -1 : 0;
    return rc;
}

static int put_superwords(struct buf *out, const struct describe_model *m, const struct list *lists, struct err *e)
{
    return put_row(out, m, lists, &rows[FIRST], e) || buf_put_str(out, ", ", e) ||
                   put_item(out, m, lists, &rows[FIRST_COMPRESSION], 0, e) ||
                   buf_put_str(out, " bytes per token; superwords save ", e) ||
                   put_item(out, m, lists, &rows[SAVED], 0, e) || buf_put_byte(out, '\n', e) ||
                   put_row(out, m, lists, &rows[N_SUPERWORDS], e) || buf_put_str(out, ", ", e) ||
                   put_item(out, m, lists, &rows[SHARE], 0, e) || buf_put_str(out, " of the tokens\n", e)
               ? -1
               : 0;
}

static int put_one(struct buf *out, const struct describe_model *m, struct err *e)
{
    struct list lists[LISTS];
    make_lists(lists, m);
    if (put_row(out, m, lists, &rows[PRETOKENS], e) || buf_put_str(out, ", ", e) ||
        put_commas(out, m->split->n_distinct, e) || buf_put_str(out, " distinct\n", e) ||
        put_row(out, m, lists, &rows[VOCABULARY], e) || buf_put_str(out, " tokens\n", e))
        return -1;
    if (!m->tokens.n_tokens)
        return 0;
    if (put_row(out, m, lists, &rows[TOKENS], e) || buf_put_str(out, ", ", e) ||
        put_item(out, m, lists, &rows[COMPRESSION], 0, e) || buf_put_str(out, " bytes per token\n", e) ||
        (m->tokens.superwords.is && put_superwords(out, m, lists, e)))
        return -1;
    for (const struct row *row = &rows[FREQUENT_PRETOKENS]; row < rows + N_ROWS; row++) {
        const bool none = row->what == OF_LIST && row->list == SUPERWORDS && !m->tokens.superwords.is;
        if (!none && (put_row(out, m, lists, row, e) || buf_put_byte(out, '\n', e)))
            return -1;
    }
    return 0;
}

/* ---- Several ---- */

struct column {
    const struct describe_model *m; /* borrowed */
    struct list lists[LISTS];
    size_t width;
};

static size_t longest(const struct column *c, size_t n, const struct row *row)
{
    size_t max = 0;
    for (size_t k = 0; k < n; k++) {
        size_t items = n_items(c[k].m, c[k].lists, row);
        max = items > max ? items : max;
    }
    return max;
}

/* The number of characters from byte `from` on. */
static size_t width_from(const struct buf *b, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < b->len; i++)
        n += (b->p[i] & 0xC0) != 0x80;
    return n;
}

static int measure(struct column *c, size_t n_rows, struct err *e)
{
    struct buf cell = {0};
    int rc = 0;
    for (const struct row *row = rows; row < rows + n_rows && rc == 0; row++) {
        for (size_t i = 0; i < n_items(c->m, c->lists, row) && rc == 0; i++) {
            cell.len = 0;
            rc = put_item(&cell, c->m, c->lists, row, i, e);
            size_t width = width_from(&cell, 0);
            c->width = width > c->width ? width : c->width;
        }
    }
    buf_free(&cell);
    return rc;
}

/* Puts a line: the ith item of a row, for each column. */
static int put_line(struct buf *out, const struct column *c, size_t n, const struct row *row, size_t i, struct err *e)
{
    int rc = buf_printf(out, e, "%-*s", LABEL, i ? "" : row->label);
    for (size_t k = 0; k < n && rc == 0; k++) {
        size_t from = out->len;
        rc = i < n_items(c[k].m, c[k].lists, row) ? put_item(out, c[k].m, c[k].lists, row, i, e) : 0;
        for (size_t w = width_from(out, from); w < c[k].width + 2 && rc == 0; w++)
            rc = buf_put_byte(out, ' ', e);
    }
    while (rc == 0 && out->p[out->len - 1] == ' ')
        out->len--;
    if (rc || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

static int put_several(struct buf *out, const struct describe *d, struct err *e)
{
    const size_t n = d->n_models, n_rows = d->model->tokens.n_tokens ? N_ROWS : TOKENS;
    int rc = 0;
    struct column *c = calloc(n, sizeof *c);
    if (!c)
        return err_mem(e, "the columns", n * sizeof *c);
    for (size_t k = 0; k < n && rc == 0; k++) {
        c[k].m = &d->model[k];
        make_lists(c[k].lists, c[k].m);
        rc = measure(&c[k], n_rows, e);
    }
    for (const struct row *row = rows; row < rows + n_rows; row++) {
        for (size_t i = 0; i < longest(c, n, row) && rc == 0; i++)
            rc = put_line(out, c, n, row, i, e);
    }
    free(c);
    return rc;
}

int describe_put(const struct describe *d, struct buf *out, struct err *e)
{
    return put_text_line(d, out, e) || (d->n_models == 1 ? put_one(out, d->model, e) : put_several(out, d, e)) ? -1 : 0;
}
