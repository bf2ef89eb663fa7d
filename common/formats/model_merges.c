/* model_merges.c - lists of merges as text: GPT-2's merges.txt, and the same for people.
 *
 * Tokens are written as vocab.h spells them, so no token holds a space or a newline.
 */
#include "formats/trained.h"
#include "formats/vocab.h"

#include <string.h>

static const char header[] = "#version";

static int put_merge(struct buf *out, const struct vocab_token *left, const struct vocab_token *right, struct err *e)
{
    return buf_put(out, left->p, left->len, e) || buf_put_byte(out, ' ', e) || buf_put(out, right->p, right->len, e) ||
                   buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

int model_put_merges(struct buf *out, const struct trained *m, struct err *e)
{
    struct vocab v;
    int rc = -1;
    if (vocab_init(&v, m, VOCAB_SPELLED, e))
        return -1;
    if (buf_put_str(out, header, e) || buf_put_str(out, ": 0.2\n", e))
        goto done;
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct vocab_token *left = vocab_symbol(&v, m->merges[k].left);
        /* Hugging Face drops every such line, not only the first. */
        if (left->len >= strlen(header) && !memcmp(left->p, header, strlen(header))) {
            err_set(e, EX_USAGE,
                    "merges.txt: merge %zu begins with \"%s\", so that readers would take it for a header: write "
                    "tokenizer.json instead",
                    k, header);
            goto done;
        }
        if (put_merge(out, left, vocab_symbol(&v, m->merges[k].right), e))
            goto done;
    }
    rc = 0;
done:
    vocab_free(&v);
    return rc;
}

int model_put_readable(struct buf *out, const struct trained *m, struct err *e)
{
    struct vocab v;
    int rc = 0;
    if (vocab_init(&v, m, VOCAB_SPELLED, e))
        return -1;
    for (size_t k = 0; k < m->n_merges && !rc; k++)
        rc = put_merge(out, vocab_symbol(&v, m->merges[k].left), vocab_symbol(&v, m->merges[k].right), e);
    vocab_free(&v);
    return rc;
}
