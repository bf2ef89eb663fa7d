/* report_vocabulary.c - what each token of a model is: its text and kind, whether it can occur, and which merge makes
 * it. */
#include "bpe/report.h"

#include "model/model_convert.h"

#include <stdlib.h>
#include <string.h>

struct str report_token_text(const struct report_vocabulary *v, uint32_t id)
{
    if (!v->text)
        return (struct str){v->model->token[id].p, v->model->token[id].len};
    return (struct str){v->bytes.p + v->text[id], v->text[id + 1] - v->text[id]};
}

bool report_token_removable(const struct report_vocabulary *v, uint32_t id)
{
    return v->reach[id] != REACH_SPECIAL && report_token_text(v, id).len > 1;
}

bool report_token_waste(const struct report_vocabulary *v, uint32_t id)
{
    return v->model->token[id].p && report_token_removable(v, id) && !v->made[id];
}

uint64_t report_unreachable(const struct report_vocabulary *v)
{
    return v->n_reach[REACH_SINGLE] + v->n_reach[REACH_MULTI] + v->n_reach[REACH_NOT_MADE];
}

/* ---- Texts ---- */

/* The bytes of a token are its text, except in models of characters. If these do not define how tokens are decoded, at
 * least the tokens of bytes are known. */
static int decode_all(struct report_vocabulary *v, struct err *e)
{
    const struct model *m = v->model;
    int rc = 0;
    if (!model_of_characters(m))
        return 0;
    v->text = calloc((size_t)m->n_ids + 1, sizeof *v->text);
    if (!v->text)
        return err_mem(e, "the tokens", m->n_ids * sizeof *v->text);
    for (uint32_t id = 0; id < m->n_ids && !rc; id++) {
        const struct model_special *s = model_special(m, id);
        const struct model_token *t = &m->token[id];
        unsigned byte = t->p && t->len && t->p[0] == '<' && m->unknown.bytes ? 0 : 256;
        while (byte < 256 && m->byte_id[byte] != id)
            byte++;
        v->text[id] = v->bytes.len;
        rc = s                     ? buf_put(&v->bytes, s->p, s->len, e)
             : !t->p               ? 0
             : byte < 256          ? buf_put_byte(&v->bytes, (unsigned char)byte, e)
             : m->decoding.unknown ? buf_put(&v->bytes, t->p, t->len, e)
                                   : model_decode(m, id, false, &v->bytes, e);
    }
    v->text[m->n_ids] = v->bytes.len;
    return rc || buf_reserve(&v->bytes, MODEL_PAD, e) ? -1 : 0;
}

/* Whether a token stands for what is not text of its own: an added token, or unknown characters. */
static bool is_special(const struct model *m, uint32_t id)
{
    return model_special(m, id) || (model_of_characters(m) && !m->unknown.bytes && m->unknown.id == id);
}

/* ---- Whether a token can occur ---- */

int report_encode(const struct report_vocabulary *v, struct str text, struct err *e)
{
    size_t where;
    v->worker->ids.n = 0;
    pretokenizer_begin(&v->worker->now->pretokenizer, true, true);
    return worker_encode(v->worker, (const char *)text.p, text.len, &where, e);
}

static int encode_again(struct report_vocabulary *v, uint32_t id, struct err *e)
{
    if (report_encode(v, report_token_text(v, id), e))
        return -1;
    const struct ids *ids = &v->worker->ids;
    v->reach[id] = ids->n != 1 ? REACH_MULTI : ids_get(ids->p, true) == id ? REACH_SELF : REACH_SINGLE;
    return 0;
}

static int find_reach(struct report_vocabulary *v, struct err *e)
{
    const struct model *m = v->model;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct str text = report_token_text(v, id);
        bool cut;
        if (!m->token[id].p)
            continue;
        if (is_special(m, id))
            v->reach[id] = REACH_SPECIAL;
        else if (utf8_valid_len(text.p, text.len, &cut) != text.len)
            v->reach[id] = REACH_UNDECODABLE;
        else if (!text.len)
            v->reach[id] = REACH_MULTI;
        else if (!v->worker)
            v->reach[id] = m->token[id].len > 1 && v->split[id].left == MODEL_NO_ID ? REACH_NOT_MADE : REACH_SELF;
        else if (encode_again(v, id, e))
            return -1;
        v->n_reach[v->reach[id]]++;
    }
    return 0;
}

