/* format_tiktoken.c - a .tiktoken file, and a JSON file beside it (the sidecar, PATH.json) with what a .tiktoken file
 * cannot express: the pattern and the special tokens. Without a sidecar, the command line may give them; or, in a
 * directory for from_pretrained, tokenizer_config.json may contain the special tokens (format_hf_config.h).
 *
 * In tiktoken a token's rank is both its id and its priority as a merge. Ranks are a map by bytes, and special tokens
 * are another map, by string.
 */
#include "base/io/fd.h"
#include "base/sys/base64.h"
#include "base/sys/sha256.h"
#include "model/format_hf_config.h"
#include "model/formats.h"
#include "model/model_build.h"
#include "model/model_convert.h"
#include "model/model_file.h"
#include "pretok/regex.h"
#include "unicode/utf8.h"
#include "json/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The ranks ---- */

static int bad_line(struct build *b, size_t line, const char *what)
{
    err_set(b->e, EX_DATAERR, "%s", what);
    return err_place_line(b->e, b->name, line);
}

/* Reads a line `base64 rank`, of n bytes. */
static int take_line(struct build *b, size_t line, const unsigned char *p, size_t n)
{
    const unsigned char *space = memchr(p, ' ', n);
    size_t digits = space ? (size_t)(p + n - space - 1) : 0;
    uint64_t rank = 0;
    if (!space || !digits || digits > 10 || strspn((const char *)space + 1, "0123456789") != digits)
        return bad_line(b, line, "is not a token in base64, a space, and its rank");
    for (size_t i = 1; i <= digits; i++)
        rank = 10 * rank + (space[i] - '0');
    size_t coded = (size_t)(space - p);
    unsigned char *to = model_room(b->m, coded, b->e);
    if (!to)
        return -1;
    size_t len = base64_get(to, p, coded);
    if (len == SIZE_MAX || !len)
        return bad_line(b, line, "does not begin with base64");
    model_keep(b->m, len);
    return build_token(b, to, len, true, rank);
}

/* Blank lines are skipped, as in tiktoken. */
static int take_ranks(struct build *b, const struct buf *text)
{
    const unsigned char *p = text->p, *end = p + text->len;
    for (size_t line = 1; p < end; line++) {
        const unsigned char *lf = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((lf ? lf : end) - p);
        if (n && take_line(b, line, p, n))
            return -1;
        p += n + (lf != NULL);
    }
    return 0;
}

/* ---- The sidecar ---- */

/* A string that lives as long as the model, or NULL for null. */
static int get_text(struct json_reader *r, struct build *b, const char **text, size_t *len)
{
    struct str s;
    int null = json_read_null(r);
    if (null < 0 || (!null && json_read_string(r, &s)))
        return -1;
    *len = null ? 0 : s.len;
    *text = null ? NULL : (const char *)build_copy(b, s.p, s.len);
    return null || *text ? 0 : -1;
}

static int read_special(struct json_reader *r, struct build *b)
{
    struct str key;
    struct buf name = {0};
    int more = 0, rc = json_read_object(r);
    while (!rc && (more = json_read_key(r, &key)) > 0) {
        uint64_t id;
        name.len = 0;
        if (!key.len)
            rc = json_read_fail(r, "an empty special token");
        if (rc || buf_put(&name, key.p, key.len, b->e) || json_read_uint(r, &id) ||
            build_special_apart(b, name.p, name.len, id, true))
            rc = -1;
    }
    buf_free(&name);
    return rc ? -1 : more;
}

static int check_sum(struct json_reader *r, const char *want, const struct buf *ranks)
{
    char got[SHA256_HEX];
    sha256_hex(got, ranks->p, ranks->len);
    return !strcmp(got, want)
               ? 0
               : json_read_fail(r,
                                "sha256 is that of another file: the sidecar and the ranks do not belong "
                                "together (the ranks have %s)",
                                got);
}

static int check_size(struct json_reader *r, const struct build *b, uint64_t n)
{
    return n == b->n_tokens && n == b->m->n_ids
               ? 0
               : json_read_fail(r, "explicit_n_vocab is %llu, but there are %zu tokens, and ids up to %lu",
                                (unsigned long long)n, b->n_tokens, (unsigned long)b->m->n_ids - 1);
}

/* tiktoken always needs a regex; this one matches any whole text. */
static const char everything[] = "[\\s\\S]+";

enum { PATTERN, PAT_STR, SPECIAL_TOKENS, N_VOCAB, SHA256, EOS, PAD, N_KEYS };
static const char *const sidecar_keys[] = {"pattern", "pat_str",   "special_tokens", "explicit_n_vocab",
                                           "sha256",  "eos_token", "pad_token",      NULL};

