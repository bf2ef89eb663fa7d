/* format_hf_json.c - tokenizer.json of Hugging Face tokenizers, read and written as that library does.
 *
 * Settings that would make it split, merge or number text differently from model.h are errors, and named. Settings
 * that matter only elsewhere are ignored: post_processor (used only with add_special_tokens=True), padding, decoder,
 * offsets. The sources are serialization.rs, added_vocabulary.rs and models/bpe of that project.
 */
#include "model/format_hf_config.h"
#include "model/format_hf_internal.h"

#include "model/model_convert.h"
#include "model/model_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- Normalizer ---- */

static int read_normalizer(struct hf_reader *in);

enum { NORMALIZER_TYPE, NORMALIZERS };

struct normalizer_step {
    struct hf_reader *in;
    struct hf_word type;
};

static int read_normalizer_key(void *ctx, int key)
{
    struct normalizer_step *s = ctx;
    struct json_reader *r = &s->in->r;
    int item;
    if (key == NORMALIZER_TYPE)
        return hf_read_word(r, &s->type);
    if (json_read_array(r))
        return -1;
    while ((item = json_read_item(r)) > 0)
        if (read_normalizer(s->in))
            return -1;
    return item;
}

/* Accepts null, NFC, and sequences of these: NFC twice is NFC. */
static int read_normalizer(struct hf_reader *in)
{
    static const char *const keys[] = {"type", "normalizers", NULL};
    struct normalizer_step s = {.in = in};
    uint32_t seen = 0;
    int null = json_read_null(&in->r);
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_members(&in->r, keys, &seen, read_normalizer_key, &s))
        return -1;
    if (strcmp(s.type.s, "NFC") == 0)
        in->m->normalizer = NORMALIZER_NFC;
    else if (strcmp(s.type.s, "Sequence") != 0)
        return json_read_fail(&in->r,
                              "normalizer \"%s\": this changes the text before it is split, in a way that is not "
                              "supported; NFC is",
                              s.type.s);
    return 0;
}

/* ---- The whole ---- */

enum { VERSION, TRUNCATION, ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, MODEL };

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
                   : json_read_fail(r, "version \"%s\" of tokenizer.json; only 1.0 is known", version.s);
    case TRUNCATION:
        null = json_read_null(r);
        if (null == 0)
            return json_read_fail(r, "truncation would cut off tokens: not supported; set it to null");
        return null < 0 ? -1 : 0;
    case ADDED_TOKENS:
        return hf_read_added_tokens(in);
    case NORMALIZER:
        return read_normalizer(in);
    case PRE_TOKENIZER:
        null = json_read_null(r);
        return null < 0 ? -1 : null ? 0 : hf_read_pre_tokenizer(in);
    default:
        return hf_read_model(in);
    }
}

static int read_top(struct hf_reader *in)
{
    static const char *const keys[] = {"version", "truncation", "added_tokens", "normalizer", "pre_tokenizer",
                                       "model",   NULL};
    struct json_reader *r = &in->r;
    uint32_t seen = 0;
    if (json_read_members(r, keys, &seen, read_top_key, in) || json_read_end(r))
        return -1;
    if (!(seen & 1U << MODEL))
        return err_at(r->e, EX_DATAERR, r->name, ERR_NO_OFFSET,
                      "JSON without \"model\": not a tokenizer.json; for GPT-2's vocab.json and merges.txt name their "
                      "directory");
    if (!in->byte_level)
        return err_at(r->e, EX_DATAERR, r->name, ERR_NO_OFFSET,
                      "no pre_tokenizer ByteLevel: not a byte-level model, which is not supported");
    return 0;
}

static int check_all(struct hf_reader *in)
{
    return in->rules_only ? build_special_end(&in->b) : build_end(&in->b);
}

/* In a directory, the end of a text and padding are said by the files beside it. */
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
    /* A token has a key and a merge: about 85 bytes when pretty-printed, half of that when compact. */
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
    .has_ids = true,
    .special_first = true,
};
