/* model_read.h - reads a model, whatever format it is in. */
#ifndef BPE_MODEL_MODEL_READ_H
#define BPE_MODEL_MODEL_READ_H

#include "core/model.h"
#include "sys/err.h"

#include <stddef.h>

/* What some files do not say and the command line may. All borrowed; zeroed: nothing. */
struct model_opts {
    const char *pattern;        /* the name of a built-in pattern, or NULL; cl100k is tiktoken's for a .tiktoken file */
    const char *const *special; /* "TOKEN" (the next id that is free above all) or "TOKEN=ID" */
    size_t n_special;
};

/* Reads the model at path ("-": standard input): a file, or a directory, of any format in formats.h. Pattern and
 * special tokens may be given for a .tiktoken file without sidecar, a pattern for GPT-2's pair, else they are an error
 * (EX_USAGE). *m is to be freed after success. opts may be NULL. -1: EX_USAGE (also: there is no such pattern),
 * EX_NOINPUT, EX_DATAERR (what is wrong, or cannot be honoured, is named), EX_IOERR, EX_OSERR. */
int model_read(struct model *m, const char *path, const struct model_opts *opts, struct err *e);

#endif