struct sidecar {
    struct json_reader *r;
    struct build *b;
    struct {
        const char *p;
        size_t len;
    } text[N_KEYS];
    uint64_t n_vocab; /* 0: not given */
};

static int read_sidecar_key(void *ctx, int key)
{
    struct sidecar *s = ctx;
    if (key == SPECIAL_TOKENS)
        return read_special(s->r, s->b);
    if (key != N_VOCAB)
        return get_text(s->r, s->b, &s->text[key].p, &s->text[key].len);
    int null = json_read_null(s->r);
    if (null < 0 || (!null && json_read_uint(s->r, &s->n_vocab)))
        return -1;
    return 0;
}

/* Takes the regex, which must be that of the pattern if the pattern's name is known. */
static int take_regex(struct json_reader *r, struct build *b, struct str regex)
{
    const struct pattern *named = b->m->pattern ? pattern_find(str_of(b->m->pattern)) : NULL;
    const struct pattern *known = pattern_by_regex(&regex, 1, PATTERN_PCRE);
    struct err why;
    if (model_is_unsplit(b->m))
        return str_equal(regex, str_of(everything))
                   ? 0
                   : json_read_fail(r, "\"pat_str\" splits text, \"pattern\" does not");
    if (named && named != known)
        return json_read_fail(r, "\"pat_str\" is not the regex of \"pattern\", %s", named->name);
    if (!known && regex_check(regex, 1U << PATTERN_PCRE, 0, &why))
        return json_read_fail(r, "%s", why.msg);
    return build_regex(b, regex);
}

/* Takes a role, which must be that of a special token. */
static int take_role(const struct sidecar *s, int key, struct hf_added *role)
{
    const unsigned char *p = (const unsigned char *)s->text[key].p;
    *role = (struct hf_added){.p = p, .len = s->text[key].len};
    if (!p || model_special_named(s->b->m, (struct str){p, role->len}))
        return 0;
    return json_read_fail(s->r, "\"%s\" is not one of the special tokens", sidecar_keys[key]);
}

static int read_sidecar(struct json_reader *r, struct build *b, const struct buf *ranks, struct hf_config *c)
{
    struct sidecar s = {.r = r, .b = b};
    struct model *m = b->m;
    uint32_t seen = 0;
    if (json_read_members(r, sidecar_keys, &seen, read_sidecar_key, &s) || json_read_end(r))
        return -1;
    if ((s.text[SHA256].p && check_sum(r, s.text[SHA256].p, ranks)) || (s.n_vocab && check_size(r, b, s.n_vocab)))
        return -1;
    if (take_role(&s, EOS, &c->role[HF_EOS]) || take_role(&s, PAD, &c->role[HF_PAD]))
        return -1;
    m->pattern = s.text[PATTERN].p;
    return s.text[PAT_STR].p
               ? take_regex(r, b, (struct str){(const unsigned char *)s.text[PAT_STR].p, s.text[PAT_STR].len})
               : 0;
}

static int open_sidecar(struct build *b, int fd, const char *path, const struct buf *ranks, struct hf_config *c)
{
    struct json_reader r;
    if (model_file_json(&r, fd, path, b->e))
        return -1;
    const char *name = b->name;
    b->name = path; /* for messages about the tokens that follow */
    int rc = read_sidecar(&r, b, ranks, c);
    b->name = name;
    json_read_free(&r);
    return rc;
}

/* ---- The command line ---- */

/* Reads "TOKEN" or "TOKEN=ID". */
static int take_option(struct build *b, const char *text)
{
    size_t len = strlen(text), name = len;
    uint64_t id = b->m->n_ids;
    bool cut;
    while (name && text[name - 1] >= '0' && text[name - 1] <= '9')
        name--;
    if (name < len && name > 1 && text[name - 1] == '=') {
        if (len - name > 10)
            return err_set(b->e, EX_USAGE, "-s %s: the id is too large", text);
        id = strtoull(text + name, NULL, 10);
        len = name - 1;
    }
    if (!len)
        return err_set(b->e, EX_USAGE, "-s: an empty special token");
    if (utf8_valid_len((const unsigned char *)text, len, &cut) != len)
        return err_set(b->e, EX_USAGE, "-s: a special token must be valid UTF-8");
    if (id <= UINT32_MAX && id < b->m->n_ids && b->m->token[id].p)
        return err_set(b->e, EX_USAGE, "-s %s: the id %llu belongs to another token", text, (unsigned long long)id);
    return build_special_apart(b, (const unsigned char *)text, len, id, true);
}

static int take_options(struct build *b, const struct model_source *from)
{
    const struct pattern *pattern = from->pattern;
    for (size_t i = 0; i < from->n_special; i++) {
        if (take_option(b, from->special[i]))
            return -1;
    }
    if (pattern && !strcmp(from->pattern_name, "cl100k")) /* this means tiktoken's variant; llama3 does not */
        pattern = pattern_at(PATTERN_CL100K_TIKTOKEN);
    return pattern ? build_pattern(b, pattern) : 0;
}

