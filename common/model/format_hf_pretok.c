/* format_hf_pretok.c - the pre_tokenizer of tokenizer.json: how text is split.
 *
 * Each step becomes a regex and the way it splits the pieces from the previous steps (enum split_how). A regex that
 * Hugging Face tokenizers (Oniguruma) may interpret differently from pretok/regex.h is an error.
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
    DELIMITER,
    REPLACEMENT,
    PREPEND_SCHEME,
    SPLIT,
    PRETOKENIZERS,
    N_STEP_KEYS
};
static const char *const step_keys[] = {
    "type",           "add_prefix_space",
    "trim_offsets",   "use_regex",
    "pattern",        "behavior",
    "invert",         "individual_digits",
    "delimiter",      "replacement",
    "prepend_scheme", "split",
    "pretokenizers",  NULL,
};

/* The character classes of tokenizers 0.23.3, whose parts use different versions of Unicode; found by trying all
 * characters. Punctuation: the ASCII symbols and the punctuation of Unicode 8, which is that of Unicode 16 without
 * later additions and with two characters that left it. Whitespace: \w of the regex crate, Unicode 16. White space is
 * the same in all versions. */
#define PUNCTUATION                                                                                                    \
    "[!-/:-@\\[-`{-~\\p{P}\\x{166D}\\x{111C9}](?<!["                                                                   \
    "\\x{61D}\\x{9FD}\\x{A76}\\x{C77}\\x{C84}\\x{1B4E}-\\x{1B4F}\\x{1B7D}-\\x{1B7F}"                                   \
    "\\x{2E43}-\\x{2E4F}\\x{2E52}-\\x{2E5D}\\x{10D6E}\\x{10EAD}\\x{10F55}-\\x{10F59}"                                  \
    "\\x{10F86}-\\x{10F89}\\x{113D4}-\\x{113D5}\\x{113D7}-\\x{113D8}\\x{1144B}-\\x{1144F}"                             \
    "\\x{1145A}-\\x{1145B}\\x{1145D}\\x{11660}-\\x{1166C}\\x{116B9}\\x{1183B}\\x{11944}-\\x{11946}"                    \
    "\\x{119E2}\\x{11A3F}-\\x{11A46}\\x{11A9A}-\\x{11A9C}\\x{11A9E}-\\x{11AA2}\\x{11B00}-\\x{11B09}"                   \
    "\\x{11BE1}\\x{11C41}-\\x{11C45}\\x{11C70}-\\x{11C71}\\x{11EF7}-\\x{11EF8}\\x{11F43}-\\x{11F4F}"                   \
    "\\x{11FFF}\\x{12FF1}-\\x{12FF2}\\x{16D6D}-\\x{16D6F}\\x{16E97}-\\x{16E9A}\\x{16FE2}\\x{1E5FF}"                    \
    "\\x{1E95E}-\\x{1E95F}"                                                                                            \
    "])"
#define WORD_MEMBERS                                                                                                   \
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200C}\\x{200D}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}"                      \
    "\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"
#define WORD "[" WORD_MEMBERS "]"

/* The settings of a step, of any type. */
struct step {
    struct hf_reader *in;
    struct hf_word type, behavior, replacement, scheme;
    bool flag[N_STEP_KEYS]; /* by key, for keys with a boolean value */
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

int hf_read_pattern(struct json_reader *r, struct buf *regex)
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
        regex->p[regex->len] = '\0'; /* not included in len */
    }
    return more < 0 ? -1 : regex->len ? 0 : json_read_fail(r, "a pattern must have a \"Regex\" or a \"String\"");
}

bool hf_pattern_is(const struct buf *regex, const char *s)
{
    struct str p = buf_str(regex);
    if (p.len && p.p[0] == '\\') {
        p.p++;
        p.len--;
    }
    return str_equal(p, str_of(s));
}

static int need_keys(struct json_reader *r, const struct step *s, uint32_t keys)
{
    for (int i = 0; i < N_STEP_KEYS; i++) {
        if (keys & ~s->seen & 1U << i)
            return json_read_fail(r, "pre_tokenizer \"%s\" has no \"%s\"", s->type.s, step_keys[i]);
    }
    return 0;
}

/* Adds a step that splits with a regex. */
static int add_step(struct hf_reader *in, struct str regex, enum split_how split)
{
    const struct pattern *known = pattern_by_regex(&regex, 1, PATTERN_ONIGURUMA);
    if (split == SPLIT_MATCHES && known && !known->gaps)
        split = SPLIT_ISOLATED;
    return build_split(&in->b, regex, (unsigned)split | (in->byte_level ? SPLIT_BYTE_LEVEL : 0));
}

