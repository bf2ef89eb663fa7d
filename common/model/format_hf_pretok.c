/* format_hf_pretok.c - the pre_tokenizer of tokenizer.json: how text is split.
 *
 * Split, Digits and ByteLevel become regexes, each of which splits the pieces of those before it. Whatever behaves
 * differently, or has a regex that Hugging Face tokenizers (Oniguruma) may read differently from us (pretok/regex.h),
 * is an error.
 */
#include "model/format_hf_internal.h"
#include "pretok/regex.h"

#include <string.h>

enum {
    TYPE,
    ADD_PREFIX_SPACE,
    TRIM_OFFSETS,
    USE_REGEX,
    PATTERN,
    BEHAVIOR,
    INVERT,
    INDIVIDUAL_DIGITS,
    PRETOKENIZERS,
    N_STEP_KEYS
};
static const char *const step_keys[] = {
    "type",     "add_prefix_space", "trim_offsets",      "use_regex",     "pattern",
    "behavior", "invert",           "individual_digits", "pretokenizers", NULL,
};

/* The settings of a step, of whatever type. */
struct step {
    struct hf_reader *in;
    struct hf_word type, behavior;
    bool flag[N_STEP_KEYS]; /* of the keys whose value is one */
    bool has_children;
    struct buf regex; /* owned */
    uint32_t seen;
};

/* Appends a regex that matches exactly the string s. */
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

/* Whether every character is in some match: known for two common regexes. */
static bool leaves_no_gaps(const struct buf *regex)
{
    const struct str text = {regex->p, regex->len};
    return str_equal(text, *pattern_at(PATTERN_GPT2)->regex) || str_equal(text, *pattern_at(PATTERN_CL100K)->regex);
}

static int take_split(struct hf_reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    if (need_keys(r, s, 1U << PATTERN | 1U << BEHAVIOR | 1U << INVERT))
        return -1;
    if (!s->regex.len)
        return json_read_fail(r, "pre_tokenizer Split: \"pattern\" must be an object with a \"Regex\" or a \"String\"");
    bool isolated = !strcmp(s->behavior.s, "Isolated") && !s->flag[INVERT];
    bool matches_only =
        !strcmp(s->behavior.s, "Removed") && s->flag[INVERT]; /* the same as isolated, if there are no gaps */
    if (!isolated && !(matches_only && leaves_no_gaps(&s->regex)))
        return json_read_fail(
            r, "pre_tokenizer Split with behavior \"%s\"%s: only \"Isolated\" without invert is supported",
            s->behavior.s, s->flag[INVERT] ? " and invert" : "");
    const struct str regex = buf_str(&s->regex);
    struct err why;
    if (!pattern_by_regex(&regex, 1, PATTERN_ONIGURUMA) && regex_check(regex, 1U << PATTERN_ONIGURUMA, 0, &why))
        return json_read_fail(r, "%s", why.msg);
    return build_regex(&in->b, regex);
}

static int take_byte_level(struct hf_reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    if (need_keys(r, s, 1U << ADD_PREFIX_SPACE | 1U << TRIM_OFFSETS))
        return -1;
    if (s->flag[ADD_PREFIX_SPACE]) {
        if (in->m->n_regex)
            return json_read_fail(r, "pre_tokenizer ByteLevel with add_prefix_space after another step, which adds a "
                                     "space to each piece: not supported");
        if (build_prefix(&in->b, str_of(" ")))
            return -1;
    }
    in->byte_level = true;
    return s->flag[USE_REGEX] ? build_regex(&in->b, *pattern_at(PATTERN_GPT2)->regex) : 0;
}

static int take_step(struct hf_reader *in, const struct step *s)
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
        const char *regex = s->flag[INDIVIDUAL_DIGITS] ? PATTERN_DIGIT : PATTERN_DIGIT "+";
        if (need_keys(&in->r, s, 1U << INDIVIDUAL_DIGITS) || build_regex(&in->b, str_of(regex)))
            return -1;
        return 0;
    }
    return json_read_fail(&in->r, "pre_tokenizer \"%s\" is not supported, only Split, Digits and ByteLevel", type);
}

static int read_step_key(void *ctx, int key)
{
    struct step *s = ctx;
    struct json_reader *r = &s->in->r;
    int item;
    switch (key) {
    case TYPE:
        return hf_read_word(r, &s->type);
    case PATTERN:
        return json_read_peek(r) == '{' ? read_pattern(r, &s->regex) : json_read_skip(r); /* of another type of step */
    case BEHAVIOR:
        return hf_read_word(r, &s->behavior);
    case PRETOKENIZERS:
        s->has_children = true;
        if (json_read_array(r))
            return -1;
        while ((item = json_read_item(r)) > 0) {
            if (hf_read_pre_tokenizer(s->in))
                return -1;
        }
        return item;
    default: /* trim_offsets is of no account */
        return json_read_bool(r, &s->flag[key]);
    }
}

int hf_read_pre_tokenizer(struct hf_reader *in)
{
    struct step s = {.in = in, .flag[USE_REGEX] = true};
    int rc = json_read_members(&in->r, step_keys, &s.seen, read_step_key, &s) || take_step(in, &s) ? -1 : 0;
    buf_free(&s.regex);
    return rc;
}