/* Sets *path to the sidecar's path, which the caller frees, or to NULL if there is no sidecar. -1: out of memory. */
static int find_sidecar(char **path, const struct model_source *from, struct err *e)
{
    *path = NULL;
    if (!strcmp(from->path, "-"))
        return 0;
    *path = malloc(strlen(from->path) + sizeof ".json");
    if (!*path)
        return err_mem(e, "a file name", strlen(from->path));
    strcat(strcpy(*path, from->path), ".json");
    if (access(*path, F_OK)) {
        free(*path);
        *path = NULL;
    }
    return 0;
}

/* ---- A directory ---- */

/* Adds special tokens with their ids. Unused ids before and between them become reserved tokens, with the names that
 * Kimi's tokenizer and transformers use. */
static int take_decoder(struct build *b, const struct hf_config *c, const struct hf_tokens *tokens)
{
    enum { MAX_RESERVED = 1 << 16 };
    char name[60];
    for (size_t i = 0; i < tokens->n; i++) {
        const struct hf_added *a = &tokens->p[i];
        build_show(name, sizeof name, a->p, a->len, false);
        if (a->id == HF_NEXT_ID)
            return err_at(b->e, EX_DATAERR, c->name, ERR_NO_OFFSET,
                          "special token \"%s\" is not in added_tokens_decoder, which has the ids", name);
        if (a->id > b->m->n_ids + (uint64_t)MAX_RESERVED)
            return err_at(b->e, EX_DATAERR, c->name, ERR_NO_OFFSET, "special token \"%s\" has the id %llu: too large",
                          name, (unsigned long long)a->id);
        while (b->m->n_ids < a->id) {
            int n = snprintf(name, sizeof name, "<|reserved_token_%lu|>", (unsigned long)b->m->n_ids);
            if (build_special_apart(b, (unsigned char *)name, (size_t)n, b->m->n_ids, true))
                return -1;
        }
        if (build_special_apart(b, a->p, a->len, a->id, a->special))
            return -1;
    }
    return 0;
}

/* Takes special tokens from tokenizer_config.json. 1: done; 0: it has no tokens with ids. */
static int take_config(struct build *b, const struct model_source *from, struct hf_config *c)
{
    struct hf_tokens tokens = {0};
    if (!from->inside)
        return 0;
    int rc = hf_config_read(c, b, from) ? -1 : c->with_id.n > 0;
    if (rc > 0 && from->n_special)
        rc = err_set(b->e, EX_USAGE, "%s contains the special tokens: leave out -s", c->name);
    if (rc > 0 && (hf_config_tokens(c, &tokens, b->e) || take_decoder(b, c, &tokens)))
        rc = -1;
    free(tokens.p);
    return rc;
}

/* Reads the sidecar if there is one, else takes the options and, in a directory, tokenizer_config.json. */
static int read_rest(struct build *b, const struct model_source *from, const struct buf *ranks, struct hf_config *c)
{
    char *sidecar;
    int fd, rc = -1;
    if (find_sidecar(&sidecar, from, b->e))
        return -1;
    if (!sidecar)
        return take_config(b, from, c) < 0 || take_options(b, from) ? -1 : 0;
    if (from->pattern || from->n_special) {
        err_set(b->e, EX_USAGE, "%s contains the pattern and the special tokens: leave out %s, or remove the file",
                sidecar, from->pattern ? "-p" : "-s");
    } else if ((fd = fd_open_input(sidecar, b->e)) >= 0) {
        rc = open_sidecar(b, fd, sidecar, ranks, c);
        close(fd);
    }
    free(sidecar);
    return rc;
}

static int read_tiktoken(struct model *m, struct model_source *from, struct err *e)
{
    struct build b;
    struct hf_config c = {0};
    struct buf text = from->head;
    from->head = (struct buf){0};
    int rc = model_file_all(from->fd, from->name, &text, e) || build_init(&b, m, from->name, text.len / 16, e) ? -1 : 0;
    if (!rc) {
        rc = take_ranks(&b, &text) || read_rest(&b, from, &text, &c) || build_end(&b) || hf_config_roles(&c, m, e) ? -1
                                                                                                                   : 0;
        build_free(&b);
    }
    hf_config_free(&c);
    m->by_rank = m->ignore_merges = true;
    buf_free(&text);
    return rc;
}

/* Whether the file begins with a line `base64 rank`. */
static bool sniff(const unsigned char *p, size_t n)
{
    const char *line = (const char *)p;
    size_t word = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    size_t rank = word && line[word] == ' ' ? strspn(line + word + 1, "0123456789") : 0;
    return rank && (line[word + 1 + rank] == '\n' || word + 1 + rank >= n);
}

