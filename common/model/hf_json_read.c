/* hf_json_read.c - tokenizer.json of Hugging Face tokenizers, read as that library does.
 *
 * What would make it split, merge or number text otherwise than model.h says is an error that names it. What only
 * matters elsewhere is passed over: post_processor (which acts with add_special_tokens=True alone), padding, decoder,
 * offsets. The sources are serialization.rs, added_vocabulary.rs and models/bpe of that project.
 */
#include "core/byte_level.h"
#include "model/model_build.h"
#include "model/model_file.h"
#include "model/model_read.h"
#include "model/model_write.h"
#include "json/json_read.h"

#include <stdlib.h>
#include <string.h>

int model_read_vocab(struct json_reader *r, struct build *b)
{
    if (json_read_object(r))
        return -1;
    for (;;) {
        struct str key;
        uint64_t id;
        int have_id = json_read_try_member(r, &key, &id), more = have_id ? 1 : json_read_raw_key(r, &key);
        if (more <= 0) {
            b->vocab_known = true;
            return more || build_tokens_end(b) ? -1 : 0;
        }
        unsigned char *p = build_room(b, key.len + BYTE_LEVEL_PAD);
        if (!p)
            return -1;
        size_t len = byte_level_get(p, key.p, key.len);
        bool vocab = len != BYTE_LEVEL_NOT && len;
        if (!vocab) {
            if (json_read_utf8(r, key))
                return -1;
            memcpy(p, key.p, key.len);
            len = key.len;
        }
        build_keep(b, len);
        if ((!have_id && json_read_uint(r, &id)) || build_token(b, p, len, vocab, id))
            return -1;
    }
}

struct added {
    const unsigned char *p;
    size_t len;
    uint64_t id;
    bool normalized, special;
};

struct reader {
    struct json_reader r;
    struct build b;
    struct model *m;
    struct added *added;
    size_t n_added, added_cap;
    size_t n_vocab; /* keys of the vocabulary */
    bool byte_level;
};

/* A short string, for messages and comparisons: cut if it is long. null gives "". */
struct pretoken {
    char s[64];
};

static int get_word(struct json_reader *r, struct pretoken *w)
{
    struct str s;
    int null = json_read_null(r);
    w->s[0] = '\0';
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_string(r, &s))
        return -1;
    size_t n = s.len < sizeof w->s ? s.len : sizeof w->s - 1;
    memcpy(w->s, s.p, n);
    w->s[n] = '\0';
    return 0;
}

/* ---- Normalizer ---- */

/* None, or sequences of none. */
static int read_normalizer(struct json_reader *r)
{
    static const char *const keys[] = {"type", "normalizers", NULL};
    struct str key;
    struct pretoken type = {""};
    uint32_t seen = 0;
    int more, rc = json_read_null(r), item = 0;
    if (rc)
        return rc < 0 ? -1 : 0;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &key)) > 0) {
        switch (json_read_which(r, key, keys, &seen)) {
        case 0:
            rc = get_word(r, &type);
            break;
        case 1:
            rc = json_read_array(r);
            while (!rc && (item = json_read_item(r)) > 0)
                rc = read_normalizer(r);
            break;
        case 2:
            rc = json_read_skip(r);
            break;
        default:
            rc = -1;
        }
        if (rc || item < 0)
            return -1;
    }
    if (more < 0)
        return -1;
    if (strcmp(type.s, "Sequence") != 0)
        return json_read_fail(r, "normalizer \"%s\": this changes the text before it is split, which is not supported",
                              type.s);
    return 0;
}

/* ---- Pre-tokenizer ---- */

/* What the object of any type may say. */
struct step {
    struct pretoken type, behavior;
    bool add_prefix_space, use_regex, invert, individual_digits, has_children;
    struct buf regex; /* owned */
    uint32_t seen;
};

enum { TYPE, ADD_PREFIX_SPACE, USE_REGEX, PATTERN, BEHAVIOR, INVERT, INDIVIDUAL_DIGITS, PRETOKENIZERS, N_STEP_KEYS };
static const char *const step_keys[] = {
    "type",   "add_prefix_space",  "use_regex",     "pattern", "behavior",
    "invert", "individual_digits", "pretokenizers", NULL,
};

