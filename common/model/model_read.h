/* model_read.h - reads a model in any format. */
#ifndef BPE_MODEL_MODEL_READ_H
#define BPE_MODEL_MODEL_READ_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* Command-line options for files that do not contain these settings. All borrowed; zeroed: none given. */
struct model_opts {
    const char *pattern;        /* the name of a built-in pattern, or NULL; for a .tiktoken file, cl100k (but not
                                   llama3) means tiktoken's variant */
    const char *const *special; /* "TOKEN" (which gets the next id above all others) or "TOKEN=ID" */
    size_t n_special;
    bool rules_only; /* read only the pattern and the added tokens: a format may skip the vocabulary and the checks that
                        need it. The model then has no tokens and cannot encode or decode */
};

/* Reads the model at path ("-": standard input): a file, or a directory, of any format in formats.h. Pattern and
 * special tokens may be given for a .tiktoken file without sidecar, a pattern for GPT-2's pair; otherwise they are an
 * error (EX_USAGE). model_free after success. opts may be NULL. -1: EX_USAGE (also: unknown pattern), EX_NOINPUT,
 * EX_DATAERR (what is wrong, or not supported, is named), EX_IOERR, EX_OSERR. */
int model_read(struct model *m, const char *path, const struct model_opts *opts, struct err *e);

/* The same for the contents of a file, which messages call `name`. No files beside it are read. */
int model_read_contents(struct model *m, struct str contents, const char *name, const struct model_opts *opts,
                        struct err *e);

#endif