/* Maps a behavior to how it splits; invert swaps matches and gaps. */
static int read_behavior(struct json_reader *r, const struct step *s, bool invert, enum split_how *split)
{
    static const struct behavior {
        const char *name;
        enum split_how split, inverted;
    } behaviors[] = {
        {"Isolated", SPLIT_ISOLATED, SPLIT_ISOLATED},       {"Removed", SPLIT_GAPS, SPLIT_MATCHES},
        {"MergedWithPrevious", SPLIT_PREVIOUS, SPLIT_NEXT}, {"MergedWithNext", SPLIT_NEXT, SPLIT_PREVIOUS},
        {"Contiguous", SPLIT_CONTIGUOUS, SPLIT_CONTIGUOUS},
    };
    for (size_t i = 0; i < sizeof behaviors / sizeof *behaviors; i++) {
        *split = invert ? behaviors[i].inverted : behaviors[i].split;
        if (!strcmp(s->behavior.s, behaviors[i].name))
            return 0;
    }
    return json_read_fail(r, "pre_tokenizer %s: there is no behavior \"%s\"", s->type.s, s->behavior.s);
}

/* Adds a regex of the file: one of a built-in pattern, or one that means the same in our dialect. */
static int take_regex(struct hf_reader *in, struct str regex, enum split_how split)
{
    struct buf written = {0};
    struct err why;
    if (pattern_by_regex(&regex, 1, PATTERN_ONIGURUMA))
        return add_step(in, regex, split);
    int rc = regex_from_oniguruma(&written, regex, in->r.e);
    if (!rc && regex_check(buf_str(&written), 1U << PATTERN_ONIGURUMA, 0, &why))
        rc = json_read_fail(&in->r, "%s%s", why.msg,
                            str_equal(buf_str(&written), regex) ? "" : " (with \\w, \\b and the like written out)");
    if (!rc)
        rc = add_step(in, buf_str(&written), split);
    buf_free(&written);
    return rc;
}

static int take_split(struct hf_reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    enum split_how split;
    if (need_keys(r, s, 1U << PATTERN | 1U << BEHAVIOR | 1U << INVERT))
        return -1;
    if (in->metaspace.replace && hf_pattern_is(&s->regex, " "))
        return 0; /* no spaces remain after Replace */
    if (!s->regex.len)
        return json_read_fail(r, "pre_tokenizer Split: \"pattern\" must be an object with a \"Regex\" or a \"String\"");
    if (read_behavior(r, s, s->flag[INVERT], &split))
        return -1;
    return take_regex(in, buf_str(&s->regex), split);
}

/* As in Hugging Face, the default scheme is "always", and add_prefix_space, in older files, must not contradict it. */
static int take_metaspace(struct hf_reader *in, const struct step *s)
{
    struct hf_metaspace *to = &in->metaspace;
    const char *scheme = s->seen & 1U << PREPEND_SCHEME ? s->scheme.s : "always";
    if (need_keys(&in->r, s, 1U << REPLACEMENT))
        return -1;
    if (strcmp(s->replacement.s, METASPACE) || in->m->n_regex || to->pretokenizer ||
        (s->seen & 1U << ADD_PREFIX_SPACE && !s->flag[ADD_PREFIX_SPACE] && strcmp(scheme, "never")) ||
        (strcmp(scheme, "always") && strcmp(scheme, "first") && strcmp(scheme, "never")))
        return json_read_fail(&in->r,
                              "pre_tokenizer Metaspace with these settings, or after another step: not supported");
    to->pretokenizer = true;
    to->split = s->flag[SPLIT];
    memcpy(to->scheme.s, scheme, strlen(scheme) + 1);
    return 0;
}

/* After this step, the text is in byte-to-unicode form: SPLIT_BYTE_LEVEL. */
static int take_byte_level(struct hf_reader *in, const struct step *s)
{
    struct json_reader *r = &in->r;
    if (need_keys(r, s, 1U << ADD_PREFIX_SPACE | 1U << TRIM_OFFSETS))
        return -1;
    if (in->byte_level)
        return json_read_fail(r, "a second pre_tokenizer ByteLevel, which would map bytes twice, is not supported");
    if (s->flag[ADD_PREFIX_SPACE]) {
        if (in->m->n_regex)
            return json_read_fail(r, "pre_tokenizer ByteLevel with add_prefix_space after another step, which adds a "
                                     "space to each piece: not supported");
        if (build_prefix(&in->b, str_of(" ")))
            return -1;
    }
    int rc = s->flag[USE_REGEX] ? add_step(in, *pattern_at(PATTERN_GPT2)->regex, SPLIT_ISOLATED) : 0;
    in->byte_level = true;
    return rc;
}

