/* superword_model.c - see superword_model.h. */
#include "superwords/superword_model.h"

#include "base/sys/hash.h"
#include "model/model_convert.h"
#include "model/model_read.h"
#include "superwords/joined_model.h"

#include <stdlib.h>
#include <string.h>

#define SUPERBPE "superbpe"
#define SUPERBPE_LINES "superbpe-lines"

static int check_suits(struct model *m, struct err *e)
{
    if (model_of_characters(m))
        return err_set(e, EX_USAGE, "superwords are learned from bytes, and this model starts from characters");
    m->ignore_merges = false;
    return convert_to_merges(m, e);
}

int superword_model_read(struct model *m, const char *path, struct err *e)
{
    if (model_read(m, path, NULL, e))
        return -1;
    if (check_suits(m, e))
        return e->code == EX_USAGE ? err_at(e, EX_USAGE, path, ERR_NO_OFFSET, "%s", e->msg) : -1;
    return model_pattern(m) || m->n_regex
               ? 0
               : err_set(e, EX_USAGE, "%s does not define how text splits; see bpe-model --superwords", path);
}

/* Makes superwords join whole pretokens. */
static int join_pretokens(struct model *m, enum model_joins joins, struct err *e)
{
    m->joins = joins;
    if (!model_pattern(m) && !m->n_regex)
        return err_set(e, EX_USAGE, "the model does not define how text splits; give the pattern, -p");
    if (joins == JOINS_COMPETE && m->n_merges && !(m->merge_count && m->merge_count[0]))
        return err_set(e, EX_USAGE,
                       "the model does not say how often its merges occurred, which decides between words and "
                       "superwords; train it with -f boundless");
    return check_suits(m, e) || joined_model_renumber(m, e) ? -1 : 0;
}

int superword_model_make(struct model *m, enum superword_kind kind, struct err *e)
{
    if (m->n_super)
        return err_set(
            e, EX_USAGE,
            "superwords are learned from words, and this model has superwords of whole pretokens (BoundlessBPE)");
    if (kind == SUPERWORDS_JOINED || kind == SUPERWORDS_COMPETING)
        return join_pretokens(m, kind == SUPERWORDS_JOINED ? JOINS_RUNS : JOINS_COMPETE, e);
    m->joins = JOINS_NOT;

    const struct pattern *p = pattern_find(str_of(kind == SUPERWORDS_LINES ? SUPERBPE_LINES : SUPERBPE));
    struct str *regex = calloc(p->n_regex + 1, sizeof *regex);
    unsigned char *split = calloc(p->n_regex + 1, 1);
    if (!regex || !split) {
        free(regex);
        free(split);
        return err_mem(e, "the pattern", p->n_regex * sizeof *regex);
    }
    for (size_t i = 0; i < p->n_regex; i++)
        regex[i] = p->regex[i];
    free(m->regex);
    free(m->split);
    m->regex = regex;
    m->split = split;
    m->n_regex = p->n_regex;
    m->pattern = p->name;
    m->dialect = PATTERN_ONIGURUMA;
    return check_suits(m, e);
}

bool superword_model_is(const struct model *m)
{
    const char *name = model_pattern(m);
    return name && (strcmp(name, SUPERBPE) == 0 || strcmp(name, SUPERBPE_LINES) == 0);
}

static uint64_t hash_pattern(const struct model *m, uint64_t hash)
{
    const char *name = model_pattern(m);
    if (name)
        return hash_bytes(name, strlen(name), hash);
    for (size_t i = 0; i < m->n_regex; i++)
        hash = hash_bytes(m->regex[i].p, m->regex[i].len, hash);
    return hash_bytes(m->split, m->split ? m->n_regex : 0, hash);
}

uint64_t superword_model_hash(const struct model *m, size_t n_merges)
{
    const size_t n_words = m->n_merges - m->n_super;
    uint32_t id[256];
    memcpy(id, m->byte_id, sizeof id);
    for (size_t b = 0; b < 256 && m->joins && !model_is_unsplit(m); b++) /* these do not occur, and their ids change */
        if (id[b] != MODEL_NO_ID && model_token_never(&m->token[id[b]]))
            id[b] = MODEL_NO_ID;
    const uint64_t hash = hash_bytes(id, sizeof id, m->joins ? n_words : 0);
    return hash_pattern(m, hash_bytes(m->merge, n_merges * sizeof *m->merge, hash));
}

bool superword_model_begins(const struct model *m, uint64_t n_merges, uint64_t hash)
{
    return n_merges <= m->n_merges && hash == superword_model_hash(m, n_merges);
}

unsigned superword_model_width(const struct model *m)
{
    return m->n_ids <= UINT16_MAX ? 2 : 4;
}