/* Any text as a regex that matches only it. */
static int escape_regex(struct buf *out, struct str s, struct err *e)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = s.p[i];
        if (c < 0x80 && strchr("\\^$.|?*+()[]{}-#&~/ ", c) && c && buf_put_byte(out, '\\', e))
            return -1;
        if (c ? buf_put_byte(out, c, e) : buf_put_str(out, "\\x00", e))
            return -1;
    }
    return 0;
}

/* {"Regex": "..."} or {"String": "..."} */
static int read_pattern(struct json_reader *r, struct buf *regex)
{
    static const char *const kinds[] = {"Regex", "String", NULL};
    struct str s;
    uint32_t seen = 0;
    int more;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &s)) > 0) {
        int kind = json_read_which(r, s, kinds, &seen);
        if (kind < 0)
            return -1;
        if (kind > 1 || regex->len)
            return json_read_fail(r, "a pattern must be one \"Regex\" or one \"String\"");
        if (json_read_string(r, &s))
            return -1;
        if (!s.len)
            return json_read_fail(r, "an empty pattern splits nothing");
        if (kind == 0 ? buf_put(regex, s.p, s.len, r->e) : escape_regex(regex, s, r->e))
            return -1;
        if (buf_reserve(regex, 1, r->e))
            return -1;
        regex->p[regex->len] = '\0'; /* not counted */
    }
    return more < 0 ? -1 : regex->len ? 0 : json_read_fail(r, "a pattern must have a \"Regex\" or a \"String\"");
}

static int need_keys(struct json_reader *r, const struct step *s, uint32_t keys)
{
    for (int i = 0; i < N_STEP_KEYS; i++) {
        if (keys & ~s->seen & 1U << i)
            return json_read_fail(r, "pre_tokenizer \"%s\" has no \"%s\"", s->type.s, step_keys[i]);
    }
    return 0;
}

/* What in a regex Oniguruma, which Hugging Face tokenizers has, reads otherwise than PCRE2, for messages; or NULL. (It
 * has Ruby's syntax, in which ^ and $ are borders of lines, m lets the dot match newlines, classes may hold classes,
 * and \h is a hexadecimal digit.) */
static const char *read_otherwise(const char *regex, size_t len)
{
    bool in_class = false;
    for (size_t i = 0; i < len; i++) {
        char c = regex[i], next = i + 1 < len ? regex[i + 1] : '\0';
        if (c == '\\') {
            if (next == 'h' || next == 'H')
                return next == 'h' ? "\\h" : "\\H";
            i++;
        } else if (in_class) {
            if (c == '[')
                return "[ in a class";
            if (c == '&' && next == '&')
                return "&& in a class";
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
            i += next == '^';
            i += i + 1 < len && regex[i + 1] == ']'; /* then it is itself */
        } else if (c == '^' || c == '$') {
            return c == '^' ? "^" : "$";
        } else if (c == '(' && next == '?') {
            size_t flags = strspn(regex + i + 2, "imsxn-");
            if (memchr(regex + i + 2, 'm', flags) && i + 2 + flags < len && strchr(":)", regex[i + 2 + flags]))
                return "(?m";
        }
    }
    return model_has_possessive_count((struct str){(const unsigned char *)regex, len}) ? "}+" : NULL;
}

/* Whether each character is in a match: of two well known regexes that is known. */
static bool leaves_no_gaps(const struct buf *regex)
{
    const struct str text = {regex->p, regex->len};
    return str_equal(text, *pattern_at(PATTERN_GPT2)->regex) || str_equal(text, *pattern_at(PATTERN_CL100K)->regex);
}

static int take_split(struct reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    if (need_keys(r, s, 1U << PATTERN | 1U << BEHAVIOR | 1U << INVERT))
        return -1;
    bool isolated = !strcmp(s->behavior.s, "Isolated") && !s->invert;
    bool matches_only = !strcmp(s->behavior.s, "Removed") && s->invert; /* the same if they are all there is */
    if (!isolated && !(matches_only && leaves_no_gaps(&s->regex)))
        return json_read_fail(
            r, "pre_tokenizer Split with behavior \"%s\"%s: only \"Isolated\" without invert is supported",
            s->behavior.s, s->invert ? " and invert" : "");
    const char *other = read_otherwise((const char *)s->regex.p, s->regex.len);
    if (other)
        return json_read_fail(
            r, "the regex has %s, which means something else to Hugging Face tokenizers than to us: not supported",
            other);
    return build_regex(&in->b, (struct str){s->regex.p, s->regex.len});
}

