/* hf_json_write.c - tokenizer.json, byte for byte as Hugging Face tokenizers (0.20 and later) saves the same tokenizer.
 *
 * The reference is Tokenizer.save() of what BpeTrainer leaves behind, special tokens in the model's vocabulary too. The
 * order of the keys is that of serialization.rs in that project.
 */
#include "core/byte_level.h"
#include "model/model_write.h"
#include "json/json_write.h"

#include <string.h>

/* Whether a regex makes a repetition such as {1,3} possessive by a plus. The braces of \p{L}+ and \x{41}+ are no
 * repetitions. (Inside a character class they are none either, but there nobody writes them.) */
bool model_has_possessive_count(struct str text)
{
    const char *regex = (const char *)text.p, *end = regex + text.len, *hit = regex;
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

static void put_added_tokens(struct json_writer *w, const struct model *m)
{
    json_write_key(w, "added_tokens");
    json_write_begin(w, '[');
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        json_write_begin(w, '{');
        json_write_key(w, "id");
        json_write_uint(w, s->id);
        json_write_key(w, "content");
        json_write_bytes(w, s->p, s->len);
        json_write_key(w, "single_word");
        json_write_bool(w, false);
        json_write_key(w, "lstrip");
        json_write_bool(w, false);
        json_write_key(w, "rstrip");
        json_write_bool(w, false);
        json_write_key(w, "normalized");
        json_write_bool(w, false);
        json_write_key(w, "special");
        json_write_bool(w, s->special);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static void put_byte_level(struct json_writer *w, bool add_prefix_space, bool use_regex)
{
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "ByteLevel");
    json_write_key(w, "add_prefix_space");
    json_write_bool(w, add_prefix_space);
    json_write_key(w, "trim_offsets");
    json_write_bool(w, true);
    json_write_key(w, "use_regex");
    json_write_bool(w, use_regex);
    json_write_end(w, '}');
}

static void put_split(struct json_writer *w, struct str regex)
{
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "Split");
    json_write_key(w, "pattern");
    json_write_begin(w, '{');
    json_write_key(w, "Regex");
    json_write_bytes(w, regex.p, regex.len);
    json_write_end(w, '}');
    json_write_key(w, "behavior");
    json_write_str(w, "Isolated");
    json_write_key(w, "invert");
    json_write_bool(w, false);
    json_write_end(w, '}');
}

/* ByteLevel has the regex of gpt2 built in, as the last; any other regex is a step before it. */
static void put_pre_tokenizer(struct json_writer *w, const struct model *m)
{
    size_t n = m->n_regex;
    const struct str *last = n ? &m->regex[n - 1] : NULL;
    bool gpt2 = last && str_equal(*last, *pattern_at(PATTERN_GPT2)->regex);
    n -= gpt2;
    json_write_key(w, "pre_tokenizer");
    if (!n) {
        put_byte_level(w, false, gpt2);
        return;
    }
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "Sequence");
    json_write_key(w, "pretokenizers");
    json_write_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        put_split(w, m->regex[i]);
    put_byte_level(w, false, gpt2);
    json_write_end(w, ']');
    json_write_end(w, '}');
}

/* A token of the vocabulary as it is spelled, in *text. */
static int spell(struct buf *text, const struct model_token *t, struct err *e)
{
    text->len = 0;
    return byte_level_put(text, t->p, t->len, e);
}

/* all: added tokens that are no keys, too, for where nothing else has them. */
static void put_vocab(struct json_writer *w, const struct model *m, bool all)
{
    struct buf text = {0};
    size_t next = 0; /* special token */
    json_write_begin(w, '{');
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
        json_write_key_bytes(w, t->vocab ? text.p : t->p, t->vocab ? text.len : t->len);
        json_write_uint(w, id);
    }
    json_write_end(w, '}');
    buf_free(&text);
}

static void put_merges(struct json_writer *w, const struct model *m)
{
    struct buf left = {0}, right = {0};
    json_write_key(w, "merges");
    json_write_begin(w, '[');
    for (size_t k = 0; k < m->n_merges; k++) {
        if (spell(&left, &m->token[m->merge[k].left], w->e) || spell(&right, &m->token[m->merge[k].right], w->e)) {
            w->failed = true;
            break;
        }
        if (m->merges_as_strings) {
            json_write_bytes2(w, left.p, left.len, right.p, right.len);
            continue;
        }
        json_write_begin(w, '[');
        json_write_bytes(w, left.p, left.len);
        json_write_bytes(w, right.p, right.len);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
    buf_free(&left);
    buf_free(&right);
}

static void put_model(struct json_writer *w, const struct model *m)
{
    json_write_key(w, "model");
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "BPE");
    json_write_key(w, "dropout");
    json_write_null(w);
    json_write_key(w, "unk_token");
    json_write_null(w);
    json_write_key(w, "continuing_subword_prefix");
    json_write_null(w);
    json_write_key(w, "end_of_word_suffix");
    json_write_null(w);
    json_write_key(w, "fuse_unk");
    json_write_bool(w, false);
    json_write_key(w, "byte_fallback");
    json_write_bool(w, false);
    json_write_key(w, "ignore_merges");
    json_write_bool(w, m->ignore_merges);
    json_write_key(w, "vocab");
    put_vocab(w, m, false);
    put_merges(w, m);
    json_write_end(w, '}');
}

int model_put_json(struct buf *out, const struct model *m, struct err *e)
{
    if (!m->n_regex && (!m->pattern || strcmp(m->pattern, "bytes") != 0))
        return err_set(e, EX_USAGE,
                       "tokenizer.json says how text is split, and this model does not: give the pattern, -p");
    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    json_write_key(&w, "version");
    json_write_str(&w, "1.0");
    json_write_key(&w, "truncation");
    json_write_null(&w);
    json_write_key(&w, "padding");
    json_write_null(&w);
    put_added_tokens(&w, m);
    json_write_key(&w, "normalizer");
    json_write_null(&w);
    put_pre_tokenizer(&w, m);
    json_write_key(&w, "post_processor");
    json_write_null(&w);
    json_write_key(&w, "decoder");
    put_byte_level(&w, true, true);
    put_model(&w, m);
    json_write_end(&w, '}');
    return json_write_done(&w);
}

int model_put_vocab(struct buf *out, const struct model *m, struct err *e)
{
    struct json_writer w = json_write_over(out, false, e);
    put_vocab(&w, m, true);
    return json_write_done(&w);
}
