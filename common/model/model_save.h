/* model_save.h - writes the files of a model. */
#ifndef BPE_MODEL_MODEL_SAVE_H
#define BPE_MODEL_MODEL_SAVE_H

#include "base/sys/err.h"
#include "model/formats.h"
#include "model/model.h"

/* Writes a model that the format can express (format->check, or assign_ids) to path, or to standard output (NULL; not
 * for a format that is a directory). The directory is created if needed. Files appear only when complete. -1: EX_USAGE
 * (the format cannot express it after all), EX_CANTCREAT, EX_IOERR, EX_OSERR. */
int model_save(const struct model *m, const struct model_format *format, const char *path, struct err *e);

#endif
