/* format_tekken.c - Mistral's tekken.json: the regex, a list of ranks as in a .tiktoken file, and a list of special
 * tokens. Read as mistral_common reads it (tokens/tokenizers/tekken.py of that project).
 *
 * The special tokens have the first default_num_special_tokens ids, named by the file or <SPECIAL_n>; the ranks follow.
 * Ranks beyond default_vocab_size are left out. Settings for images, audio and chats are ignored. (mistral_common does
 * not recognize special tokens in text: it encodes text like --special=text.)
 */
#include "base/sys/base64.h"
#include "model/formats.h"
#include "model/model_build.h"
#include "pretok/regex.h"
#include "json/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPECIAL = 1 << 20 };

struct tekken {
    struct json_reader r;
    struct build b;
    const struct model_source *from;
    struct str regex;
    char version[8]; /* truncated if it is longer */
    uint64_t vocab_size, n_special;
    struct str *token, *special; /* owned, in order; their bytes belong to the model */
    size_t n_tokens, tokens_cap, n_named, named_cap;
    bool has_special; /* the file lists special tokens */
};

/* ---- Members ---- */

static int add(struct tekken *t, struct str **list, size_t *n, size_t *cap, struct str item)
{
    if (array_grow(list, cap, *n + 1, sizeof item, "the tokens", t->r.e))
        return -1;
    (*list)[(*n)++] = item;
    return 0;
}

enum { PATTERN, VOCAB_SIZE, N_SPECIAL, VERSION };

static int read_config_key(void *ctx, int key)
{
    struct tekken *t = ctx;
    struct str s;
    if (key == VOCAB_SIZE || key == N_SPECIAL)
        return json_read_uint(&t->r, key == VOCAB_SIZE ? &t->vocab_size : &t->n_special);
    if (json_read_string(&t->r, &s))
        return -1;
    if (key == VERSION) {
        snprintf(t->version, sizeof t->version, "%.*s", (int)(s.len < sizeof t->version ? s.len : sizeof t->version),
                 (const char *)s.p);
        return 0;
    }
    t->regex = (struct str){build_copy(&t->b, s.p, s.len), s.len};
    return t->regex.p ? 0 : -1;
}

static int read_config(struct tekken *t)
{
    static const char *const keys[] = {"pattern", "default_vocab_size", "default_num_special_tokens", "version", NULL};
    uint32_t seen = 0;
    struct err why;
    if (json_read_members(&t->r, keys, &seen, read_config_key, t))
        return -1;
    for (int key = 0; keys[key]; key++) {
        if (!(seen & 1U << key))
            return json_read_fail(&t->r, "config without \"%s\"", keys[key]);
    }
    if (regex_check(t->regex, 1U << PATTERN_PCRE, 0, &why))
        return json_read_fail(&t->r, "%s", why.msg);
    if (t->n_special > t->vocab_size || t->n_special > MAX_SPECIAL)
        return json_read_fail(&t->r, "default_num_special_tokens is %llu: too many", (unsigned long long)t->n_special);
    return 0;
}

/* A token or a special token: an object with a rank and a string. */
struct entry {
    struct tekken *t;
    uint64_t rank;
    struct str text;
};

enum { RANK, TEXT };

static int read_token_key(void *ctx, int key)
{
    struct entry *in = ctx;
    struct tekken *t = in->t;
    struct str s;
    if (key == RANK)
        return json_read_uint(&t->r, &in->rank);
    if (json_read_string(&t->r, &s))
        return -1;
    unsigned char *to = model_room(t->b.m, s.len, t->r.e);
    if (!to)
        return -1;
    size_t len = base64_get(to, s.p, s.len);
    if (len == SIZE_MAX || !len)
        return json_read_fail(&t->r, "token_bytes of rank %zu is not a token in base64", t->n_tokens);
    model_keep(t->b.m, len);
    in->text = (struct str){to, len};
    return 0;
}

