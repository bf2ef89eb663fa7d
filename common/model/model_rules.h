/* model_rules.h - the rules of a run that a model determines: the pattern, and the special tokens. */
#ifndef BPE_MODEL_MODEL_RULES_H
#define BPE_MODEL_MODEL_RULES_H

#include "model/model.h"
#include "pretok/rules.h"

#include <stdbool.h>

/* Sets pattern (the built-in one's name, or NULL) or regexes; strings are borrowed. If the model has neither, both stay
 * empty. -1: out of memory. */
int model_rules_pattern(struct rules *r, const struct model *m, const char *pattern, struct err *e);

/* Whether an added token is recognized in text: all are; if special tokens are text, only those that are not special.
 */
static inline bool model_finds(const struct model_special *s, bool special_is_text)
{
    return !special_is_text || !s->special;
}

/* Sets the special tokens that are recognized; strings are borrowed. -1: out of memory. */
int model_rules_special(struct rules *r, const struct model *m, bool special_is_text, struct err *e);

#endif