static int take_digits(struct hf_reader *in, const struct step *s)
{
    const char *regex = s->flag[INDIVIDUAL_DIGITS] ? PATTERN_DIGIT : PATTERN_DIGIT "+";
    return need_keys(&in->r, s, 1U << INDIVIDUAL_DIGITS) ? -1 : add_step(in, str_of(regex), SPLIT_ISOLATED);
}

static int take_punctuation(struct hf_reader *in, const struct step *s)
{
    enum split_how split = SPLIT_ISOLATED;
    bool given = s->seen & 1U << BEHAVIOR;
    return given && read_behavior(&in->r, s, false, &split) ? -1 : add_step(in, str_of(PUNCTUATION), split);
}

static int take_whitespace(struct hf_reader *in, const struct step *s)
{
    (void)s;
    return add_step(in, str_of(WORD "+|[^\\s" WORD_MEMBERS "]+"), SPLIT_MATCHES);
}

static int take_whitespace_split(struct hf_reader *in, const struct step *s)
{
    (void)s;
    return add_step(in, str_of("\\s"), SPLIT_GAPS);
}

static int take_bert(struct hf_reader *in, const struct step *s)
{
    return take_whitespace_split(in, s) ? -1 : add_step(in, str_of(PUNCTUATION), SPLIT_ISOLATED);
}

static int take_char_delimiter(struct hf_reader *in, const struct step *s)
{
    return need_keys(&in->r, s, 1U << DELIMITER) ? -1 : add_step(in, buf_str(&s->regex), SPLIT_GAPS);
}

static int take_step(struct hf_reader *in, const struct step *s)
{
    static const struct kind {
        const char *type;
        int (*take)(struct hf_reader *in, const struct step *s);
    } kinds[] = {
        {"ByteLevel", take_byte_level},  {"Split", take_split},
        {"Digits", take_digits},         {"Punctuation", take_punctuation},
        {"Whitespace", take_whitespace}, {"WhitespaceSplit", take_whitespace_split},
        {"BertPreTokenizer", take_bert}, {"CharDelimiterSplit", take_char_delimiter},
        {"Metaspace", take_metaspace},
    };
    const char *type = s->type.s;
    if (s->has_children != !strcmp(type, "Sequence"))
        return json_read_fail(&in->r, "pre_tokenizer \"%s\" %s \"pretokenizers\"", type,
                              s->has_children ? "has" : "has no");
    if (s->has_children)
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(type, kinds[i].type))
            return kinds[i].take(in, s);
    return json_read_fail(&in->r, "pre_tokenizer \"%s\" is not supported; see bpe-model(1)", type);
}

/* Reads a string of one character. */
static int read_delimiter(struct json_reader *r, struct buf *regex)
{
    struct str s;
    size_t n = 0;
    if (json_read_string(r, &s))
        return -1;
    for (size_t i = 0; i < s.len; i++)
        n += (s.p[i] & 0xC0) != 0x80;
    return n != 1 ? json_read_fail(r, "a \"delimiter\" must be one character") : escape_regex(regex, s, r->e);
}

static int read_step_key(void *ctx, int key)
{
    struct step *s = ctx;
    struct json_reader *r = &s->in->r;
    int item, null;
    switch (key) {
    case TYPE:
        return hf_read_word(r, &s->type);
    case PATTERN:
        return json_read_peek(r) == '{' ? hf_read_pattern(r, &s->regex)
                                        : json_read_skip(r); /* belongs to another type of step */
    case BEHAVIOR:
        return hf_read_word(r, &s->behavior);
    case DELIMITER:
        return read_delimiter(r, &s->regex);
    case REPLACEMENT:
        return hf_read_word(r, &s->replacement);
    case PREPEND_SCHEME:
        return hf_read_word(r, &s->scheme);
    case PRETOKENIZERS:
        s->has_children = true;
        if (json_read_array(r))
            return -1;
        while ((item = json_read_item(r)) > 0) {
            if (hf_read_pre_tokenizer(s->in))
                return -1;
        }
        return item;
    case ADD_PREFIX_SPACE:
    case SPLIT:
        null = hf_read_flag(r, &s->flag[key]);
        s->seen &= null > 0 ? ~(1U << key) : ~0U; /* for Metaspace, null means no key; others need the key */
        return null < 0 ? -1 : 0;
    default: /* trim_offsets has no effect here */
        return json_read_bool(r, &s->flag[key]);
    }
}

int hf_read_pre_tokenizer(struct hf_reader *in)
{
    struct step s = {.in = in, .flag[USE_REGEX] = true, .flag[SPLIT] = true};
    int rc = json_read_members(&in->r, step_keys, &s.seen, read_step_key, &s) || take_step(in, &s) ? -1 : 0;
    buf_free(&s.regex);
    return rc;
}
