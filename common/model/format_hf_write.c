/* format_hf_write.c - writes tokenizer.json, byte for byte as Hugging Face tokenizers (0.20 and later) saves it.
 *
 * The reference is Tokenizer.save() for a model from BpeTrainer, with special tokens also in the model's vocabulary.
 * The keys have the order of serialization.rs in that project.
 */
#include "model/format_hf_internal.h"
#include "model/format_merges.h"
#include "model/vocab_json.h"
#include "pretok/byte_level.h"
#include "json/json_write.h"

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
        json_write_bool(w, s->flags & SPECIAL_SINGLE_WORD);
        json_write_key(w, "lstrip");
        json_write_bool(w, s->flags & SPECIAL_LSTRIP);
        json_write_key(w, "rstrip");
        json_write_bool(w, s->flags & SPECIAL_RSTRIP);
        json_write_key(w, "normalized");
        json_write_bool(w, s->flags & SPECIAL_NORMALIZED);
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

static void put_split(struct json_writer *w, struct str regex, enum split_how split)
{
    static const char *const behavior[SPLIT_N] = {
        "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous", "Removed", "Removed"};
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "Split");
    json_write_key(w, "pattern");
    json_write_begin(w, '{');
    json_write_key(w, "Regex");
    json_write_bytes(w, regex.p, regex.len);
    json_write_end(w, '}');
    json_write_key(w, "behavior");
    json_write_str(w, behavior[split]);
    json_write_key(w, "invert");
    json_write_bool(w, split == SPLIT_MATCHES);
    json_write_end(w, '}');
}

static void put_digits(struct json_writer *w, bool individual)
{
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "Digits");
    json_write_key(w, "individual_digits");
    json_write_bool(w, individual);
    json_write_end(w, '}');
}

/* Writes the step that splits with a regex. */
static void put_step(struct json_writer *w, struct str regex, enum split_how split)
{
    bool digit = str_equal(regex, str_of(PATTERN_DIGIT));
    if (split == SPLIT_ISOLATED && (digit || str_equal(regex, str_of(PATTERN_DIGIT "+"))))
        put_digits(w, digit);
    else
        put_split(w, regex, split);
}

/* ---- Models of characters ---- */

static void put_type(struct json_writer *w, const char *type)
{
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, type);
}

static void put_word(struct json_writer *w, const char *key, const char *word)
{
    json_write_key(w, key);
    json_write_str(w, word);
}

static void put_replace(struct json_writer *w, const char *from, const char *to)
{
    put_type(w, "Replace");
    json_write_key(w, "pattern");
    json_write_begin(w, '{');
    put_word(w, "String", from);
    json_write_end(w, '}');
    put_word(w, "content", to);
    json_write_end(w, '}');
}

/* split: for the pre_tokenizer; the decoder ignores it. */
static void put_metaspace(struct json_writer *w, const char *scheme, bool split)
{
    put_type(w, "Metaspace");
    put_word(w, "replacement", METASPACE);
    put_word(w, "prepend_scheme", scheme);
    json_write_key(w, "split");
    json_write_bool(w, split);
    json_write_end(w, '}');
}

static bool has_normalized(const struct model *m)
{
    for (size_t i = 0; i < m->n_special; i++)
        if (m->special[i].flags & SPECIAL_NORMALIZED)
            return true;
    return false;
}

/* Whether the pre_tokenizer Metaspace replaces spaces, rather than normalizers, which also change the text in which
 * "normalized" tokens are found. */
static bool has_metaspace(const struct model *m)
{
    const struct metaspace *s = &m->metaspace;
    return s->on && (s->split || (m->prefix.len ? s->place != PREFIX_ALWAYS : has_normalized(m)));
}

static void put_nfc(struct json_writer *w)
{
    put_type(w, "NFC");
    json_write_end(w, '}');
}

