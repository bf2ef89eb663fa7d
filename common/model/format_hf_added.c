/* format_hf_added.c - the added tokens of tokenizer.json: found in the text before anything is split. */
#include "model/format_hf_internal.h"
#include "pretok/byte_level.h"
#include "unicode/utf8.h"

#include <string.h>

enum { ID, CONTENT, SINGLE_WORD, LSTRIP, RSTRIP, NORMALIZED, SPECIAL, N_KEYS };
static const char *const keys[] = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", NULL};

/* The added token being read. */
struct object {
    struct json_reader *r;
    struct build *b;
    struct hf_added *token;
    bool flag[N_KEYS];
};

int hf_read_content(struct json_reader *r, struct build *b, struct hf_added *a)
{
    struct str s;
    if (json_read_string(r, &s))
        return -1;
    if (s.len > INT32_MAX)
        return json_read_fail(r, "the added token is too long");
    a->p = build_copy(b, s.p, s.len);
    a->len = s.len;
    return a->p ? 0 : -1;
}

static int read_added_key(void *ctx, int key)
{
    struct object *o = ctx;
    return key == ID        ? json_read_uint(o->r, &o->token->id)
           : key == CONTENT ? hf_read_content(o->r, o->b, o->token)
                            : json_read_bool(o->r, &o->flag[key]);
}

int hf_read_added(struct json_reader *r, struct build *b, struct hf_added *a, bool in_config)
{
    struct object o = {.r = r, .b = b, .token = a};
    char show[60];
    uint32_t seen = 0;
    *a = (struct hf_added){.id = HF_NEXT_ID};
    if (json_read_members(r, keys, &seen, read_added_key, &o))
        return -1;
    for (int key = 0; key < N_KEYS; key++) {
        if (!(seen & 1U << key) && !(in_config && key != CONTENT))
            return json_read_fail(r, "an added token without \"%s\"", keys[key]);
    }
    if (!a->len && !in_config)
        return json_read_fail(r, "an added token without content");
    a->flags = (o.flag[LSTRIP] ? SPECIAL_LSTRIP : 0U) | (o.flag[RSTRIP] ? SPECIAL_RSTRIP : 0U) |
               (o.flag[SINGLE_WORD] ? SPECIAL_SINGLE_WORD : 0U);
    if (in_config && a->flags)
        return json_read_fail(r,
                              "added token \"%s\" with lstrip, rstrip or single_word: only supported in tokenizer.json",
                              build_show(show, sizeof show, a->p, a->len, false));
    a->special = o.flag[SPECIAL];
    a->normalized = seen & 1U << NORMALIZED ? o.flag[NORMALIZED] : !a->special;
    return 0;
}

int hf_tokens_add(struct hf_tokens *to, struct hf_added a, struct err *e)
{
    if (array_grow(&to->p, &to->cap, to->n + 1, sizeof a, "the added tokens", e))
        return -1;
    to->p[to->n++] = a;
    return 0;
}

int hf_read_added_tokens(struct hf_reader *in)
{
    int item;
    if (json_read_array(&in->r))
        return -1;
    while ((item = json_read_item(&in->r)) > 0) {
        struct hf_added a;
        if (hf_read_added(&in->r, &in->b, &a, false) || hf_tokens_add(&in->added, a, in->r.e))
            return -1;
    }
    return item;
}

/* Added tokens that are "normalized" are found in the normalized text, and Prepend and Replace also change their
 * content. In that text, spaces beside such tokens are no longer white space; with Prepend, the tokens begin with
 * U+2581. */
static int check_normalized(struct hf_reader *in)
{
    const struct hf_metaspace *s = &in->metaspace;
    char show[60];
    for (size_t i = 0; i < in->added.n; i++) {
        const struct hf_added *a = &in->added.p[i];
        const bool changed = memmem(a->p, a->len, METASPACE, METASPACE_LEN) || memchr(a->p, ' ', a->len) ||
                             a->flags & (SPECIAL_LSTRIP | SPECIAL_RSTRIP) ||
                             (s->prepend && a->flags & SPECIAL_SINGLE_WORD);
        if (a->normalized && s->replace && changed)
            return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                          "added token \"%s\" is \"normalized\" with Replace, and has a space or flags: not supported",
                          build_show(show, sizeof show, a->p, a->len, false));
    }
    return 0;
}

