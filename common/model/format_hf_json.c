/* format_hf_json.c - tokenizer.json of Hugging Face tokenizers, read and written as that library does.
 *
 * Settings that would split, merge or number text differently from model.h are errors, and the messages name them.
 * Settings without effect here are ignored: padding, offsets, and the decoder of byte-level models. post_processor
 * (used only with add_special_tokens=True) is kept unchanged. The sources are serialization.rs, added_vocabulary.rs and
 * models/bpe of that project.
 */
#include "model/format_hf_config.h"
#include "model/format_hf_internal.h"

#include "model/model_convert.h"
#include "model/model_file.h"
#include "model/post_processor.h"

#include <stdlib.h>
#include <string.h>

/* ---- Normalizer ---- */

static int read_normalizer(struct hf_reader *in);

enum { NORMALIZER_TYPE, NORMALIZERS, PREPEND, PATTERN, CONTENT };

struct normalizer_step {
    struct hf_reader *in;
    struct hf_normalizer step;
};

static int read_normalizer_key(void *ctx, int key)
{
    struct normalizer_step *n = ctx;
    struct json_reader *r = &n->in->r;
    int item;
    switch (key) {
    case NORMALIZER_TYPE:
        return hf_read_word(r, &n->step.type);
    case PREPEND:
        return hf_read_word(r, &n->step.prepend);
    case PATTERN:
        return hf_read_pattern(r, &n->step.pattern);
    case CONTENT:
        return json_read_peek(r) == '"' ? hf_read_word(r, &n->step.content) : json_read_skip(r); /* another type */
    default:
        if (json_read_array(r))
            return -1;
        while ((item = json_read_item(r)) > 0)
            if (read_normalizer(n->in))
                return -1;
        return item;
    }
}

/* Reads null, a step, or a sequence of these. */
static int read_normalizer(struct hf_reader *in)
{
    static const char *const keys[] = {"type", "normalizers", "prepend", "pattern", "content", NULL};
    struct normalizer_step n = {.in = in};
    uint32_t seen = 0;
    int null = json_read_null(&in->r);
    if (null)
        return null < 0 ? -1 : 0;
    int rc = json_read_members(&in->r, keys, &seen, read_normalizer_key, &n);
    if (rc == 0 && strcmp(n.step.type.s, "Sequence") != 0)
        rc = hf_take_normalizer(in, &n.step);
    buf_free(&n.step.pattern);
    return rc;
}

/* ---- The whole file ---- */

enum { VERSION, TRUNCATION, ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, POST_PROCESSOR, DECODER, MODEL };

static int read_post_processor(struct hf_reader *in)
{
    struct buf text = {0};
    int null = json_read_null(&in->r);
    if (null)
        return null > 0 ? 0 : -1;
    int rc = post_processor_read(&in->r, &text, in->r.e);
    if (rc == 0) {
        in->m->post_processor = (struct str){build_copy(&in->b, text.p, text.len), text.len};
        rc = in->m->post_processor.p ? 0 : -1;
    }
    buf_free(&text);
    return rc;
}

/* The spelling of the model depends on the keys before it. */
static int read_model(struct hf_reader *in)
{
    const bool spaces = in->metaspace.replace || in->metaspace.pretokenizer;
    if (!in->byte_level && in->ordered)
        in->m->spelling = spaces ? SPELLING_SPACES : SPELLING_TEXT;
    return hf_read_model(in);
}

static int check_spelling(const struct hf_reader *in)
{
    const bool spaces = in->metaspace.replace || in->metaspace.pretokenizer;
    const char *why = NULL;
    if (in->byte_level && (spaces || in->metaspace.prepend))
        why = "a pre_tokenizer ByteLevel, and U+2581 for spaces: not supported together";
    else if (!in->byte_level &&
             (in->m->spelling == SPELLING_BYTE_LEVEL || spaces != (in->m->spelling == SPELLING_SPACES)))
        why =
            "no pre_tokenizer ByteLevel, and normalizer and pre_tokenizer do not come before the model: not supported";
    return why ? err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET, "%s", why) : 0;
}

