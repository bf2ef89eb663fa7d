/* model_json.c - tokenizer.json, byte for byte as Hugging Face tokenizers (0.20 and later) saves the same tokenizer.
 *
 * The reference is Tokenizer.save() of what BpeTrainer leaves behind, special tokens in the model's vocabulary too. The
 * order of the keys is that of serialization.rs in that project.
 */
#include "formats/jsonw.h"
#include "formats/model_write.h"
#include "formats/spell.h"

#include <string.h>

/* Whether a regex makes a repetition such as {1,3} possessive by a plus. The braces of \p{L}+ and \x{41}+ are no
 * repetitions. (Inside a character class they are none either, but there nobody writes them.) */
bool model_has_possessive_count(const char *regex, size_t len)
{
    const char *end = regex + len, *hit = regex;
    for (; (hit = memmem(hit, (size_t)(end - hit), "}+", 2)) != NULL; hit++) {
        const char *open = hit;
        while (open > regex && (open[-1] == ',' || (open[-1] >= '0' && open[-1] <= '9')))
            open--;
        if (open == hit || open == regex || *--open != '{')
            continue;
        bool escaped = open > regex && open[-1] == '\\';
        bool of_escape = open - regex >= 2 && open[-2] == '\\' && strchr("xog", open[-1]);
        if (!escaped && !of_escape)
            return true;
    }
    return false;
}

static void put_added_tokens(struct jsonw *w, const struct model *m)
{
    jsonw_key(w, "added_tokens");
    jsonw_begin(w, '[');
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        jsonw_begin(w, '{');
        jsonw_key(w, "id");
        jsonw_uint(w, s->id);
        jsonw_key(w, "content");
        jsonw_bytes(w, s->p, s->len);
        jsonw_key(w, "single_word");
        jsonw_bool(w, false);
        jsonw_key(w, "lstrip");
        jsonw_bool(w, false);
        jsonw_key(w, "rstrip");
        jsonw_bool(w, false);
        jsonw_key(w, "normalized");
        jsonw_bool(w, false);
        jsonw_key(w, "special");
        jsonw_bool(w, s->special);
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

/* ByteLevel has the regex of gpt2 built in, as the last; any other regex is a step before it. */
static void put_pre_tokenizer(struct jsonw *w, const struct model *m)
{
    size_t n = m->n_regex;
    const struct model_regex *last = n ? &m->regex[n - 1] : NULL;
    bool gpt2 = last && last->len == strlen(MODEL_GPT2_REGEX) && !memcmp(last->p, MODEL_GPT2_REGEX, last->len);
    n -= gpt2;
    jsonw_key(w, "pre_tokenizer");
    if (!n) {
        put_byte_level(w, false, gpt2);
        return;
    }
    jsonw_begin(w, '{');
    jsonw_key(w, "type");
    jsonw_str(w, "Sequence");
    jsonw_key(w, "pretokenizers");
    jsonw_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        put_split(w, m->regex[i].p, m->regex[i].len);
    put_byte_level(w, false, gpt2);
    jsonw_end(w, ']');
    jsonw_end(w, '}');
}

/* A token of the vocabulary as it is spelled, in *text. */
static int spell(struct buf *text, const struct model_token *t, struct err *e)
{
    text->len = 0;
    return spell_put(text, t->p, t->len, e);
}

/* all: added tokens that are no keys, too, for where nothing else has them. */
static void put_vocab(struct jsonw *w, const struct model *m, bool all)
{
    struct buf text = {0};
    size_t next = 0; /* special token */
    jsonw_begin(w, '{');
    for (size_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        const struct model_special *s = NULL;
        while (next < m->n_special && m->special[next].id <= id)
            s = &m->special[next++];
        if (!t->p || (s && s->id == id && !t->vocab && !s->keyed && !all))
            continue;
        if (t->vocab && spell(&text, t, w->e)) {
            w->failed = true;
            break;
        }
        jsonw_key_bytes(w, t->vocab ? text.p : t->p, t->vocab ? text.len : t->len);
        jsonw_uint(w, id);
    }
    jsonw_end(w, '}');
    buf_free(&text);
}

static void put_merges(struct jsonw *w, const struct model *m)
{
    struct buf left = {0}, right = {0};
    jsonw_key(w, "merges");
    jsonw_begin(w, '[');
    for (size_t k = 0; k < m->n_merges; k++) {
        if (spell(&left, &m->token[m->merge[k].left], w->e) || spell(&right, &m->token[m->merge[k].right], w->e)) {
            w->failed = true;
            break;
        }
        if (m->merges_as_strings) {
            jsonw_bytes2(w, left.p, left.len, right.p, right.len);
            continue;
        }
        jsonw_begin(w, '[');
        jsonw_bytes(w, left.p, left.len);
        jsonw_bytes(w, right.p, right.len);
        jsonw_end(w, ']');
    }
    jsonw_end(w, ']');
    buf_free(&left);
    buf_free(&right);
}

static void put_model(struct jsonw *w, const struct model *m)
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
    jsonw_bool(w, m->whole_first);
    jsonw_key(w, "vocab");
    put_vocab(w, m, false);
    put_merges(w, m);
    jsonw_end(w, '}');
}

int model_put_json(struct buf *out, const struct model *m, struct err *e)
{
    if (!m->n_regex && (!m->pattern || strcmp(m->pattern, "bytes") != 0))
        return err_set(e, EX_USAGE,
                       "tokenizer.json says how text is split, and this model does not: give the pattern, -p");
    struct jsonw w = jsonw_over(out, true, e);
    jsonw_begin(&w, '{');
    jsonw_key(&w, "version");
    jsonw_str(&w, "1.0");
    jsonw_key(&w, "truncation");
    jsonw_null(&w);
    jsonw_key(&w, "padding");
    jsonw_null(&w);
    put_added_tokens(&w, m);
    jsonw_key(&w, "normalizer");
    jsonw_null(&w);
    put_pre_tokenizer(&w, m);
    jsonw_key(&w, "post_processor");
    jsonw_null(&w);
    jsonw_key(&w, "decoder");
    put_byte_level(&w, true, true);
    put_model(&w, m);
    jsonw_end(&w, '}');
    return jsonw_done(&w);
}

int model_put_vocab(struct buf *out, const struct model *m, struct err *e)
{
    struct jsonw w = jsonw_over(out, false, e);
    put_vocab(&w, m, true);
    return jsonw_done(&w);
}
