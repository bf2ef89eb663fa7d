/* merges_text.c - lists of merges as text: GPT-2's merges.txt, and the same for people.
 *
 * Tokens are written as byte_level.h spells them, so no token holds a space or a newline.
 */
#include "core/byte_level.h"
#include "model/model_write.h"

#include <string.h>

static const char header[] = "#version";

static int put_merge(struct buf *out, const struct model *m, size_t k, struct err *e)
{
    const struct model_token *left = &m->token[m->merge[k].left], *right = &m->token[m->merge[k].right];
    return byte_level_put(out, left->p, left->len, e) || buf_put_byte(out, ' ', e) ||
                   byte_level_put(out, right->p, right->len, e) || buf_put_byte(out, '\n', e)
               ? -1
               : 0;
}

int model_put_merges(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_put_str(out, header, e) || buf_put_str(out, ": 0.2\n", e))
        return -1;
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct model_token *left = &m->token[m->merge[k].left];
        /* Hugging Face drops every such line, not only the first. (What the header has is spelled as it is.) */
        if (left->len >= strlen(header) && !memcmp(left->p, header, strlen(header)))
            return err_set(
                e, EX_USAGE,
                "merges.txt: merge %zu begins with \"%s\", so that readers would take it for a header: write "
                "tokenizer.json instead",
                k, header);
        if (put_merge(out, m, k, e))
            return -1;
    }
    return 0;
}

int model_put_readable(struct buf *out, const struct model *m, struct err *e)
{
    for (size_t k = 0; k < m->n_merges; k++) {
        if (put_merge(out, m, k, e))
            return -1;
    }
    return 0;
}
