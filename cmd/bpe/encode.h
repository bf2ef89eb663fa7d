/* encode.h - what the files of bpe encode share. */
#ifndef BPE_CMD_ENCODE_H
#define BPE_CMD_ENCODE_H

#include "driver/chunk_feed.h"
#include "driver/command.h"
#include "driver/dispatch.h"
#include "driver/output.h"
#include "driver/watch.h"
#include "usage/encode_usage.h"

/* Places in the pipeline. */
enum { ENCODE_READ, ENCODE_CHUNK, ENCODE_IDS };

struct encode {
    struct command_options common;
    const char *path;
    unsigned format; /* of the words of -f */
    struct encode_options options;
    struct command_program *program; /* bpe-encode, with what it was told */
    char **files;
    int n_files;
    /* The work. */
    int model; /* of a model that is no file: the copy; -1: it is one */
    struct output out;
    struct chunk_feed feed;
    struct dispatch dispatch;
    struct watch watch;
};

/* Text or chunks, shared by several bpe-encodes; Parquet. Returns the exit status, whose reason was printed; or -1. */
int encode_shared(struct encode *x, struct job *j, struct err *e);
int encode_parquet(struct encode *x, struct job *j, struct err *e);

/* The exit status of a process that has failed, after the line that says why; or -1. is: what that line calls an input
 * whose name is `name`; NULL: all as the user does. */
int encode_tell(const struct encode *x, struct job *j, const struct job_process *p, const char *is, const char *name,
                struct err *e);

#endif
