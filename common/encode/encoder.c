/* encoder.c - see encoder.h. */
#include "encode/encoder.h"

#include <stdlib.h>

static int encode_some(void *ctx, struct word *word, size_t n, struct err *e)
{
    return pretoken_encode_some(ctx, word, n, e);
}

static int encode_one(void *ctx, const unsigned char *p, size_t n, const struct id_list **ids, struct err *e)
{
    struct pretoken_encoder *w = ctx;
    *ids = &w->out;
    return pretoken_encode(w, p, n, e);
}

/* Prepares two stages, if the model has superwords, or for long pretokens. */
static int init_super(struct encoder *en, const struct model *model, bool wide, bool long_pretokens, struct err *e)
{
    bool found;
    size_t first;
    if (model->n_super || (long_pretokens && model->joins)) {
        en->join = calloc(1, sizeof *en->join);
        return en->join ? join_encoder_init(en->join, model, wide, e) : err_mem(e, "two stages", sizeof *en->join);
    }
    if (superwords_find(model, &first, &found, e))
        return -1;
    if (!found && long_pretokens && !model->by_rank && !model->ignore_merges && !model_of_characters(model)) {
        first = model->n_merges; /* all merges are those of the first stage */
        found = true;
    }
    if (!found)
        return 0;
    en->super = calloc(1, sizeof *en->super);
    return en->super ? super_encoder_init(en->super, model, first, wide, e)
                     : err_mem(e, "two stages", sizeof *en->super);
}

/* The model of the first stage, and the width of its ids. */

static const struct model *first_stage(const struct encoder *en, const struct model *model)
{
    return en->join ? &en->join->words : en->super ? &en->super->stage : model;
}

static bool first_wide(const struct encoder *en, bool wide)
{
    return en->join ? en->join->ids.wide : en->super ? en->super->ids.wide : wide;
}

int encoder_init(struct encoder *en, const struct model *model, bool wide, struct err *e)
{
    return encoder_init_long(en, model, wide, false, e);
}

int encoder_init_long(struct encoder *en, const struct model *model, bool wide, bool long_pretokens, struct err *e)
{
    const struct key_coder coder = {.some = encode_some, .one = encode_one, .ctx = &en->pretoken};
    en->pretoken = (struct pretoken_encoder){0};
    en->cached.cache = (struct id_cache){0};
    en->cached.new_ids = (struct id_list){0};
    en->pairs = (struct char_pairs){0};
    en->super = NULL;
    en->join = NULL;
    en->borders = NULL;
    en->has_pairs = token_pairs_apply(model);
    if (init_super(en, model, wide, long_pretokens, e) ||
        cached_encoder_init(&en->cached, &coder, first_wide(en, wide), e) ||
        pretoken_encoder_init(&en->pretoken, first_stage(en, model), e) ||
        (en->has_pairs && token_pairs_init(&en->pairs, model, e))) {
        encoder_free(en);
        return -1;
    }
    return 0;
}

void encoder_free(struct encoder *en)
{
    pretoken_encoder_free(&en->pretoken);
    cached_encoder_free(&en->cached);
    char_pairs_free(&en->pairs);
    if (en->super)
        super_encoder_free(en->super);
    free(en->super);
    en->super = NULL;
    if (en->join)
        join_encoder_free(en->join);
    free(en->join);
    en->join = NULL;
}

/* Writes the ids of pretokens one by one, with their borders. */
static int put_each(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                    struct ids *ids, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (cached_encoder_put(&en->cached, text, start, ends, i, 1, ids, e) || id_borders_put(en->borders, ids->n, e))
            return -1;
    return 0;
}

int encoder_pretokens(struct encoder *en, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                      struct ids *ids, struct err *e)
{
    if (en->join)
        return join_encoder_pretokens(en->join, &en->cached, text, start, ends, n, ids, en->borders, e);
    if (en->super)
        return super_encoder_pretokens(en->super, &en->cached, text, start, ends, n, ids, en->borders, e);
    for (size_t some; n; start = ends[some - 1], ends += some, n -= some) {
        if (cached_encoder_find(&en->cached, text, start, ends, n, &some, e) ||
            (en->borders ? put_each(en, text, start, ends, some, ids, e)
                         : cached_encoder_put(&en->cached, text, start, ends, 0, some, ids, e)))
            return -1;
    }
    return 0;
}