static int take_byte_level(struct reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    if (need_keys(r, s, 1U << ADD_PREFIX_SPACE))
        return -1;
    if (s->add_prefix_space)
        return json_read_fail(
            r, "pre_tokenizer ByteLevel with add_prefix_space: this adds a space to the text, which is not "
               "supported");
    in->byte_level = true;
    return s->use_regex ? build_regex(&in->b, *pattern_at(PATTERN_GPT2)->regex) : 0;
}

static int take_step(struct reader *in, const struct step *s)
{
    const char *type = s->type.s;
    if (s->has_children != !strcmp(type, "Sequence"))
        return json_read_fail(&in->r, "pre_tokenizer \"%s\" %s \"pretokenizers\"", type,
                              s->has_children ? "has" : "has no");
    if (s->has_children)
        return 0;
    if (in->byte_level)
        return json_read_fail(&in->r, "pre_tokenizer \"%s\" after ByteLevel is not supported", type);
    if (!strcmp(type, "ByteLevel"))
        return take_byte_level(in, s);
    if (!strcmp(type, "Split"))
        return take_split(in, s);
    if (!strcmp(type, "Digits")) {
        const char *regex = s->individual_digits ? "\\p{N}" : "\\p{N}+";
        return need_keys(&in->r, s, 1U << INDIVIDUAL_DIGITS) || build_regex(&in->b, str_of(regex)) ? -1 : 0;
    }
    return json_read_fail(&in->r, "pre_tokenizer \"%s\" is not supported, only Split, Digits and ByteLevel", type);
}

static int read_pre_tokenizer(struct reader *in);

static int read_step_key(struct reader *in, struct step *s, int key)
{
    struct json_reader *r = &in->r;
    int item;
    switch (key) {
    case TYPE:
        return get_word(r, &s->type);
    case ADD_PREFIX_SPACE:
        return json_read_bool(r, &s->add_prefix_space);
    case USE_REGEX:
        return json_read_bool(r, &s->use_regex);
    case PATTERN:
        return json_read_peek(r) == '{' ? read_pattern(r, &s->regex) : json_read_skip(r); /* of another type */
    case BEHAVIOR:
        return get_word(r, &s->behavior);
    case INVERT:
        return json_read_bool(r, &s->invert);
    case INDIVIDUAL_DIGITS:
        return json_read_bool(r, &s->individual_digits);
    case PRETOKENIZERS:
        s->has_children = true;
        if (json_read_array(r))
            return -1;
        while ((item = json_read_item(r)) > 0) {
            if (read_pre_tokenizer(in))
                return -1;
        }
        return item;
    case N_STEP_KEYS:
        return json_read_skip(r);
    default:
        return -1;
    }
}

static int read_pre_tokenizer(struct reader *in)
{
    struct json_reader *r = &in->r;
    struct str key;
    struct step s = {.use_regex = true};
    int more = 0, rc = json_read_object(r);
    if (rc)
        return -1;
    while (!rc && (more = json_read_key(r, &key)) > 0)
        rc = read_step_key(in, &s, json_read_which(r, key, step_keys, &s.seen));
    if (!rc)
        rc = more < 0 ? -1 : take_step(in, &s);
    buf_free(&s.regex);
    return rc;
}

/* ---- Added tokens ---- */

static int read_added(struct reader *in)
{
    enum { ID, CONTENT, SINGLE_WORD, LSTRIP, RSTRIP, NORMALIZED, SPECIAL, N };
    static const char *const keys[] = {"id",     "content",    "single_word", "lstrip",
                                       "rstrip", "normalized", "special",     NULL};
    struct json_reader *r = &in->r;
    struct str s;
    struct added a = {0};
    bool flag[N] = {0};
    uint32_t seen = 0;
    int more;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &s)) > 0) {
        int rc, key = json_read_which(r, s, keys, &seen);
        switch (key) {
        case -1:
            return -1;
        case ID:
            rc = json_read_uint(r, &a.id);
            break;
        case CONTENT:
            rc = json_read_string(r, &s);
            if (!rc && s.len > INT32_MAX)
                return json_read_fail(r, "the added token is too long");
            if (!rc) {
                a.p = build_copy(&in->b, s.p, s.len);
                a.len = s.len;
                rc = a.p ? 0 : -1;
            }
            break;
        case N:
            rc = json_read_skip(r);
            break;
        default:
            rc = json_read_bool(r, &flag[key]);
        }
        if (rc)
            return -1;
    }
    if (more < 0)
        return -1;
    char show[60];
    if (!(seen & 1U << ID) || !a.p || !a.len)
        return json_read_fail(r, "an added token without id or content");
    build_show(show, sizeof show, a.p, a.len, false);
    for (int key = SINGLE_WORD; key <= RSTRIP; key++) {
        if (flag[key])
            return json_read_fail(r, "added token \"%s\" with \"%s\": not supported", show, keys[key]);
    }
    a.normalized = flag[NORMALIZED];
    a.special = flag[SPECIAL];
    if (array_grow(&in->added, &in->added_cap, in->n_added + 1, sizeof a, "the added tokens", r->e))
        return -1;
    in->added[in->n_added++] = a;
    return 0;
}

