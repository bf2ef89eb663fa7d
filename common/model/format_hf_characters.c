/* format_hf_characters.c - the parts of tokenizer.json for models of characters (SentencePiece's BPE): U+2581 for
 * spaces, unknown characters, and the decoder.
 *
 * The sources are normalizers/prepend.rs, pre_tokenizers/metaspace.rs, models/bpe/model.rs (merge_word) and decoders/
 * of Hugging Face tokenizers.
 */
#include "model/format_hf_internal.h"
#include "unicode/uclass.h"

#include <stdio.h>
#include <string.h>

/* ---- Normalizers ---- */

static bool is_space(const char *s)
{
    return !strcmp(s, " ");
}

static bool is_spelled_space(const char *s)
{
    return !strcmp(s, METASPACE);
}

int hf_take_normalizer(struct hf_reader *in, const struct hf_normalizer *n)
{
    struct hf_metaspace *s = &in->metaspace;
    const char *type = n->type.s;
    if (!strcmp(type, "NFC")) { /* its order with Prepend and Replace does not matter: they change different text */
        in->m->normalizer = NORMALIZER_NFC;
        return 0;
    }
    if (!strcmp(type, "Prepend")) {
        if (s->prepend || !(is_spelled_space(n->prepend.s) || is_space(n->prepend.s)))
            return json_read_fail(&in->r, "normalizer Prepend of \"%s\": only U+2581, once, is supported",
                                  n->prepend.s);
        s->prepend = true;
        s->space_prepended = is_space(n->prepend.s);
        return 0;
    }
    if (!strcmp(type, "Replace")) {
        if (!hf_pattern_is(&n->pattern, " ") || !is_spelled_space(n->content.s))
            return json_read_fail(
                &in->r, "normalizer Replace is not supported, because it changes the text before it is split; "
                        "replacing a space with U+2581 is supported");
        s->replace = true;
        s->space_prepended = false;
        return 0;
    }
    return json_read_fail(&in->r,
                          "normalizer \"%s\" is not supported, because it changes the text before it is split; "
                          "NFC is supported",
                          type);
}

/* ---- The decoder ---- */

enum { TYPE, DECODERS, PATTERN, CONTENT, START, STOP, REPLACEMENT, PREPEND_SCHEME, ADD_PREFIX_SPACE };
static const char *const decoder_keys[] = {"type", "decoders",    "pattern",        "content",          "start",
                                           "stop", "replacement", "prepend_scheme", "add_prefix_space", NULL};

struct step {
    struct hf_reader *in;
    struct hf_word type, content, replacement, scheme;
    struct buf pattern; /* owned */
    uint64_t start, stop;
    bool other; /* a value that is not a string */
};

static int read_word_or_skip(struct step *s, struct hf_word *w)
{
    int c = json_read_peek(&s->in->r);
    if (c == '"')
        return hf_read_word(&s->in->r, w);
    s->other = true;
    return c < 0 ? -1 : json_read_skip(&s->in->r);
}

static int read_number_or_skip(struct step *s, uint64_t *v)
{
    int c = json_read_peek(&s->in->r);
    if (c == '0')
        return json_read_uint(&s->in->r, v);
    s->other = true;
    return c < 0 ? -1 : json_read_skip(&s->in->r);
}

static int read_decoders(struct hf_reader *in)
{
    int item;
    if (json_read_array(&in->r))
        return -1;
    while ((item = json_read_item(&in->r)) > 0)
        if (hf_read_decoder(in))
            return -1;
    return item;
}

static int read_decoder_key(void *ctx, int key)
{
    struct step *s = ctx;
    struct json_reader *r = &s->in->r;
    switch (key) {
    case TYPE:
        return read_word_or_skip(s, &s->type);
    case DECODERS:
        return read_decoders(s->in);
    case PATTERN:
        return json_read_peek(r) == '{' ? hf_read_pattern(r, &s->pattern) : json_read_skip(r);
    case CONTENT:
        return read_word_or_skip(s, &s->content);
    case START:
        return read_number_or_skip(s, &s->start);
    case STOP:
        return read_number_or_skip(s, &s->stop);
    case REPLACEMENT:
        return read_word_or_skip(s, &s->replacement);
    case PREPEND_SCHEME:
        return read_word_or_skip(s, &s->scheme);
    default:
        return json_read_skip(r);
    }
}

