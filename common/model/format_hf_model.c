/* format_hf_model.c - the model of tokenizer.json: the vocabulary and the merges. */
#include "model/format_hf_internal.h"
#include "model/format_merges.h"
#include "model/vocab_json.h"
#include "pretok/byte_level.h"

#include <string.h>

static int bad_merge(struct hf_reader *in, struct str s)
{
    return json_read_utf8(&in->r, s)
               ? -1
               : json_read_fail(&in->r, "merge %zu: \"%.*s\" is %s", in->m->n_merges + in->b.n_wait,
                                (int)(s.len < 60 ? s.len : 60), s.p,
                                in->m->spelling == SPELLING_BYTE_LEVEL ? "not in byte-to-unicode form"
                                                                       : "empty, or has a space: not supported");
}

/* Adds one side of a merge. Returns its length, or BYTE_LEVEL_NOT after an error. */
static size_t take_side(struct hf_reader *in, size_t before, struct str s)
{
    unsigned char *to = build_merge_room(&in->b, before + s.len);
    if (!to)
        return BYTE_LEVEL_NOT;
    size_t n = spelling_get(in->m->spelling, to + before, s.p, s.len);
    if (n == BYTE_LEVEL_NOT || !n) {
        bad_merge(in, s);
        return BYTE_LEVEL_NOT;
    }
    return n;
}

static size_t read_side(struct hf_reader *in, size_t before)
{
    struct str s;
    return json_read_raw_string(&in->r, &s) ? BYTE_LEVEL_NOT : take_side(in, before, s);
}

/* ["left", "right"] */
static int read_pair(struct hf_reader *in)
{
    struct json_reader *r = &in->r;
    size_t left, right;
    int more;
    if (json_read_array(r) || (more = json_read_item(r)) < 0)
        return -1;
    if (more && (left = read_side(in, 0)) == BYTE_LEVEL_NOT)
        return -1;
    if (more && (more = json_read_item(r)) < 0)
        return -1;
    if (more && (right = read_side(in, left)) == BYTE_LEVEL_NOT)
        return -1;
    if (!more || (more = json_read_item(r)) != 0)
        return more < 0 ? -1 : json_read_fail(r, "merge %zu is not of two tokens", in->m->n_merges + in->b.n_wait);
    return build_merge(&in->b, left, right);
}

/* "left right"; headers are skipped, as in Hugging Face. */
static int read_line(struct hf_reader *in)
{
    struct str s;
    if (json_read_raw_string(&in->r, &s))
        return -1;
    if (merges_is_header(s))
        return json_read_utf8(&in->r, s);
    const unsigned char *space = memchr(s.p, ' ', s.len);
    size_t n = space ? (size_t)(space - s.p) : s.len;
    unsigned char *to = build_merge_room(&in->b, s.len);
    if (!to)
        return -1;
    size_t left = spelling_get(in->m->spelling, to, s.p, n), right = BYTE_LEVEL_NOT;
    if (space && left != BYTE_LEVEL_NOT && !memchr(space + 1, ' ', s.len - n - 1))
        right = spelling_get(in->m->spelling, to + left, space + 1, s.len - n - 1);
    if (right == BYTE_LEVEL_NOT || !left || !right)
        return bad_merge(in, s);
    return build_merge(&in->b, left, right);
}

/* Merges are arrays or strings, but not both, as in Hugging Face. */
static int read_merges(struct hf_reader *in)
{
    struct json_reader *r = &in->r;
    bool *strings = &in->m->merges_as_strings;
    int more;
    if (json_read_array(r))
        return -1;
    for (bool first = true;; first = false) {
        struct str pair[2];
        for (; json_read_try_pair(r, pair); first = false) {
            size_t left = take_side(in, 0, pair[0]);
            size_t right = left == BYTE_LEVEL_NOT ? BYTE_LEVEL_NOT : take_side(in, left, pair[1]);
            if (right == BYTE_LEVEL_NOT || build_merge(&in->b, left, right))
                return -1;
            if (*strings)
                return json_read_fail(r, "merges are strings and arrays; they must be of one kind");
        }
        if ((more = json_read_item(r)) <= 0)
            return more;
        int c = json_read_peek(r);
        if (!first && c >= 0 && *strings != (c == '"'))
            return json_read_fail(r, "merges are strings and arrays; they must be of one kind");
        *strings = c == '"';
        if (c < 0 || (*strings ? read_line(in) : read_pair(in)))
            return -1;
    }
}