static int read_added_tokens(struct reader *in)
{
    int item;
    if (json_read_array(&in->r))
        return -1;
    while ((item = json_read_item(&in->r)) > 0) {
        if (read_added(in))
            return -1;
    }
    return item;
}

/* What is matched first in one pass is not matched by the other: whether a token of one kind has a place in common with
 * one of the other, so that the two passes of Hugging Face are not one. */
static bool may_meet(const struct added *a, const struct added *b)
{
    const struct added *s = a->len < b->len ? a : b, *l = s == a ? b : a;
    if (memmem(l->p, l->len, s->p, s->len))
        return true;
    for (size_t n = 1; n < s->len; n++) {
        if (!memcmp(l->p, s->p + s->len - n, n) || !memcmp(s->p, l->p + l->len - n, n))
            return true;
    }
    return false;
}

static int check_kinds(struct reader *in)
{
    const double most = 1e9; /* steps, a second or so */
    double work = 0;
    size_t n_normalized = 0;
    for (size_t i = 0; i < in->n_added; i++)
        n_normalized += in->added[i].normalized;
    if (!n_normalized || n_normalized == in->n_added)
        return 0;
    for (size_t i = 0; i < in->n_added; i++) {
        const struct added *a = &in->added[i];
        for (size_t k = 0; !a->normalized && k < in->n_added; k++) {
            const struct added *b = &in->added[k];
            char one[60], other[60];
            work += 1;
            if (!b->normalized)
                continue;
            work += (double)a->len * (double)b->len;
            if (work > most)
                return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                              "too many added tokens with and without \"normalized\"");
            if (may_meet(a, b))
                return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                              "the added tokens \"%s\" and \"%s\" can overlap, and one is \"normalized\", the other "
                              "not: not supported",
                              build_show(one, sizeof one, a->p, a->len, false),
                              build_show(other, sizeof other, b->p, b->len, false));
        }
    }
    return 0;
}

/* Which token of the vocabulary has this content as its key; MODEL_NO_ID: none. *same: as its bytes, too. */
static int find_key(struct reader *in, const struct added *a, uint32_t *id, bool *same)
{
    unsigned char *bytes = build_room(&in->b, a->len + BYTE_LEVEL_PAD + MODEL_PAD); /* not kept */
    if (!bytes)
        return -1;
    size_t n = byte_level_get(bytes, a->p, a->len);
    if (n == BYTE_LEVEL_NOT) {
        *same = true;
        *id = build_find(&in->b, a->p, a->len, false);
    } else {
        *same = n == a->len && !memcmp(bytes, a->p, n);
        *id = build_find(&in->b, bytes, n, true);
    }
    return 0;
}

/* Added tokens that are keys of the vocabulary have that id, others the next one that is free, as Hugging Face counts;
 * the file must say the same. */