/* Whether an added token found in the raw text and one found in the normalized text can overlap. True also if the check
 * would take too long. */
static bool kinds_overlap(const struct hf_tokens *added)
{
    const double max = 1e8; /* steps, about a tenth of a second */
    double work = 0;
    for (size_t i = 0; i < added->n; i++) {
        const struct hf_added *a = &added->p[i];
        for (size_t k = 0; !a->normalized && k < added->n; k++) {
            const struct hf_added *b = &added->p[k];
            work += b->normalized ? 1 + (double)a->len * (double)b->len : 1;
            if (work > max ||
                (b->normalized && str_may_overlap((struct str){a->p, a->len}, (struct str){b->p, b->len})))
                return true;
        }
    }
    return false;
}

/* Whether two passes change the effect of flags: the first pass takes white space in which the second would find
 * tokens, and the second sees no character beside a token where the first has a match. */
static bool kinds_touch(const struct hf_tokens *added)
{
    bool left = false, right = false, word = false, space_last = false, space_first = false, single = false;
    for (size_t i = 0; i < added->n; i++) {
        const struct hf_added *a = &added->p[i];
        const struct str text = {a->p, a->len};
        if (a->normalized) {
            space_last = space_last || special_ends_with_space(text);
            space_first = space_first || special_begins_with_space(text);
            single = single || a->flags & SPECIAL_SINGLE_WORD;
        } else {
            left = left || a->flags & SPECIAL_LSTRIP;
            right = right || a->flags & SPECIAL_RSTRIP;
            word = word || special_has_word_edge(text);
        }
    }
    return (left && space_last) || (right && space_first) || (single && word);
}

/* Hugging Face searches for the two kinds of added tokens in two passes. If it makes no difference, one pass is
 * enough. */
static void set_kinds(struct hf_reader *in)
{
    size_t n_normalized = 0;
    for (size_t i = 0; i < in->added.n; i++)
        n_normalized += in->added.p[i].normalized;
    bool mixed = n_normalized && n_normalized < in->added.n;
    if (!(n_normalized && (in->m->normalizer || in->metaspace.prepend)) &&
        !(mixed && (kinds_overlap(&in->added) || kinds_touch(&in->added))))
        return;
    for (size_t i = 0; i < in->added.n; i++)
        in->added.p[i].flags |= in->added.p[i].normalized ? SPECIAL_NORMALIZED : 0;
}

/* If a token with lstrip begins in the white space that follows another token, Hugging Face loses it or fails. */
static int check_flags(struct hf_reader *in)
{
    const struct hf_added *right = NULL, *left = NULL;
    char one[60], other[60];
    for (size_t i = 0; i < in->added.n; i++) {
        const struct hf_added *a = &in->added.p[i];
        right = a->flags & SPECIAL_RSTRIP ? a : right;
        left = a->flags & SPECIAL_LSTRIP && special_begins_with_space((struct str){a->p, a->len}) ? a : left;
    }
    return !right || !left ? 0
                           : err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                                    "the added token \"%s\" has \"rstrip\", and \"%s\" has \"lstrip\" and begins with "
                                    "white space: not supported",
                                    build_show(one, sizeof one, right->p, right->len, false),
                                    build_show(other, sizeof other, left->p, left->len, false));
}

/* The token of the vocabulary whose key is this content; MODEL_NO_ID: none. *same: its bytes also equal the content.
 * *spelled: the content is in the model's spelling. */
static int find_key(struct hf_reader *in, const struct hf_added *a, uint32_t *id, bool *same, bool *spelled)
{
    unsigned char *bytes = model_room(in->m, a->len + BYTE_LEVEL_PAD + MODEL_PAD, in->r.e); /* not kept */
    if (!bytes)
        return -1;
    size_t n = spelling_get(in->m->spelling, bytes, a->p, a->len);
    *spelled = n != BYTE_LEVEL_NOT;
    if (!*spelled) {
        *same = true;
        *id = token_find(&in->m->index, in->m->token, a->p, a->len, false);
    } else {
        *same = n == a->len && !memcmp(bytes, a->p, n);
        *id = model_find(in->m, bytes, n);
    }
    return 0;
}