/* Skips the vocabulary and the merges with the calls that read them, which have fast versions. */

static int skip_vocab(struct json_reader *r)
{
    struct str key;
    uint64_t id;
    int more = json_read_object(r);
    while (more == 0) {
        while (json_read_try_member(r, &key, &id)) {
        }
        more = json_read_raw_key(r, &key);
        if (more <= 0)
            return more;
        more = json_read_uint(r, &id);
    }
    return -1;
}

static int skip_merges(struct json_reader *r)
{
    struct str pair[2];
    int more = json_read_array(r);
    while (more == 0) {
        while (json_read_try_pair(r, pair)) {
        }
        more = json_read_item(r);
        if (more <= 0)
            return more;
        more = json_read_peek(r) == '"' ? json_read_raw_string(r, pair) : json_read_skip(r);
    }
    return -1;
}

/* Reads a number or null and sets whether it differs from 0. */
static int read_dropout(struct json_reader *r)
{
    int null = json_read_null(r);
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_peek(r) != '0')
        return json_read_fail(r, "dropout must be a number or null");
    size_t at = r->at;
    uint64_t base = r->base;
    if (json_read_skip(r))
        return -1;
    size_t from = at - (size_t)(r->base - base);
    for (; from < r->at && r->window.p[from] != 'e' && r->window.p[from] != 'E'; from++) {
        if (r->window.p[from] >= '1' && r->window.p[from] <= '9')
            return json_read_fail(r, "dropout other than 0 makes tokens random: not supported");
    }
    return 0;
}

static int check_empty(struct json_reader *r, const char *name)
{
    struct hf_word w;
    if (hf_read_word(r, &w))
        return -1;
    return w.s[0] ? json_read_fail(r, "%s \"%s\": not supported", name, w.s) : 0;
}

enum { TYPE, DROPOUT, UNK_TOKEN, PREFIX, SUFFIX, FUSE_UNK, BYTE_FALLBACK, IGNORE_MERGES, VOCAB, MERGES };
static const char *const keys[] = {"type",
                                   "dropout",
                                   "unk_token",
                                   "continuing_subword_prefix",
                                   "end_of_word_suffix",
                                   "fuse_unk",
                                   "byte_fallback",
                                   "ignore_merges",
                                   "vocab",
                                   "merges",
                                   NULL};

static int read_model_key(void *ctx, int key)
{
    struct hf_reader *in = ctx;
    struct json_reader *r = &in->r;
    struct hf_word word;
    int rc;
    switch (key) {
    case TYPE:
        if (hf_read_word(r, &word))
            return -1;
        return strcmp(word.s, "BPE") == 0
                   ? 0
                   : json_read_fail(r, "the model's type is \"%s\"; only BPE is supported", word.s);
    case DROPOUT:
        return read_dropout(r);
    case UNK_TOKEN:
        return hf_read_word(r, &in->unk_token);
    case FUSE_UNK:
        return hf_read_flag(r, &in->m->unknown.fuse) < 0 ? -1 : 0;
    case BYTE_FALLBACK:
        return hf_read_flag(r, &in->m->unknown.bytes) < 0 ? -1 : 0;
    case IGNORE_MERGES:
        return hf_read_flag(r, &in->m->ignore_merges) < 0 ? -1 : 0;
    case VOCAB:
        if (in->rules_only && in->m->spelling != SPELLING_SPACES)
            return skip_vocab(r);
        rc = vocab_json_read(r, &in->b);
        in->n_vocab = in->b.n_tokens;
        return rc;
    case MERGES:
        return in->rules_only ? skip_merges(r) : read_merges(in);
    default:
        return check_empty(r, keys[key]);
    }
}

int hf_read_model(struct hf_reader *in)
{
    struct json_reader *r = &in->r;
    uint32_t seen = 0;
    if (json_read_members(r, keys, &seen, read_model_key, in))
        return -1;
    if (!(seen & 1U << VOCAB) || !(seen & 1U << MERGES))
        return json_read_fail(r, "the model has no \"%s\"", seen & 1U << VOCAB ? "merges" : "vocab");
    return (in->rules_only ? build_tokens_end(&in->b) : build_merges_end(&in->b)) || hf_take_characters(in) ? -1 : 0;
}