static int take_added(struct reader *in)
{
    struct model *m = in->m;
    uint64_t next = in->n_vocab;
    for (size_t i = 0; i < in->n_added; i++) {
        const struct added *a = &in->added[i];
        char show[60];
        uint32_t id;
        bool same;
        build_show(show, sizeof show, a->p, a->len, false);
        if (find_key(in, a, &id, &same))
            return -1;
        bool keyed = id != MODEL_NO_ID;
        uint64_t want = keyed ? id : next;
        if (a->id != want)
            return err_at(in->r.e, EX_DATAERR, in->r.name, ERR_NO_OFFSET,
                          "added token \"%s\" has the id %llu, but %llu %s", show, (unsigned long long)a->id,
                          (unsigned long long)want,
                          keyed ? "in the vocabulary" : "is the one that Hugging Face tokenizers gives it");
        if (!keyed && build_token(&in->b, a->p, a->len, false, a->id))
            return -1;
        if (a->id >= next)
            next = a->id + 1;
        struct model_token *t = &m->token[a->id];
        /* A key that no text can reach but as the added token is only that. */
        if (keyed && t->vocab && t->len > 1 && !build_is_merged(&in->b, id) && (same || !m->ignore_merges))
            *t = (struct model_token){a->p, (uint32_t)a->len, false};
        if (build_special(&in->b, (struct model_special){a->p, (uint32_t)a->len, (uint32_t)a->id, a->special, keyed}))
            return -1;
    }
    return check_kinds(in);
}

/* ---- Model ---- */

static int bad_merge(struct reader *in, struct str s)
{
    return json_read_utf8(&in->r, s)
               ? -1
               : json_read_fail(&in->r, "merge %zu: \"%.*s\" is not in byte-to-unicode form",
                                in->m->n_merges + in->b.n_wait, (int)(s.len < 60 ? s.len : 60), s.p);
}

/* One side of a merge: its length, or BYTE_LEVEL_NOT when it failed. */
static size_t take_side(struct reader *in, size_t before, struct str s)
{
    unsigned char *to = build_merge_room(&in->b, before + s.len);
    if (!to)
        return BYTE_LEVEL_NOT;
    size_t n = byte_level_get(to + before, s.p, s.len);
    if (n == BYTE_LEVEL_NOT || !n) {
        bad_merge(in, s);
        return BYTE_LEVEL_NOT;
    }
    return n;
}

static size_t read_side(struct reader *in, size_t before)
{
    struct str s;
    return json_read_raw_string(&in->r, &s) ? BYTE_LEVEL_NOT : take_side(in, before, s);
}

/* ["left", "right"] */
static int read_pair(struct reader *in)
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

/* "left right" */
static int read_line(struct reader *in)
{
    struct str s;
    if (json_read_raw_string(&in->r, &s))
        return -1;
    const unsigned char *space = memchr(s.p, ' ', s.len);
    size_t n = space ? (size_t)(space - s.p) : s.len;
    unsigned char *to = build_merge_room(&in->b, s.len);
    if (!to)
        return -1;
    size_t left = byte_level_get(to, s.p, n);
    size_t right =
        space && left != BYTE_LEVEL_NOT ? byte_level_get(to + left, space + 1, s.len - n - 1) : BYTE_LEVEL_NOT;
    if (right == BYTE_LEVEL_NOT || !left || !right) /* another space is not a spelling */
        return bad_merge(in, s);
    return build_merge(&in->b, left, right);
}

static int read_merges(struct reader *in)
{
    struct json_reader *r = &in->r;
    int more;
    if (json_read_array(r))
        return -1;
    for (;;) {
        struct str pair[2];
        while (json_read_try_pair(r, pair)) {
            size_t left = take_side(in, 0, pair[0]);
            size_t right = left == BYTE_LEVEL_NOT ? BYTE_LEVEL_NOT : take_side(in, left, pair[1]);
            if (right == BYTE_LEVEL_NOT || build_merge(&in->b, left, right))
                return -1;
        }
        if ((more = json_read_item(r)) <= 0)
            return more;
        int c = json_read_peek(r);
        in->m->merges_as_strings = c == '"';
        if (c < 0 || (c == '"' ? read_line(in) : read_pair(in)))
            return -1;
    }
}

/* A number or null: whether it is other than 0. */
static int read_dropout(struct json_reader *r)
{
    int null = json_read_null(r);
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_peek(r) != '0')
        return json_read_fail(r, "dropout: a number or null should be here");
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
    struct pretoken w;
    if (get_word(r, &w))
        return -1;
    return w.s[0] ? json_read_fail(r, "%s \"%s\": not supported", name, w.s) : 0;
}

