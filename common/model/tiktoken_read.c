/* tiktoken_read.c - a .tiktoken file, and the JSON beside it that says what such a file cannot (PATH.json, as
 * model_put_sidecar writes it): the pattern and the special tokens. Without it, the command line may.
 */
#include "io/fd.h"
#include "model/model_file.h"
#include "model/model_read.h"
#include "sys/base64.h"
#include "sys/sha256.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The ranks ---- */

static int bad_line(struct build *b, size_t line, const char *what)
{
    return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "line %zu: %s", line, what);
}

/* `base64 rank`, of n bytes. */
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
    unsigned char *to = build_room(b, coded);
    if (!to)
        return -1;
    size_t len = base64_get(to, p, coded);
    if (len == SIZE_MAX || !len)
        return bad_line(b, line, "begins with what is not base64");
    build_keep(b, len);
    return build_token(b, to, len, true, rank);
}

/* Blank lines are passed over, as tiktoken does. */
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

static int take_special(struct build *b, const unsigned char *p, size_t len, uint64_t id)
{
    const unsigned char *copy = build_copy(b, p, len);
    return !copy || build_token(b, copy, len, false, id) ||
                   build_special(b, (struct model_special){copy, (uint32_t)len, (uint32_t)id, true, false})
               ? -1
               : 0;
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
            take_special(b, name.p, name.len, id))
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

static int read_sidecar(struct json_reader *r, struct build *b, const struct buf *ranks)
{
    enum { PATTERN, PAT_STR, SPECIAL_TOKENS, N_VOCAB, SHA256, N };
    static const char *const keys[] = {"pattern", "pat_str", "special_tokens", "explicit_n_vocab", "sha256", NULL};
    struct str key;
    const char *text[N] = {0};
    size_t len[N] = {0};
    uint64_t n_vocab = 0;
    uint32_t seen = 0;
    int more = 0, rc = json_read_object(r);
    while (!rc && (more = json_read_key(r, &key)) > 0) {
        int i = json_read_which(r, key, keys, &seen);
        if (i < 0)
            return -1;
        if (i == N)
            rc = json_read_skip(r);
        else if (i == SPECIAL_TOKENS)
            rc = read_special(r, b);
        else if (i != N_VOCAB)
            rc = get_text(r, b, &text[i], &len[i]);
        else if ((rc = json_read_null(r)) == 0)
            rc = json_read_uint(r, &n_vocab);
        else
            rc = rc < 0 ? -1 : 0;
    }
    if (rc || more || json_read_end(r))
        return -1;
    if ((text[SHA256] && check_sum(r, text[SHA256], ranks)) || (n_vocab && check_size(r, b, n_vocab)))
        return -1;
    b->m->pattern = text[PATTERN];
    bool bytes = text[PATTERN] && !strcmp(text[PATTERN], "bytes");
    return text[PAT_STR] && !bytes ? build_regex(b, (struct str){(const unsigned char *)text[PAT_STR], len[PAT_STR]})
                                   : 0;
}

static int open_sidecar(struct build *b, int fd, const char *path, const struct buf *ranks)
{
    struct json_reader r;
    if (model_file_json(&r, fd, path, b->e))
        return -1;
    const char *name = b->name;
    b->name = path; /* of the tokens that come now */
    int rc = read_sidecar(&r, b, ranks);
    b->name = name;
    json_read_free(&r);
    return rc;
}

/* ---- The command line ---- */

/* "TOKEN" or "TOKEN=ID" */
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
        return err_set(b->e, EX_USAGE, "-s %s: the id %llu is another token's", text, (unsigned long long)id);
    return take_special(b, (const unsigned char *)text, len, id);
}

static int take_options(struct build *b, const struct model_opts *opts)
{
    for (size_t i = 0; opts && i < opts->n_special; i++) {
        if (take_option(b, opts->special[i]))
            return -1;
    }
    return opts && opts->pattern ? build_pattern(b, opts->pattern) : 0;
}

/* The sidecar if there is one, else the options. */
static int read_rest(struct build *b, const char *sidecar, const struct model_opts *opts, const struct buf *ranks)
{
    if (!sidecar || access(sidecar, F_OK))
        return take_options(b, opts);
    if (opts && (opts->pattern || opts->n_special))
        return err_set(b->e, EX_USAGE, "%s says the pattern and the special tokens: leave out %s, or the file", sidecar,
                       opts->pattern ? "-p" : "-s");
    int fd = fd_open_input(sidecar, b->e);
    if (fd < 0)
        return -1;
    int rc = open_sidecar(b, fd, sidecar, ranks);
    close(fd);
    return rc;
}

int model_read_tiktoken(struct model *m, int fd, const char *name, struct buf *head, const char *sidecar,
                        const struct model_opts *opts, struct err *e)
{
    struct build b;
    struct buf text = *head;
    *head = (struct buf){0};
    int rc = model_file_all(fd, name, &text, e) || build_init(&b, m, name, text.len / 16, e) ? -1 : 0;
    if (!rc) {
        rc = take_ranks(&b, &text) || read_rest(&b, sidecar, opts, &text) || build_end(&b) ? -1 : 0;
        build_free(&b);
    }
    m->format = MODEL_TIKTOKEN;
    m->by_rank = m->ignore_merges = true;
    buf_free(&text);
    return rc;
}