/* Writes those of NFC, Prepend and Replace that the model has. */
static void put_normalizer(struct json_writer *w, const struct model *m)
{
    const bool nfc = m->normalizer == NORMALIZER_NFC, spaces = m->metaspace.on && !has_metaspace(m),
               prepend = spaces && m->prefix.len, several = prepend || (nfc && spaces);
    json_write_key(w, "normalizer");
    if (!nfc && !spaces)
        json_write_null(w);
    if (several) {
        put_type(w, "Sequence");
        json_write_key(w, "normalizers");
        json_write_begin(w, '[');
    }
    if (nfc)
        put_nfc(w);
    if (prepend) {
        put_type(w, "Prepend");
        put_word(w, "prepend", METASPACE);
        json_write_end(w, '}');
    }
    if (spaces)
        put_replace(w, " ", METASPACE);
    if (several) {
        json_write_end(w, ']');
        json_write_end(w, '}');
    }
}

static void put_steps(struct json_writer *w, const struct model_decoding *d)
{
    put_type(w, "Sequence");
    json_write_key(w, "decoders");
    json_write_begin(w, '[');
    if (d->spaces && d->strip_token)
        put_metaspace(w, "always", true);
    else if (d->spaces)
        put_replace(w, METASPACE, " ");
    if (d->bytes) {
        put_type(w, "ByteFallback");
        json_write_end(w, '}');
    }
    put_type(w, "Fuse");
    json_write_end(w, '}');
    if (d->strip) {
        put_type(w, "Strip");
        put_word(w, "content", " ");
        json_write_key(w, "start");
        json_write_uint(w, 1);
        json_write_key(w, "stop");
        json_write_uint(w, 0);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    json_write_end(w, '}');
}

static void put_decoder(struct json_writer *w, const struct model *m)
{
    if (!model_of_characters(m))
        put_byte_level(w, true, true);
    else if (m->decoding.unknown)
        json_write_null(w);
    else
        put_steps(w, &m->decoding);
}

/* Writes Metaspace or, if there are any, the splits. */
static void put_character_pre_tokenizer(struct json_writer *w, const struct model *m, const struct str *regex,
                                        const unsigned char *split, size_t n)
{
    static const char *const schemes[N_PREFIX_PLACES] = {
        [PREFIX_IF_MISSING] = "always", [PREFIX_ALWAYS] = "always", [PREFIX_FIRST] = "first"};
    json_write_key(w, "pre_tokenizer");
    if (has_metaspace(m)) {
        put_metaspace(w, m->prefix.len ? schemes[m->metaspace.place] : "never", m->metaspace.split);
    } else if (!n) {
        json_write_null(w);
    } else {
        put_type(w, "Sequence");
        json_write_key(w, "pretokenizers");
        json_write_begin(w, '[');
        for (size_t i = 0; i < n; i++)
            put_step(w, regex[i], split ? split[i] : SPLIT_ISOLATED);
        json_write_end(w, ']');
        json_write_end(w, '}');
    }
}

/* Writes the steps for n regexes. ByteLevel comes before the first regex that sees text in byte-to-unicode form, or
 * last. It can include the preceding regex if that is gpt2's and, as the first step, put a space before the text. */
static int put_pre_tokenizer(struct json_writer *w, const struct model *m, const struct str *regex,
                             const unsigned char *split, size_t n)
{
    size_t level = 0;
    if (model_of_characters(m)) {
        put_character_pre_tokenizer(w, m, regex, split, n);
        return 0;
    }
    while (level < n && !(split && split[level] & SPLIT_BYTE_LEVEL))
        level++;
    bool gpt2 = level && !(split && split[level - 1]) && str_equal(regex[level - 1], *pattern_at(PATTERN_GPT2)->regex);
    bool prefix = m->prefix.len > 0;
    if (prefix && (level > gpt2 || !str_equal(m->prefix, str_of(" "))))
        return err_set(w->e, EX_USAGE,
                       "tokenizer.json puts a space before text only where ByteLevel is the first step");
    for (size_t i = level; i < n; i++)
        if (!(split[i] & SPLIT_BYTE_LEVEL))
            return err_set(
                w->e, EX_USAGE,
                "tokenizer.json cannot express this model: a regex after ByteLevel always sees byte-to-unicode text");
    json_write_key(w, "pre_tokenizer");
    if (n == gpt2) {
        put_byte_level(w, prefix, gpt2);
        return 0;
    }
    json_write_begin(w, '{');
    json_write_key(w, "type");
    json_write_str(w, "Sequence");
    json_write_key(w, "pretokenizers");
    json_write_begin(w, '[');
    for (size_t i = 0; i <= n; i++) {
        if (i == level)
            put_byte_level(w, prefix, gpt2);
        if (i < n && !(gpt2 && i == level - 1))
            put_step(w, regex[i], split ? split[i] & SPLIT_MASK : SPLIT_ISOLATED);
    }
    json_write_end(w, ']');
    json_write_end(w, '}');
    return 0;
}

/* Whether a merge can be the string "left right". */
static int check_string(struct str left, struct str right, size_t nth, struct err *e)
{
    const char *why = memchr(left.p, ' ', left.len) || memchr(right.p, ' ', right.len) ? "has a space in a part"
                      : merges_is_header(left) ? "begins with \"" MERGES_HEADER "\", which readers take for a header"
                                               : NULL;
    return why ? err_set(e, EX_USAGE, "tokenizer.json: merge %zu %s, so it cannot be a string: use --merges=array", nth,
                         why)
               : 0;
}

static void put_merges(struct json_writer *w, const struct model *m)
{
    struct buf left = {0}, right = {0};
    json_write_key(w, "merges");
    json_write_begin(w, '[');
    for (size_t k = 0; k < m->n_merges; k++) {
        if (vocab_json_key(&left, m, m->merge[k].left, w->e) || vocab_json_key(&right, m, m->merge[k].right, w->e) ||
            (m->merges_as_strings && check_string(buf_str(&left), buf_str(&right), k, w->e))) {
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

static void put_unk_token(struct json_writer *w, const struct model *m)
{
    struct buf key = {0};
    if (!model_of_characters(m) || m->unknown.id == MODEL_NO_ID) {
        json_write_null(w);
        return;
    }
    if (vocab_json_key(&key, m, m->unknown.id, w->e))
        w->failed = true;
    else
        json_write_bytes(w, key.p, key.len);
    buf_free(&key);
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
    put_unk_token(w, m);
    json_write_key(w, "continuing_subword_prefix");
    json_write_null(w);
    json_write_key(w, "end_of_word_suffix");
    json_write_null(w);
    json_write_key(w, "fuse_unk");
    json_write_bool(w, m->unknown.fuse);
    json_write_key(w, "byte_fallback");
    json_write_bool(w, m->unknown.bytes);
    json_write_key(w, "ignore_merges");
    json_write_bool(w, m->ignore_merges);
    json_write_key(w, "vocab");
    vocab_json_write(w, m, false);
    put_merges(w, m);
    json_write_end(w, '}');
}

int hf_write_tokenizer(struct buf *out, const struct model *m, struct err *e)
{
    const struct str *regex;
    size_t n_regex;
    if (model_regexes(m, PATTERN_ONIGURUMA, &regex, &n_regex, e))
        return -1;
    if (!n_regex && !model_is_unsplit(m))
        return err_set(e, EX_USAGE,
                       "tokenizer.json must define how text is split, and this model does not: give the pattern, -p");
    for (size_t i = 0; i < m->n_special; i++)
        if (m->special[i].flags & SPECIAL_INSIDE)
            return err_set(e, EX_USAGE,
                           "tokenizer.json puts U+2581 after each added token, but this model does not after \"%.*s\"",
                           (int)(m->special[i].len < 60 ? m->special[i].len : 60), (const char *)m->special[i].p);
    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    json_write_key(&w, "version");
    json_write_str(&w, "1.0");
    json_write_key(&w, "truncation");
    json_write_null(&w);
    json_write_key(&w, "padding");
    json_write_null(&w);
    put_added_tokens(&w, m);
    put_normalizer(&w, m);
    if (put_pre_tokenizer(&w, m, regex, model_split(m).p, n_regex))
        return -1;
    json_write_key(&w, "post_processor");
    if (m->post_processor.len)
        json_write_verbatim(&w, m->post_processor.p, m->post_processor.len);
    else
        json_write_null(&w);
    json_write_key(&w, "decoder");
    put_decoder(&w, m);
    put_model(&w, m);
    json_write_end(&w, '}');
    return json_write_done(&w);
}