static int read_special_key(void *ctx, int key)
{
    struct entry *in = ctx;
    struct str s;
    if (key == RANK)
        return json_read_uint(&in->t->r, &in->rank);
    if (json_read_string(&in->t->r, &s))
        return -1;
    if (!s.len)
        return json_read_fail(&in->t->r, "an empty special token");
    in->text = (struct str){build_copy(&in->t->b, s.p, s.len), s.len};
    return in->text.p ? 0 : -1;
}

/* Reads a list, in which each rank must equal the index of its item. */
static int read_list(struct tekken *t, bool special)
{
    static const char *const token[] = {"rank", "token_bytes", NULL}, *const named[] = {"rank", "token_str", NULL};
    const size_t *n = special ? &t->n_named : &t->n_tokens;
    int more;
    if (json_read_array(&t->r))
        return -1;
    while ((more = json_read_item(&t->r)) > 0) {
        struct entry in = {.t = t};
        uint32_t seen = 0;
        if (json_read_members(&t->r, special ? named : token, &seen, special ? read_special_key : read_token_key, &in))
            return -1;
        if (seen != (1U << RANK | 1U << TEXT) || in.rank != *n)
            return json_read_fail(&t->r, "%s %zu has no \"%s\", or its rank is not its index",
                                  special ? "special token" : "token", *n, special ? named[TEXT] : token[TEXT]);
        if (special ? add(t, &t->special, &t->n_named, &t->named_cap, in.text)
                    : add(t, &t->token, &t->n_tokens, &t->tokens_cap, in.text))
            return -1;
    }
    return more;
}

enum { CONFIG, VOCAB, SPECIAL_TOKENS };

static int read_top_key(void *ctx, int key)
{
    struct tekken *t = ctx;
    int null;
    switch (key) {
    case CONFIG:
        return read_config(t);
    case VOCAB:
        return t->from->rules_only ? json_read_skip(&t->r) : read_list(t, false);
    default:
        null = json_read_null(&t->r);
        t->has_special = null == 0;
        return null < 0 ? -1 : null ? 0 : read_list(t, true);
    }
}

static int read_top(struct tekken *t)
{
    static const char *const keys[] = {"config", "vocab", "special_tokens", NULL};
    uint32_t seen = 0;
    if (json_read_members(&t->r, keys, &seen, read_top_key, t) || json_read_end(&t->r))
        return -1;
    if (!(seen & 1U << CONFIG) || !(seen & 1U << VOCAB))
        return err_at(t->r.e, EX_DATAERR, t->r.name, ERR_NO_OFFSET, "no \"%s\"",
                      keys[seen & 1U << CONFIG ? VOCAB : CONFIG]);
    return 0;
}

/* ---- The model ---- */

/* The special tokens of files that do not list them (versions up to v7). */
static const char *const usual[] = {"<unk>",
                                    "<s>",
                                    "</s>",
                                    "[INST]",
                                    "[/INST]",
                                    "[AVAILABLE_TOOLS]",
                                    "[/AVAILABLE_TOOLS]",
                                    "[TOOL_RESULTS]",
                                    "[/TOOL_RESULTS]",
                                    "[TOOL_CALLS]",
                                    "[IMG]",
                                    "<pad>",
                                    "[IMG_BREAK]",
                                    "[IMG_END]",
                                    "[PREFIX]",
                                    "[MIDDLE]",
                                    "[SUFFIX]",
                                    "[SYSTEM_PROMPT]",
                                    "[/SYSTEM_PROMPT]",
                                    "[TOOL_CONTENT]"};

