/* model_json.c - tokenizer.json, byte for byte as Hugging Face tokenizers (0.20 and later) saves the same tokenizer.
 *
 * The reference is Tokenizer.save() of what BpeTrainer leaves behind, special tokens in the model's vocabulary too. The
 * order of the keys is that of serialization.rs in that project.
 */
#include "formats/jsonw.h"
#include "formats/trained.h"
#include "formats/vocab.h"

#include <assert.h>
#include <string.h>

static void put_added_tokens(struct jsonw *w, const struct vocab *v)
{
    jsonw_key(w, "added_tokens");
    jsonw_begin(w, '[');
    for (size_t i = 0; i < v->n_special; i++) {
        const struct vocab_token *t = &v->token[i];
        if (t->first != i)
            continue;
        jsonw_begin(w, '{');
        jsonw_key(w, "id");
        jsonw_uint(w, t->id);
        jsonw_key(w, "content");
        jsonw_bytes(w, t->p, t->len);
        jsonw_key(w, "single_word");
        jsonw_bool(w, false);
        jsonw_key(w, "lstrip");
        jsonw_bool(w, false);
        jsonw_key(w, "rstrip");
        jsonw_bool(w, false);
        jsonw_key(w, "normalized");
        jsonw_bool(w, false);
        jsonw_key(w, "special");
        jsonw_bool(w, true);
        jsonw_end(w, '}');
    }
    jsonw_end(w, ']');
}

static void put_byte_level(struct jsonw *w, bool add_prefix_space, bool use_regex)
{
    jsonw_begin(w, '{');
    jsonw_key(w, "type");
    jsonw_str(w, "ByteLevel");
    jsonw_key(w, "add_prefix_space");
    jsonw_bool(w, add_prefix_space);
    jsonw_key(w, "trim_offsets");
    jsonw_bool(w, true);
    jsonw_key(w, "use_regex");
    jsonw_bool(w, use_regex);
    jsonw_end(w, '}');
}

static void put_split(struct jsonw *w, const char *regex, size_t regex_len)
{
    jsonw_begin(w, '{');
    jsonw_key(w, "type");
    jsonw_str(w, "Split");
    jsonw_key(w, "pattern");
    jsonw_begin(w, '{');
    jsonw_key(w, "Regex");
    jsonw_bytes(w, (const unsigned char *)regex, regex_len);
    jsonw_end(w, '}');
    jsonw_key(w, "behavior");
    jsonw_str(w, "Isolated");
    jsonw_key(w, "invert");
    jsonw_bool(w, false);
    jsonw_end(w, '}');
}

/* ByteLevel has the regex of gpt2 built in; any other regex is a step before it. */
static void put_pre_tokenizer(struct jsonw *w, const struct trained *m)
{
    bool gpt2 = m->pattern && !strcmp(m->pattern, "gpt2");
    assert(m->pattern || m->regex);
    jsonw_key(w, "pre_tokenizer");
    if (gpt2 || !m->regex) {
        put_byte_level(w, false, gpt2);
        return;
    }
    jsonw_begin(w, '{');
    jsonw_key(w, "type");
    jsonw_str(w, "Sequence");
    jsonw_key(w, "pretokenizers");
    jsonw_begin(w, '[');
    put_split(w, m->regex, m->regex_len);
    put_byte_level(w, false, false);
    jsonw_end(w, ']');
    jsonw_end(w, '}');
}

static void put_vocab(struct jsonw *w, const struct vocab *v)
{
    jsonw_begin(w, '{');
    for (size_t id = 0; id < v->n_ids; id++) {
        const struct vocab_token *t = &v->token[v->by_id[id]];
        jsonw_key_bytes(w, t->p, t->len);
        jsonw_uint(w, id);
    }
    jsonw_end(w, '}');
}

static void put_merges(struct jsonw *w, const struct trained *m, const struct vocab *v)
{
    jsonw_key(w, "merges");
    jsonw_begin(w, '[');
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct vocab_token *left = vocab_symbol(v, m->merges[k].left);
        const struct vocab_token *right = vocab_symbol(v, m->merges[k].right);
        if (m->merges_as_strings) {
            jsonw_bytes2(w, left->p, left->len, right->p, right->len);
            continue;
        }
        jsonw_begin(w, '[');
        jsonw_bytes(w, left->p, left->len);
        jsonw_bytes(w, right->p, right->len);
        jsonw_end(w, ']');
    }
    jsonw_end(w, ']');
}

static void put_model(struct jsonw *w, const struct trained *m, const struct vocab *v)
{
    jsonw_key(w, "model");
    jsonw_begin(w, '{');
    jsonw_key(w, "type");
    jsonw_str(w, "BPE");
    jsonw_key(w, "dropout");
    jsonw_null(w);
    jsonw_key(w, "unk_token");
    jsonw_null(w);
    jsonw_key(w, "continuing_subword_prefix");
    jsonw_null(w);
    jsonw_key(w, "end_of_word_suffix");
    jsonw_null(w);
    jsonw_key(w, "fuse_unk");
    jsonw_bool(w, false);
    jsonw_key(w, "byte_fallback");
    jsonw_bool(w, false);
    jsonw_key(w, "ignore_merges");
    jsonw_bool(w, false);
    jsonw_key(w, "vocab");
    put_vocab(w, v);
    put_merges(w, m, v);
    jsonw_end(w, '}');
}

int model_put_json(struct buf *out, const struct trained *m, struct err *e)
{
    struct vocab v;
    if (vocab_init(&v, m, VOCAB_SPELLED, e))
        return -1;
    struct jsonw w = jsonw_over(out, true, e);
    jsonw_begin(&w, '{');
    jsonw_key(&w, "version");
    jsonw_str(&w, "1.0");
    jsonw_key(&w, "truncation");
    jsonw_null(&w);
    jsonw_key(&w, "padding");
    jsonw_null(&w);
    put_added_tokens(&w, &v);
    jsonw_key(&w, "normalizer");
    jsonw_null(&w);
    put_pre_tokenizer(&w, m);
    jsonw_key(&w, "post_processor");
    jsonw_null(&w);
    jsonw_key(&w, "decoder");
    put_byte_level(&w, true, true);
    put_model(&w, m, &v);
    jsonw_end(&w, '}');
    vocab_free(&v);
    return jsonw_done(&w);
}

int model_put_vocab(struct buf *out, const struct trained *m, struct err *e)
{
    struct vocab v;
    if (vocab_init(&v, m, VOCAB_SPELLED, e))
        return -1;
    struct jsonw w = jsonw_over(out, false, e);
    put_vocab(&w, &v);
    vocab_free(&v);
    return jsonw_done(&w);
}