static void take_decoder(struct hf_reader *in, const struct step *s)
{
    struct model_decoding *d = &in->m->decoding;
    const char *type = s->type.s;
    enum hf_decoder_stage stage = HF_DECODES_NOTHING;
    if (!strcmp(type, "Sequence"))
        return;
    if (!strcmp(type, "Replace") && hf_pattern_is(&s->pattern, METASPACE) && is_space(s->content.s)) {
        stage = HF_DECODES_SPACES;
        d->spaces = true;
    } else if (!strcmp(type, "Metaspace") && is_spelled_space(s->replacement.s)) {
        stage = HF_DECODES_SPACES;
        d->spaces = true;
        d->strip_token = strcmp(s->scheme.s, "never") != 0;
    } else if (!strcmp(type, "ByteFallback")) {
        stage = HF_DECODES_BYTES;
        d->bytes = true;
    } else if (!strcmp(type, "Fuse")) {
        stage = HF_DECODES_FUSED;
    } else if (!strcmp(type, "Strip") && is_space(s->content.s) && s->start <= 1 && !s->stop && !s->other &&
               in->decoder_stage == HF_DECODES_FUSED) {
        stage = HF_DECODES_STRIPPED;
        d->strip = s->start == 1;
    }
    if (stage <= in->decoder_stage)
        in->decoder_other = s->type;
    in->decoder_stage = stage;
}

int hf_read_decoder(struct hf_reader *in)
{
    struct step s = {.in = in};
    uint32_t seen = 0;
    in->has_decoder = true;
    int rc = json_read_members(&in->r, decoder_keys, &seen, read_decoder_key, &s);
    if (!rc)
        take_decoder(in, &s);
    buf_free(&s.pattern);
    return rc;
}

/* ---- Unknown characters ---- */

static int fail(const struct hf_reader *in, const char *why)
{
    return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET, "%s", why);
}

/* The id of the key, or MODEL_NO_ID. */
static uint32_t find_key(const struct hf_reader *in, const char *key)
{
    unsigned char text[sizeof(struct hf_word) + MODEL_PAD] = {0}, bytes[sizeof text + BYTE_LEVEL_PAD] = {0};
    const size_t n = strlen(key);
    memcpy(text, key, n);
    size_t len = spelling_get(in->m->spelling, bytes, text, n);
    return len == BYTE_LEVEL_NOT || !len ? token_find(&in->m->index, in->m->token, text, n, false)
                                         : model_find(in->m, bytes, len);
}

static bool is_known(const struct model *m, unsigned char c)
{
    const unsigned char byte[1 + MODEL_PAD] = {c};
    return model_find(m, byte, 1) != MODEL_NO_ID;
}

/* Whether the UTF-8 of an unknown character may contain this byte. */
static bool is_needed(const struct model *m, unsigned c)
{
    return c < 0x80 ? !is_known(m, (unsigned char)c) : c < 0xC0 || (c >= 0xC2 && c < 0xF5);
}

static int take_bytes(struct hf_reader *in)
{
    struct model *m = in->m;
    for (unsigned c = 0; c < 256; c++) {
        char key[8];
        snprintf(key, sizeof key, "<0x%02X>", c);
        m->byte_id[c] = find_key(in, key);
        if (m->byte_id[c] == MODEL_NO_ID && is_needed(m, c))
            return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                          "byte_fallback, but the token %s is missing, which unknown characters need: not supported",
                          key);
    }
    if (m->spelling == SPELLING_SPACES && !is_known(m, ' '))
        return fail(in, "byte_fallback, but U+2581 is not a token, so a space would be three tokens: not supported");
    return 0;
}

