/* superword_model.c - see superword_model.h. */
#include "superwords/superword_model.h"

#include "base/sys/hash.h"
#include "model/model_convert.h"
#include "model/model_read.h"

#include <stdlib.h>
#include <string.h>

#define SUPERBPE "superbpe"
#define SUPERBPE_LINES "superbpe-lines"

static int check_suits(struct model *m, struct err *e)
{
    if (model_of_characters(m))
        return err_set(e, EX_USAGE, "superwords are learned from bytes, and this model starts from characters");
    if (m->n_super)
        return err_set(
            e, EX_USAGE,
            "superwords are learned from words, and this model has superwords of whole pretokens (BoundlessBPE)");
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

int superword_model_make(struct model *m, bool lines, struct err *e)
{
    const struct pattern *p = pattern_find(str_of(lines ? SUPERBPE_LINES : SUPERBPE));
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

uint64_t superword_model_hash(const struct model *m)
{
    const char *name = model_pattern(m);
    uint64_t hash = model_fingerprint(m);
    if (name)
        return hash_bytes(name, strlen(name), hash);
    for (size_t i = 0; i < m->n_regex; i++)
        hash = hash_bytes(m->regex[i].p, m->regex[i].len, hash);
    return hash_bytes(m->split, m->split ? m->n_regex : 0, hash);
}
