/* model_pattern.h - the built-in pattern by which a model splits text. */
#ifndef BPE_BPE_MODEL_PATTERN_H
#define BPE_BPE_MODEL_PATTERN_H

#include "formats/model.h"

/* Its name, static; NULL: the model's regexes are none that is known by heart, or it does not say. given: the name that
 * was given for a model that does not say (model_opts), or NULL. The cl100k of a .tiktoken file is then tiktoken's. */
const char *model_pattern(const struct model *m, const char *given);

#endif