static int read_top_key(void *ctx, int key)
{
    struct hf_reader *in = ctx;
    struct json_reader *r = &in->r;
    struct hf_word version;
    int null;
    switch (key) {
    case VERSION:
        if (hf_read_word(r, &version))
            return -1;
        return strcmp(version.s, "1.0") == 0
                   ? 0
                   : json_read_fail(r, "version \"%s\" of tokenizer.json; only 1.0 is supported", version.s);
    case TRUNCATION:
        null = json_read_null(r);
        if (null == 0)
            return json_read_fail(r, "truncation would cut off tokens: not supported; set it to null");
        return null < 0 ? -1 : 0;
    case ADDED_TOKENS:
        return hf_read_added_tokens(in);
    case NORMALIZER:
        in->ordered = true;
        return read_normalizer(in);
    case PRE_TOKENIZER:
        in->ordered = true;
        null = json_read_null(r);
        return null < 0 ? -1 : null ? 0 : hf_read_pre_tokenizer(in);
    case POST_PROCESSOR:
        return read_post_processor(in);
    case DECODER:
        null = json_read_null(r);
        return null < 0 ? -1 : null ? 0 : hf_read_decoder(in);
    default:
        return read_model(in);
    }
}

static int read_top(struct hf_reader *in)
{
    static const char *const keys[] = {"version",        "truncation", "added_tokens", "normalizer", "pre_tokenizer",
                                       "post_processor", "decoder",    "model",        NULL};
    struct json_reader *r = &in->r;
    uint32_t seen = 0;
    if (json_read_members(r, keys, &seen, read_top_key, in) || json_read_end(r))
        return -1;
    if (!(seen & 1U << MODEL))
        return err_at(r->e, EX_DATAERR, r->name, ERR_NO_OFFSET,
                      "JSON without \"model\": not a tokenizer.json; for GPT-2's vocab.json and merges.txt name their "
                      "directory");
    return check_spelling(in) || hf_take_decoding(in) ? -1 : 0;
}

static int check_all(struct hf_reader *in)
{
    return in->rules_only ? build_special_end_unchecked(&in->b) : build_end(&in->b);
}

/* In a directory, the files beside it name the tokens that end a text and pad. */
static int take_roles(struct hf_reader *in, const struct model_source *from)
{
    struct hf_config c = {0};
    int rc =
        from->inside && !in->rules_only && (hf_config_read(&c, &in->b, from) || hf_config_roles(&c, in->m, in->b.e));
    hf_config_free(&c);
    return rc ? -1 : 0;
}

static int read_hf_json(struct model *m, struct model_source *from, struct err *e)
{
    struct hf_reader in = {.m = m, .rules_only = from->rules_only};
    int rc = -1;
    if (model_source_says_all(from, "tokenizer.json", e))
        return -1;
    /* A token has a key and a merge: about 85 bytes if pretty-printed, half of that if compact. */
    if (!build_init(&in.b, m, from->name, in.rules_only ? 0 : model_file_size(from->fd) / 80, e) &&
        !json_read_init(&in.r, from->fd, from->name, &from->head, e))
        rc = read_top(&in) || hf_take_added(&in) || check_all(&in) || take_roles(&in, from) ? -1 : 0;
    if (!rc) {
        bool gpt2 = m->n_regex == 1 && !m->split[0] && str_equal(m->regex[0], *pattern_at(PATTERN_GPT2)->regex);
        m->pattern = gpt2 ? "gpt2" : m->n_regex ? NULL : "bytes";
    }
    json_read_free(&in.r);
    free(in.added.p);
    build_free(&in.b);
    return rc;
}

static int write_hf_json(struct model_files *to, const struct model *m, struct err *e)
{
    return hf_write_tokenizer(model_files_add(to, ""), m, e);
}

static bool sniff(const unsigned char *p, size_t n)
{
    return *p == '{' && !format_tekken.sniff(p, n);
}

static const char *const files[] = {"tokenizer.json", NULL};

const struct model_format format_hf_json = {
    .name = "json",
    .content = "tokenizer.json",
    .in_directory = "tokenizer.json",
    .files = files,
    .sniff = sniff,
    .read = read_hf_json,
    .dialect = PATTERN_ONIGURUMA,
    .check = convert_to_merges,
    .write = write_hf_json,
    .has_merge_forms = true,
    .has_characters = true,
    .has_ids = true,
    .special_first = true,
};
