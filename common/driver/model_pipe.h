/* model_pipe.h - a model that is no file, as that of `-m <(...)`: it can be read once only, and several processes read
 * it, so it is copied into memory that has a file descriptor. */
#ifndef BPE_DRIVER_MODEL_PIPE_H
#define BPE_DRIVER_MODEL_PIPE_H

#include "base/sys/err.h"

struct model_pipe {
    int fd; /* of the copy; -1: the model is a file */
    char option[64];
};

/* path "-": standard input. -1: EX_NOINPUT, EX_IOERR. */
int model_pipe_read(struct model_pipe *m, const char *path, struct err *e);
void model_pipe_close(struct model_pipe *m);

/* The option by which a process finds it; NULL: as the user has named it. */
const char *model_pipe_option(const struct model_pipe *m);

#endif