static int read_model(struct reader *in)
{
    enum { MTYPE, DROPOUT, PREFIX, SUFFIX, BYTE_FALLBACK, IGNORE_MERGES, VOCAB, MERGES, N };
    static const char *const keys[] = {"type",
                                       "dropout",
                                       "continuing_subword_prefix",
                                       "end_of_word_suffix",
                                       "byte_fallback",
                                       "ignore_merges",
                                       "vocab",
                                       "merges",
                                       NULL};
    struct json_reader *r = &in->r;
    struct str s;
    struct pretoken type;
    uint32_t seen = 0;
    bool fallback = false;
    int more;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &s)) > 0) {
        int rc, key = json_read_which(r, s, keys, &seen);
        switch (key) {
        case -1:
            return -1;
        case MTYPE:
            rc = get_word(r, &type);
            if (!rc && strcmp(type.s, "BPE") != 0)
                return json_read_fail(r, "the model's type is \"%s\"; only BPE is supported", type.s);
            break;
        case DROPOUT:
            rc = read_dropout(r);
            break;
        case PREFIX:
        case SUFFIX:
            rc = check_empty(r, keys[key]);
            break;
        case BYTE_FALLBACK:
            rc = json_read_bool(r, &fallback);
            if (!rc && fallback)
                return json_read_fail(r, "byte_fallback: not supported, only byte-level BPE");
            break;
        case IGNORE_MERGES:
            rc = json_read_bool(r, &in->m->ignore_merges);
            break;
        case VOCAB:
            rc = model_read_vocab(r, &in->b);
            in->n_vocab = in->b.n_tokens;
            break;
        case MERGES:
            rc = read_merges(in);
            break;
        default:
            rc = json_read_skip(r);
        }
        if (rc)
            return -1;
    }
    if (more < 0)
        return -1;
    if (!(seen & 1U << VOCAB) || !(seen & 1U << MERGES))
        return json_read_fail(r, "the model has no \"%s\"", seen & 1U << VOCAB ? "merges" : "vocab");
    return build_merges_end(&in->b);
}

/* ---- The whole ---- */

static int read_top(struct reader *in)
{
    enum { VERSION, TRUNCATION, ADDED_TOKENS, NORMALIZER, PRE_TOKENIZER, MODEL, N };
    static const char *const keys[] = {"version", "truncation", "added_tokens", "normalizer", "pre_tokenizer",
                                       "model",   NULL};
    struct json_reader *r = &in->r;
    struct str key;
    struct pretoken version;
    uint32_t seen = 0;
    int more, rc;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &key)) > 0) {
        switch (json_read_which(r, key, keys, &seen)) {
        case VERSION:
            rc = get_word(r, &version);
            if (!rc && strcmp(version.s, "1.0") != 0)
                return json_read_fail(r, "version \"%s\" of tokenizer.json; only 1.0 is known", version.s);
            break;
        case TRUNCATION:
            rc = json_read_null(r);
            if (rc == 0)
                return json_read_fail(r, "truncation would cut off tokens: not supported; set it to null");
            rc = rc < 0 ? -1 : 0;
            break;
        case ADDED_TOKENS:
            rc = read_added_tokens(in);
            break;
        case NORMALIZER:
            rc = read_normalizer(r);
            break;
        case PRE_TOKENIZER:
            rc = json_read_null(r);
            rc = rc ? (rc < 0 ? -1 : 0) : read_pre_tokenizer(in);
            break;
        case MODEL:
            rc = read_model(in);
            break;
        case N:
            rc = json_read_skip(r);
            break;
        default:
            rc = -1;
        }
        if (rc)
            return -1;
    }
    if (more < 0 || json_read_end(r))
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

int model_read_json(struct model *m, int fd, const char *name, struct buf *head, struct err *e)
{
    struct reader in = {.m = m};
    int rc = -1;
    /* A token has a key and a merge: some 85 bytes when pretty, half of that when compact. */
    if (build_init(&in.b, m, name, model_file_size(fd) / 80, e))
        buf_free(head);
    else if (!json_read_init(&in.r, fd, name, head, e))
        rc = read_top(&in) || take_added(&in) || build_end(&in.b) ? -1 : 0;
    if (!rc) {
        bool gpt2 = m->n_regex == 1 && str_equal(m->regex[0], *pattern_at(PATTERN_GPT2)->regex);
        m->format = MODEL_JSON;
        m->pattern = gpt2 ? "gpt2" : m->n_regex ? NULL : "bytes";
    }
    json_read_free(&in.r);
    free(in.added);
    build_free(&in.b);
    return rc;
}
