/* model_tiktoken.c - a .tiktoken file, and the JSON beside it with what such a file cannot say.
 *
 * In tiktoken a token's rank is its id and its priority as a merge. Ranks are a map by bytes and special tokens another
 * map by string: a special token that looks like a token has its own id here, other than in tokenizer.json (vocab.h).
 */
#include "formats/jsonw.h"
#include "formats/trained.h"
#include "formats/vocab.h"
#include "sys/base64.h"
#include "sys/sha256.h"

#include <assert.h>
#include <string.h>

/* tiktoken applies a regex always: this one matches any text as a whole. */
static const char everything[] = "[\\s\\S]+";

static int check_special(const struct trained *m, struct err *e)
{
    if (m->special_first && m->n_special)
        return err_set(e, EX_USAGE,
                       "a .tiktoken file has no room for special tokens before the others: use --special-last");
    return 0;
}

int model_put_tiktoken(struct buf *out, const struct trained *m, struct err *e)
{
    struct vocab v;
    int rc = 0;
    if (check_special(m, e) || vocab_init(&v, m, VOCAB_RAW, e))
        return -1;
    for (size_t rank = 0; rank < v.n_ids && !rc; rank++) {
        const struct vocab_token *t = &v.token[v.by_id[rank]];
        rc = base64_put(out, t->p, t->len, e) || buf_printf(out, e, " %zu\n", rank) ? -1 : 0;
    }
    vocab_free(&v);
    return rc;
}

static size_t count_lines(const struct buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        n += b->p[i] == '\n';
    return n;
}

int model_put_sidecar(struct buf *out, const struct trained *m, const struct buf *tiktoken, struct err *e)
{
    struct vocab v;
    struct trained special = *m; /* the merges are in the other file */
    special.n_merges = 0;
    char sha256[SHA256_HEX];
    assert(m->pattern || m->regex);
    if (check_special(m, e) || vocab_init(&v, &special, VOCAB_SPELLED, e))
        return -1;
    sha256_hex(sha256, tiktoken->p, tiktoken->len);

    size_t n = count_lines(tiktoken); /* one rank each */
    struct jsonw w = jsonw_over(out, true, e);
    jsonw_begin(&w, '{');
    jsonw_key(&w, "pattern");
    if (m->pattern)
        jsonw_str(&w, m->pattern);
    else
        jsonw_null(&w);
    jsonw_key(&w, "pat_str");
    if (m->regex)
        jsonw_bytes(&w, (const unsigned char *)m->regex, m->regex_len);
    else
        jsonw_str(&w, everything);
    jsonw_key(&w, "special_tokens");
    jsonw_begin(&w, '{');
    for (size_t i = 0; i < v.n_special; i++) {
        const struct vocab_token *t = &v.token[i];
        if (t->first != i)
            continue;
        jsonw_key_bytes(&w, t->p, t->len);
        jsonw_uint(&w, n++);
    }
    jsonw_end(&w, '}');
    jsonw_key(&w, "explicit_n_vocab");
    jsonw_uint(&w, n);
    jsonw_key(&w, "sha256");
    jsonw_str(&w, sha256);
    jsonw_end(&w, '}');
    vocab_free(&v);
    return jsonw_done(&w) || buf_put_byte(out, '\n', e) ? -1 : 0;
}
