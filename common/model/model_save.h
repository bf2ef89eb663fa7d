/* model_save.h - writes the files of models. */
#ifndef BPE_MODEL_MODEL_SAVE_H
#define BPE_MODEL_MODEL_SAVE_H

#include "base/io/outfile.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/formats.h"
#include "model/model.h"

/* Writes a model that the format can express (format->check, or assign_ids) to path, or to standard output (NULL; not
 * for a format that is a directory). The directory is created if needed. Files appear only when complete. -1: EX_USAGE
 * (the format cannot express it after all), EX_CANTCREAT, EX_IOERR, EX_OSERR. */
int model_save(const struct model *m, const struct model_format *format, const char *path, struct err *e);

/* Several models, and other files, of which none appears before all are complete:
 *
 *     model_output_init, model_output_add..., model_output_commit; model_output_free in any case
 */
struct model_output {
    struct outfile *file; /* owned, under temporary names; an array that does not move */
    char **dir;           /* owned names of the directories that were created */
    size_t n_files, n_dirs;
};

/* Makes room for n models, and for n other files. */
int model_output_init(struct model_output *o, size_t n, struct err *e);

/* Adds a model, as for model_save; one for standard output is written at once, so add it last. */
int model_output_add(struct model_output *o, const struct model *m, const struct model_format *format, const char *path,
                     struct err *e);
int model_output_add_file(struct model_output *o, const char *path, struct str content, struct err *e);

int model_output_commit(struct model_output *o, struct err *e); /* gives the files their names */
void model_output_free(struct model_output *o);                 /* removes what was not committed */

#endif