static int take_special(struct tekken *t)
{
    static const char *const old[] = {"v1", "v2", "v3", "v7"};
    bool is_old = false;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        is_old = is_old || !strcmp(t->version, old[i]);
    if (!t->has_special && !is_old)
        return err_at(t->r.e, EX_DATAERR, t->r.name, ERR_NO_OFFSET,
                      "no \"special_tokens\", which files of version \"%s\" must list", t->version);
    size_t n = t->has_special ? t->n_named : sizeof usual / sizeof *usual;
    if (n > t->n_special)
        return err_at(t->r.e, EX_DATAERR, t->r.name, ERR_NO_OFFSET,
                      "%zu special tokens are more than default_num_special_tokens, %llu", n,
                      (unsigned long long)t->n_special);
    for (size_t id = 0; id < t->n_special; id++) {
        char filler[32];
        snprintf(filler, sizeof filler, "<SPECIAL_%zu>", id);
        struct str s = id >= n ? str_of(filler) : t->has_special ? t->special[id] : str_of(usual[id]);
        if (build_special_apart(&t->b, s.p, s.len, id, true))
            return -1;
    }
    return 0;
}

static int take_tokens(struct tekken *t)
{
    size_t n = (size_t)(t->vocab_size - t->n_special);
    if (n > t->n_tokens)
        return err_at(t->r.e, EX_DATAERR, t->r.name, ERR_NO_OFFSET,
                      "default_vocab_size is %llu, but there are %zu tokens and %llu special ones",
                      (unsigned long long)t->vocab_size, t->n_tokens, (unsigned long long)t->n_special);
    for (size_t i = 0; i < n || i < 256; i++) {
        const struct str *s = i < n ? &t->token[i] : &(const struct str){0};
        if (i < 256 && (s->len != 1 || *s->p != i))
            return err_at(t->r.e, EX_DATAERR, t->r.name, ERR_NO_OFFSET, "token %zu is not the byte 0x%02X", i,
                          (unsigned)i);
        if (build_token(&t->b, s->p, s->len, true, t->n_special + i))
            return -1;
    }
    return 0;
}

static int take_all(struct tekken *t)
{
    if (take_special(t) || build_regex(&t->b, t->regex))
        return -1;
    if (t->from->rules_only)
        return build_special_end(&t->b);
    return take_tokens(t) || build_end(&t->b) ? -1 : 0;
}

static int read_tekken(struct model *m, struct model_source *from, struct err *e)
{
    struct tekken t = {.from = from};
    int rc = -1;
    if (model_source_says_all(from, "tekken.json", e))
        return -1;
    if (!build_init(&t.b, m, from->name, from->rules_only ? 0 : model_file_size(from->fd) / 100, e) &&
        !json_read_init(&t.r, from->fd, from->name, &from->head, e))
        rc = read_top(&t) || take_all(&t) ? -1 : 0;
    m->by_rank = m->ignore_merges = true;
    json_read_free(&t.r);
    free(t.token);
    free(t.special);
    build_free(&t.b);
    return rc;
}

/* ---- Recognition ---- */

/* Whether the string after the quote at p is this key, with a value that begins with c. */
static bool is_member(const unsigned char *p, const char *key, char c)
{
    const char *at = (const char *)p + 1;
    size_t n = strlen(key);
    if (strncmp(at, key, n) != 0 || at[n] != '"')
        return false;
    at += n + 1;
    at += strspn(at, " \t\r\n");
    if (*at++ != ':')
        return false;
    return at[strspn(at, " \t\r\n")] == c;
}

/* Whether the file is an object with a member that neither tokenizer.json nor vocab.json has. */
static bool sniff(const unsigned char *p, size_t n)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '{' || p[i] == '[') {
            depth++;
        } else if (p[i] == '}' || p[i] == ']') {
            if (!depth--)
                return false;
        } else if (p[i] == '"') {
            if (depth == 1 && (is_member(p + i, "config", '{') || is_member(p + i, "vocab", '[') ||
                               is_member(p + i, "special_tokens", '[')))
                return *p == '{';
            for (i++; i < n && p[i] != '"'; i++)
                i += p[i] == '\\';
        }
    }
    return false;
}

static const char *const files[] = {"tekken.json", NULL};

const struct model_format format_tekken = {
    .name = "tekken",
    .content = "tekken.json",
    .in_directory = "tekken.json",
    .files = files,
    .sniff = sniff,
    .read = read_tekken,
    .dialect = PATTERN_PCRE,
};
