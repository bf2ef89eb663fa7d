/* model_remarks.h - warnings about a model that a program has written: what the format cannot express. */
#ifndef BPE_MODEL_MODEL_REMARKS_H
#define BPE_MODEL_MODEL_REMARKS_H

#include "model/formats.h"
#include "model/model.h"

#include <stdbool.h>

/* Like program_note (base/cli/program.h): `name` is the program's. */
typedef void model_remark(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Calls `remark` for each warning. path: as for model_save. */
void model_remarks(const struct model *m, const struct model_format *f, const char *path, const char *name,
                   model_remark *remark);

/* Whether readers of the files will know the model's eos, or its pad: the files name it, or readers assume it anyway.
 * True if it has none. path: as for model_save. */
bool model_keeps_eos(const struct model *m, const struct model_format *f, const char *path);
bool model_keeps_pad(const struct model *m, const struct model_format *f, const char *path);

#endif
