/* token_pairs.c - see token_pairs.h. */
#include "encode/token_pairs.h"

#include "unicode/utf8.h"

#include <stdlib.h>

bool token_pairs_apply(const struct model *m)
{
    return model_of_characters(m) && !m->n_regex && (!m->ignore_merges || m->metaspace.split);
}

/* Adds the pairs of a token that a merge makes. In other tokens, no merge joins two characters. */
static void put_token(struct char_pairs *s, const struct model_token *t)
{
    size_t len;
    uint32_t a = utf8_char(t->p, &len), b;
    for (size_t i = len; i < t->len; i += len, a = b) {
        b = utf8_char(t->p + i, &len);
        char_pairs_put(s, a, b);
    }
}

/* Adds pairs of unknown characters, because adjacent ones become one token. */
static int put_unknown(struct char_pairs *s, const struct model *m, struct err *e)
{
    uint64_t *known = calloc(1, CHAR_POINTS / 8);
    if (!known)
        return err_mem(e, "the characters", CHAR_POINTS / 8);
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        size_t len;
        if (!t->p || !t->vocab || t->len != utf8_char_len(t->p[0]))
            continue;
        const uint32_t c = utf8_char(t->p, &len);
        known[c / 64] |= (uint64_t)1 << c % 64;
    }
    char_pairs_unknown(s, known);
    return 0;
}

int token_pairs_init(struct char_pairs *s, const struct model *m, struct err *e)
{
    if (char_pairs_init(s, m->n_ids / 8, e)) /* most pairs occur in many tokens */
        return -1;
    if (m->ignore_merges)
        char_pairs_put_all(s);
    for (size_t k = 0; k < m->n_merges && !m->ignore_merges; k++)
        put_token(s, &m->token[m->merge[k].result]);
    if (!m->ignore_merges && !m->unknown.bytes && m->unknown.fuse && put_unknown(s, m, e))
        return -1;
    if (m->metaspace.split)
        char_pairs_cut(s, CUT_SPACES);
    return 0;
}
