/* tiktoken_write.c - a .tiktoken file, and the JSON beside it with what such a file cannot say.
 *
 * In tiktoken a token's rank is its id and its priority as a merge. Ranks are a map by bytes and special tokens another
 * map by string.
 */
#include "model/model_write.h"
#include "sys/base64.h"
#include "sys/sha256.h"
#include "json/json_write.h"

#include <string.h>

/* tiktoken applies a regex always: this one matches any text as a whole. */
static const char everything[] = "[\\s\\S]+";

int model_put_tiktoken(struct buf *out, const struct model *m, struct err *e)
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

int model_put_sidecar(struct buf *out, const struct model *m, const struct buf *tiktoken, struct err *e)
{
    char sha256[SHA256_HEX];
    bool bytes = m->pattern && !strcmp(m->pattern, "bytes");
    if (m->n_regex > 1)
        return err_set(e, EX_USAGE, "tiktoken splits text by one regex, and this model by %zu, one after the other",
                       m->n_regex);
    if (!m->n_regex && !bytes)
        return err_set(e, EX_USAGE, "the model does not say how text is split: give the pattern, -p");
    sha256_hex(sha256, tiktoken->p, tiktoken->len);

    struct json_writer w = json_write_over(out, true, e);
    json_write_begin(&w, '{');
    json_write_key(&w, "pattern");
    if (m->pattern)
        json_write_str(&w, m->pattern);
    else
        json_write_null(&w);
    json_write_key(&w, "pat_str");
    if (m->n_regex)
        json_write_bytes(&w, (const unsigned char *)m->regex[0].p, m->regex[0].len);
    else
        json_write_str(&w, everything);
    json_write_key(&w, "special_tokens");
    json_write_begin(&w, '{');
    for (size_t i = 0; i < m->n_special; i++) {
        json_write_key_bytes(&w, m->special[i].p, m->special[i].len);
        json_write_uint(&w, m->special[i].id);
    }
    json_write_end(&w, '}');
    json_write_key(&w, "explicit_n_vocab"); /* which tiktoken takes only if no id is free */
    if (is_dense(m))
        json_write_uint(&w, m->n_ids);
    else
        json_write_null(&w);
    json_write_key(&w, "sha256");
    json_write_str(&w, sha256);
    json_write_end(&w, '}');
    return json_write_done(&w) || buf_put_byte(out, '\n', e) ? -1 : 0;
}