static int take_unknown(struct hf_reader *in)
{
    struct model *m = in->m;
    if (strlen(in->unk_token.s) + 1 == sizeof in->unk_token.s)
        return fail(in, "unk_token is longer than 62 bytes: not supported"); /* it may have been truncated */
    m->unknown.id = in->unk_token.s[0] ? find_key(in, in->unk_token.s) : MODEL_NO_ID;
    if (m->unknown.bytes)
        return take_bytes(in);
    for (unsigned c = 0; c < 256; c++)
        m->byte_id[c] = MODEL_NO_ID;
    if (!in->unk_token.s[0])
        return fail(in, "neither byte_fallback nor unk_token, nor a pre_tokenizer ByteLevel: characters that are not "
                        "tokens would be left out, which is not supported");
    if (m->unknown.id == MODEL_NO_ID)
        return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET, "unk_token \"%s\" is not in the vocabulary",
                      in->unk_token.s);
    return 0;
}

static bool is_for_unknown(const struct model *m, uint32_t id)
{
    if (!m->unknown.bytes)
        return id == m->unknown.id;
    for (unsigned c = 0; c < 256; c++)
        if (m->byte_id[c] == id)
            return true;
    return false;
}

/* Unknown characters are replaced by their tokens after all merges, so no merge may have such a token as a part. */
static int check_parts(struct hf_reader *in)
{
    const struct model *m = in->m;
    for (size_t k = 0; k < m->n_merges; k++) {
        const uint32_t part[] = {m->merge[k].left, m->merge[k].right};
        for (int i = 0; i < 2; i++)
            if ((m->token[part[i]].p[0] == '<' || part[i] == m->unknown.id) && is_for_unknown(m, part[i]))
                return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                              "merge %zu has the part \"%.*s\", a token for unknown characters: not supported", k,
                              (int)m->token[part[i]].len, (const char *)m->token[part[i]].p);
    }
    return 0;
}

/* Whether text may be cut between 0x0A and a letter: no token contains both, and they do not become one unknown token.
 */
static bool may_cut(const struct model *m)
{
    if (m->ignore_merges || (!m->unknown.bytes && m->unknown.fuse && !is_known(m, '\n')))
        return false;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->p || !t->vocab)
            continue;
        for (size_t i = 0; i + 1 < t->len; i++)
            if (t->p[i] == '\n' && uclass_letter_at(t->p + i + 1, t->len - i - 1))
                return false;
    }
    return true;
}

static int take_metaspace(struct hf_reader *in)
{
    const struct hf_metaspace *s = &in->metaspace;
    struct model *m = in->m;
    const char *scheme = s->pretokenizer ? s->scheme.s : s->prepend ? "prepend" : "never";
    if (s->prepend && (!s->replace || s->space_prepended || s->pretokenizer))
        return fail(in, "normalizer Prepend without Replace after it, or with pre_tokenizer Metaspace: not supported");
    if (m->spelling == SPELLING_TEXT)
        return 0;
    if (m->n_regex)
        return fail(in, "U+2581 for spaces, and a pre_tokenizer other than Metaspace: not supported");
    m->metaspace = (struct metaspace){.on = true, .split = s->split};
    if (!strcmp(scheme, "prepend"))
        m->metaspace.place = PREFIX_ALWAYS;
    else if (!strcmp(scheme, "first"))
        m->metaspace.place = PREFIX_FIRST;
    return strcmp(scheme, "never") ? build_prefix(&in->b, str_of(" ")) : 0;
}

int hf_take_characters(struct hf_reader *in)
{
    struct model *m = in->m;
    if (m->spelling == SPELLING_BYTE_LEVEL)
        return m->unknown.bytes ? json_read_fail(&in->r, "byte_fallback: not supported with ByteLevel") : 0;
    if (take_metaspace(in))
        return -1;
    if (in->rules_only && m->spelling == SPELLING_TEXT)
        return 0;
    if (take_unknown(in) || check_parts(in))
        return -1;
    m->metaspace.cut = m->metaspace.on && may_cut(m);
    return 0;
}

int hf_take_decoding(struct hf_reader *in)
{
    if (!model_of_characters(in->m))
        return 0;
    if (in->decoder_other.s[0])
        return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                      "decoder \"%s\", with these settings or in this position, is not supported", in->decoder_other.s);
    in->m->decoding.unknown = !in->has_decoder;
    return 0;
}
