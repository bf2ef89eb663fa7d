/* encode_borders.c - see encode_borders.h. */
#include "encode/encode_borders.h"

#include <stdlib.h>

enum { PAIRS = 1 << 16 };

int borders_init(struct borders *b, struct merges *m, struct err *e)
{
    const struct model *model = m->model;
    b->pair = calloc(PAIRS, sizeof *b->pair);
    if (!b->pair)
        return err_mem(e, "the pairs of bytes", PAIRS * sizeof *b->pair);
    for (uint32_t id = 0; id < model->n_ids; id++) {
        const struct model_token *t = &model->token[id];
        for (size_t i = 1; t->p && i < t->len; i++)
            b->pair[t->p[i - 1] << 8 | t->p[i]] = BORDER_NONE;
    }
    for (size_t i = 0; i < PAIRS; i++) {
        if (b->pair[i] == BORDER)
            continue;
        uint32_t rank = merges_rank(m, model->byte_id[i >> 8], model->byte_id[i & 0xFF]);
        if (rank < NO_MERGE)
            b->pair[i] = merges_result(m, rank) + 1;
    }
    return 0;
}

void borders_free(struct borders *b)
{
    free(b->pair);
    *b = (struct borders){0};
}