/* ---- Writing ---- */

static int put_ranks(struct buf *out, const struct model *m, struct err *e)
{
    int rc = 0;
    for (size_t id = 0; id < m->n_ids && !rc; id++) {
        const struct model_token *t = &m->token[id];
        if (t->p && t->vocab)
            rc = base64_put(out, t->p, t->len, e) || buf_printf(out, e, " %zu\n", id) ? -1 : 0;
    }
    return rc;
}

static bool is_dense(const struct model *m)
{
    for (size_t id = 0; id < m->n_ids; id++) {
        if (!m->token[id].p)
            return false;
    }
    return true;
}

static void put_role(struct json_writer *w, const char *key, const struct model_special *s)
{
    if (s) {
        json_write_key(w, key);
        json_write_bytes(w, s->p, s->len);
    }
}

/* Names the tokens with a role, unless readers assume the same. */
static void put_roles(struct json_writer *w, const struct model *m)
{
    if ((m->eos && m->eos != model_assumed_eos(m)) || (m->pad && m->pad != model_assumed_pad(m))) {
        put_role(w, "eos_token", m->eos);
        put_role(w, "pad_token", m->pad);
    }
}

static int put_sidecar(struct buf *out, const struct model *m, const struct buf *ranks, struct err *e)
{
    char sha256[SHA256_HEX];
    const struct str *regex;
    size_t n_regex;
    if (model_regexes(m, PATTERN_PCRE, &regex, &n_regex, e))
        return -1;
    if (m->normalizer)
        return err_set(e, EX_USAGE, "this model normalizes text (%s), which tiktoken does not",
                       normalizer_names[m->normalizer]);
    if (model_split(m).len)
        return err_set(e, EX_USAGE, "a .tiktoken file cannot express how this model splits text");
    if (m->prefix.len)
        return err_set(e, EX_USAGE, "this model puts a prefix before text, which tiktoken does not");
    if (build_refuse_flags(m, "a .tiktoken file", e))
        return -1;
    if (n_regex > 1)
        return err_set(e, EX_USAGE, "tiktoken splits text with one regex, and this model with %zu, one after the other",
                       n_regex);
    const struct pattern *known = n_regex ? pattern_by_regex(regex, n_regex, PATTERN_PCRE) : NULL;
    if (known && known->gaps)
        return err_set(e, EX_USAGE,
                       "tiktoken drops text that the regex does not match, which is most text with the pattern %s",
                       known->name);
    if (!n_regex && !model_is_unsplit(m))
        return err_set(e, EX_USAGE, "the model does not define how text is split: give the pattern, -p");
    sha256_hex(sha256, ranks->p, ranks->len);

    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    json_write_key(&w, "pattern");
    if (m->pattern)
        json_write_str(&w, m->pattern);
    else
        json_write_null(&w);
    json_write_key(&w, "pat_str");
    if (n_regex)
        json_write_bytes(&w, regex->p, regex->len);
    else
        json_write_str(&w, everything);
    json_write_key(&w, "special_tokens");
    json_write_begin(&w, '{');
    for (size_t i = 0; i < m->n_special; i++) {
        json_write_key_bytes(&w, m->special[i].p, m->special[i].len);
        json_write_uint(&w, m->special[i].id);
    }
    json_write_end(&w, '}');
    json_write_key(&w, "explicit_n_vocab"); /* tiktoken accepts this key only if all ids are used */
    if (is_dense(m))
        json_write_uint(&w, m->n_ids);
    else
        json_write_null(&w);
    json_write_key(&w, "sha256");
    json_write_str(&w, sha256);
    put_roles(&w, m);
    json_write_end(&w, '}');
    if (json_write_done(&w) || buf_put_byte(out, '\n', e))
        return -1;
    return 0;
}

static int write_tiktoken(struct model_files *to, const struct model *m, struct err *e)
{
    struct buf ranks = {0};
    int rc = put_ranks(&ranks, m, e);
    if (!rc && !to->alone)
        rc = put_sidecar(model_files_add(to, ".json"), m, &ranks, e);
    *model_files_add(to, "") = ranks;
    return rc;
}

/* The names of Kimi and of Llama 3. SentencePiece uses the second, too. */
static const char *const files[] = {"tiktoken.model", "tokenizer.model", NULL};

const struct model_format format_tiktoken = {
    .name = "tiktoken",
    .content = "ranks in base64",
    .in_directory = "tiktoken.model",
    .files = files,
    .sniff = sniff,
    .read = read_tiktoken,
    .dialect = PATTERN_PCRE,
    .check = convert_to_ranks,
    .write = write_tiktoken,
    .beside_eos = true,
    .drops_gaps = true,
    .all_special = true,
    .has_ids = true,
    .special_apart = true,
};
