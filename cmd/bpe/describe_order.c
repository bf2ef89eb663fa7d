/* describe_order.c - encodes the pretokens of a text in order, while they are counted; and counts its documents, words,
 * bytes and characters, which pretokens do not show, as a model may remove or change text.
 *
 * The text of a SentencePiece model, which is one pretoken, comes in the pieces that its encoder needs; these are not
 * counted.
 */
#include "bpe/describe.h"

#include "encode/encoder.h"
#include "unicode/uclass.h"
#include "unicode/utf8.h"

#include <stdlib.h>

/* The next model after `last` (NULL: the first) that needs the pretokens of a split in order; NULL: there is none. */
static struct describe_model *next_model(const struct describe_split *s, struct describe_model *last)
{
    struct describe_model *m = last ? last + 1 : s->of->model, *end = s->of->model + s->of->n_models;
    while (m < end && (m->split != s || !m->tokens.in_order))
        m++;
    return m < end ? m : NULL;
}

/* Calls token_counts_break of all these models. */
static int break_order(const struct describe_split *s, struct err *e)
{
    for (struct describe_model *m = NULL; (m = next_model(s, m));)
        if (token_counts_break(&m->tokens, e))
            return -1;
    return 0;
}

/* ---- The text itself ---- */

/* The length of the character at p[0 .. n), n > 0; 0: its first byte is not part of one. */
static size_t char_len(const unsigned char *p, size_t n)
{
    bool cut;
    const size_t len = utf8_char_len(*p);
    return *p < 0x80 ? 1 : len <= n && *p >= 0xC0 && utf8_valid_len(p, len, &cut) == len ? len : 0;
}

/* Counts the words, bytes and characters in the part of the window up to `end` that has not been counted yet. A byte
 * that is not part of a character is one, unless it is skipped. */
static void count_text(struct describe_split *s, size_t end)
{
    const struct pretokenizer *t = &s->counter.pretokenizer;
    const bool valid = t->valid || t->invalid == INVALID_ERROR;
    for (size_t i = s->counted, len = 1; i < end; i += len) {
        const unsigned char *p = s->window + i;
        enum uclass class = uclass_at(p, &len);
        if (!valid && !(len = char_len(p, end - i))) {
            len = 1;
            class = UCLASS_OTHER;
            if (t->invalid == INVALID_SKIP)
                continue;
        }
        s->text_words += class != UCLASS_SPACE && !s->in_word;
        s->in_word = class != UCLASS_SPACE;
        s->text_chars++;
    }
    s->text_bytes += end - s->counted;
    s->counted = end;
}

static int end_document(struct describe_split *s, struct err *e)
{
    if (break_order(s, e))
        return -1;
    for (struct describe_model *m = NULL; (m = next_model(s, m));) {
        if (s->text_words)
            m->per_word += (double)(m->tokens.n_tokens - m->text_tokens) / (double)s->text_words;
        m->text_tokens = m->tokens.n_tokens;
    }
    s->n_texts += s->text_words > 0;
    s->n_words += s->text_words;
    s->text_words = 0;
    s->in_word = false;
    return 0;
}

void describe_window(struct describe_split *s, const unsigned char *p, bool documents)
{
    s->window = p;
    s->counted = 0;
    s->documents = documents;
}

int describe_window_end(struct describe_split *s, size_t used, enum window_end end, struct err *e)
{
    count_text(s, used);
    return end == TEXT_DOC ? end_document(s, e) : end == TEXT_MORE ? 0 : break_order(s, e);
}

/* ---- Pretokens and special tokens ---- */

/* Notes how many distinct pretokens there are so far, if the text has grown enough since the last time. */
static void note_growth(struct describe_split *s)
{
    struct describe_growth *g = &s->growth;
    g->stopped = g->stopped || s->merge.n_spilled;
    if (g->stopped || s->read < 4096 || (g->n && (double)s->read < 1.4142 * (double)g->at[g->n - 1].bytes))
        return;
    g->at[g->n].bytes = s->read;
    g->at[g->n++].n = table_n(&s->counter.table);
}

static int take_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct describe_split *s = ctx;
    for (struct describe_model *m = NULL; (m = next_model(s, m));)
        if (token_counts_text(&m->tokens, text, start, ends, n, e))
            return -1;
    if (s->rules->metaspace.on)
        return 0;
    s->read += ends[n - 1] - start;
    if (table_add_ends(&s->counter.table, text, start, ends, n, e))
        return -1;
    note_growth(s);
    return 0;
}

/* An added token that is not special, and does not end documents, is a part of the text. */
static bool is_text(const struct describe_split *s, const struct describe_model *m, size_t token)
{
    return token != s->separator && !model_special(&m->model, m->special_id[token])->special;
}

static int take_special(void *ctx, size_t token, size_t end, struct err *e)
{
    struct describe_split *s = ctx;
    count_text(s, s->counter.pretokenizer.special_begin);
    if (break_order(s, e))
        return -1;
    for (struct describe_model *m = NULL; s->of->in_order && (m = next_model(s, m));)
        if (is_text(s, m, token))
            token_counts_token(&m->tokens, m->special_id[token]);
    if (is_text(s, next_model(s, NULL), token)) {
        count_text(s, end);
        return 0;
    }
    s->counted = end;
    s->in_word = false;
    return !s->documents && (s->separator == token || s->separator == SIZE_MAX) ? end_document(s, e) : 0;
}

int describe_in_order(struct describe_model *m, struct err *e)
{
    struct pretokenizer *t = &m->split->counter.pretokenizer;
    struct pretoken_sink sink = t->sink;
    sink.words = take_words;
    sink.special = take_special;
    sink.ctx = m->split;
    m->split->in_order = true;
    m->special_id = calloc(m->rules.n_special + 1, sizeof *m->special_id);
    if (!m->special_id)
        return err_mem(e, "the special tokens", m->rules.n_special * sizeof *m->special_id);
    if (encode_rules_match(&m->how, &m->rules, m->special_id, e))
        return -1;
    if (m->rules.metaspace.on) { /* other pieces than those that are counted */
        const struct encoder *en = token_counts_encoder(&m->tokens);
        sink.pairs = en->has_pairs ? &en->pairs : NULL;
        pretokenizer_close(t);
        return pretokenizer_open(t, &m->rules, INVALID_ERROR, &sink, e);
    }
    t->sink = sink;
    return 0;
}
