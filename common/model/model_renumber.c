/* model_renumber.c - see model_renumber.h. */
#include "model/model_renumber.h"

#include "base/sys/huge.h"
#include "model/model_convert.h"
#include "model/post_processor.h"

int model_renumber(struct model *m, const uint32_t *new_id, uint32_t n, struct err *e)
{
    const size_t bytes = ((size_t)n + 1) * sizeof *m->token;
    struct model_token *token = huge_zeroed(bytes);
    if (!token)
        return err_mem(e, "the tokens", bytes);
    if (post_processor_renumber(m, new_id, m->n_ids, e)) {
        huge_free(token, bytes);
        return -1;
    }
    for (uint32_t id = 0; id < m->n_ids; id++)
        if (new_id[id] != MODEL_NO_ID)
            token[new_id[id]] = m->token[id];
    huge_free(m->token, m->token_bytes);
    m->token = token;
    m->token_bytes = bytes;
    m->n_ids = n;
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct merge g = m->merge[k];
        m->merge[k] = (struct merge){new_id[g.left], new_id[g.right], new_id[g.result]};
    }
    for (size_t i = 0; i < m->n_special; i++)
        m->special[i].id = new_id[m->special[i].id];
    for (unsigned b = 0; b < 256; b++)
        if (m->byte_id[b] != MODEL_NO_ID)
            m->byte_id[b] = new_id[m->byte_id[b]];
    if (model_of_characters(m) && m->unknown.id != MODEL_NO_ID)
        m->unknown.id = new_id[m->unknown.id];
    convert_keys(m);
    token_index_free(&m->index);
    return m->by_rank || m->ignore_merges ? model_index(m, e) : 0;
}