/* Makes the worker, unless it is not known how the model splits text. */
static int open_worker(struct report_vocabulary *v, const struct describe_model *m, struct err *e)
{
    if (!m->how.pattern && !m->model.n_regex)
        return 0;
    struct worker_pool *pool = worker_pool_make(e);
    v->worker = pool ? worker_get(pool, &m->how, BPE_SPECIAL_TOKEN, e) : NULL;
    worker_pool_free(pool);
    return v->worker ? 0 : -1;
}

/* ---- Kinds and lengths ---- */

static void classify(struct report_vocabulary *v, const struct scripts *scripts)
{
    for (uint32_t id = 0; id < v->model->n_ids; id++) {
        const struct str text = report_token_text(v, id);
        if (!v->model->token[id].p)
            continue;
        v->n++;
        v->kind[id] = (unsigned char)report_kind_of(scripts, text);
        if (v->reach[id] == REACH_SPECIAL || !text.len)
            continue;
        v->n_kind[v->kind[id]]++;
        v->n_length[text.len < REPORT_LENGTHS ? text.len - 1 : REPORT_LENGTHS - 1]++;
    }
}

/* ---- The order of merges ---- */

/* Sorts all ids with a token by length in bytes, the longest first: each token comes before its parts. */
static int sort_by_length(struct report_vocabulary *v, struct err *e)
{
    const struct model *m = v->model;
    uint32_t longest = 0;
    for (uint32_t id = 0; id < m->n_ids; id++)
        longest = m->token[id].p && m->token[id].len > longest ? m->token[id].len : longest;
    size_t *at = calloc((size_t)longest + 2, sizeof *at);
    if (!at)
        return err_mem(e, "the lengths", ((size_t)longest + 2) * sizeof *at);
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (m->token[id].p)
            at[longest - m->token[id].len + 1]++;
    for (size_t i = 1; i <= (size_t)longest + 1; i++)
        at[i] += at[i - 1];
    v->n_longest = at[longest + 1];
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (m->token[id].p)
            v->longest_first[at[longest - m->token[id].len]++] = id;
    free(at);
    return 0;
}

static bool is_split(const struct report_vocabulary *v, const struct merge *m)
{
    const struct merge *s = &v->split[m->result];
    return s->left == m->left && s->right == m->right;
}

/* Lists the tokens that merges make, in the order of these merges. A model without a list merges by id. */
static void list_learned(struct report_vocabulary *v)
{
    const struct model *m = v->model;
    for (uint32_t id = 0; m->by_rank && id < m->n_ids; id++)
        if (m->token[id].p && v->split[id].left != MODEL_NO_ID)
            v->learned[v->n_learned++] = id;
    for (size_t i = 0; !m->by_rank && i < m->n_merges; i++)
        if (is_split(v, &m->merge[i]))
            v->learned[v->n_learned++] = m->merge[i].result;
}

void report_made(const struct report_vocabulary *v, const uint64_t *count, uint64_t *made)
{
    for (size_t i = 0; i < v->n_longest; i++) {
        const uint32_t id = v->longest_first[i];
        const struct merge *s = &v->split[id];
        made[id] += count[id];
        if (s->left == MODEL_NO_ID && s->right == MODEL_NO_ID)
            continue;
        if (s->left != MODEL_NO_ID)
            made[s->left] += made[id];
        if (s->right != MODEL_NO_ID)
            made[s->right] += made[id];
    }
}

/* ---- All of it ---- */

int report_vocabulary_init(struct report_vocabulary *v, struct describe_model *m, struct scripts *scripts,
                           struct err *e)
{
    const size_t n = (size_t)m->model.n_ids + 1;
    v->model = &m->model;
    v->kind = calloc(n, 1);
    v->reach = calloc(n, 1);
    v->longest_first = calloc(n, sizeof *v->longest_first);
    v->learned = calloc(n + m->model.n_merges, sizeof *v->learned);
    v->count = calloc(n, sizeof *v->count);
    v->made = calloc(n, sizeof *v->made);
    if (!v->kind || !v->reach || !v->longest_first || !v->learned || !v->count || !v->made)
        return err_mem(e, "the vocabulary", n * 32);
    if (decode_all(v, e) || model_splits(&m->model, &v->split, e) || open_worker(v, m, e) || find_reach(v, e) ||
        sort_by_length(v, e))
        return -1;
    list_learned(v);
    classify(v, scripts);
    return 0;
}

void report_vocabulary_free(struct report_vocabulary *v)
{
    buf_free(&v->bytes);
    free(v->text);
    free(v->kind);
    free(v->reach);
    free(v->split);
    free(v->longest_first);
    free(v->learned);
    free(v->count);
    free(v->made);
    worker_free(v->worker);
}
