/* model_open.h - reading a model, with the pattern by name that it or the command line gives. */
#ifndef BPE_MODEL_MODEL_OPEN_H
#define BPE_MODEL_MODEL_OPEN_H

#include "core/model.h"

#include <stddef.h>

/* Reads a model as model_read does. pattern: the name of one, for a model that does not say it itself, or NULL; the
 * cl100k of a .tiktoken file is then tiktoken's. special as in struct model_opts. -1 also with EX_USAGE: there is no
 * such pattern. */
int model_open(struct model *m, const char *path, const char *pattern, const char *const *special, size_t n_special,
               struct err *e);

/* The name of the built-in pattern by which a model splits text, static; NULL: its regexes are none that is known by
 * heart, or it does not say. */
const char *model_pattern(const struct model *m);

#endif