/* Whether the pretokenizer may start with this token: a byte, or a character. */
static bool is_unit(const struct model *m, const struct model_token *t)
{
    return t->len == 1 || (model_of_characters(m) && t->len == utf8_char_len(t->p[0]));
}

/* Whether text can become this token of the vocabulary without containing an added token. */
static bool may_be_made(const struct hf_reader *in, uint32_t id)
{
    const struct model_token *t = &in->m->token[id];
    bool cut;
    return is_unit(in->m, t) || build_is_merged(&in->b, id) ||
           (in->m->ignore_merges && utf8_valid_len(t->p, t->len, &cut) == t->len);
}

/* Adds the tokens with the ids in the file: without a vocabulary, these cannot be checked. */
static int take_unchecked(struct hf_reader *in)
{
    set_kinds(in);
    for (size_t i = 0; i < in->added.n; i++) {
        const struct hf_added *a = &in->added.p[i];
        if (build_special(&in->b, (struct model_special){.p = a->p,
                                                         .len = (uint32_t)a->len,
                                                         .id = (uint32_t)a->id,
                                                         .flags = a->flags,
                                                         .special = a->special}))
            return -1;
    }
    return check_flags(in);
}

/* The text that an added token is decoded to: its content, which Prepend changes if it is "normalized". */
static int take_text(struct hf_reader *in, const struct hf_added *a, struct str *text)
{
    *text = (struct str){a->p, a->len};
    if (!a->normalized || !in->metaspace.prepend)
        return 0;
    text->len = METASPACE_LEN + a->len;
    unsigned char *p = model_room(in->m, text->len, in->r.e);
    if (!p)
        return -1;
    memcpy(p, METASPACE, METASPACE_LEN);
    memcpy(p + METASPACE_LEN, a->p, a->len);
    model_keep(in->m, text->len);
    text->p = p;
    return 0;
}

/* Added tokens that are keys of the vocabulary have the id of that key. Hugging Face numbers the others from the number
 * of keys on; their ids in the file must be the same. For keys, it ignores the ids in the file. */
int hf_take_added(struct hf_reader *in)
{
    if (check_normalized(in))
        return -1;
    if (in->rules_only)
        return take_unchecked(in);
    struct model *m = in->m;
    uint64_t next = in->n_vocab;
    set_kinds(in);
    for (size_t i = 0; i < in->added.n; i++) {
        struct hf_added *a = &in->added.p[i];
        char show[60];
        struct str text;
        uint32_t id;
        bool same, spelled;
        build_show(show, sizeof show, a->p, a->len, false);
        if (find_key(in, a, &id, &same, &spelled) || take_text(in, a, &text))
            return -1;
        bool keyed = id != MODEL_NO_ID;
        uint64_t want = keyed ? id : next++;
        if (keyed || a->id == HF_NEXT_ID)
            a->id = want;
        if (a->id != want)
            return err_at(
                in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                "added token \"%s\" has the id %llu, but %llu is the one that Hugging Face tokenizers gives it", show,
                (unsigned long long)a->id, (unsigned long long)want);
        /* In a model of characters, the token is also decoded to the text of the key, except for the prefix of
         * Prepend. */
        if (keyed && (text.p != a->p || (!same && !model_of_characters(m))) && may_be_made(in, id))
            return err_at(
                in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                "added token \"%s\" is how token %lu is spelled, but other text becomes that token, too: not supported",
                show, (unsigned long)id);
        if (!keyed && build_token(&in->b, text.p, text.len, false, want))
            return -1;
        const struct model_token *t = &m->token[want];
        /* If text can produce a key only as the added token, the key is only that added token. (In a model of
         * characters, other text may spell the same key.) */
        bool only_added = keyed && t->vocab && !is_unit(m, t) && !build_is_merged(&in->b, id) &&
                          (same || !model_of_characters(m) || !m->ignore_merges);
        if (only_added && build_remove(&in->b, id, text.p, text.len))
            return -1;
        if (build_special(&in->b, (struct model_special){.p = a->p,
                                                         .len = (uint32_t)a->len,
                                                         .id = (uint32_t)want,
                                                         .flags = a->flags,
                                                         .special = a->special,
                                                         .keyed = keyed,
                                                         .whole = only_added && same && spelled && m->ignore_merges}))
            return -1;
    }
    return check_flags(in);
}
