/* encode.h - shared by the files of bpe encode. */
#ifndef BPE_CMD_ENCODE_H
#define BPE_CMD_ENCODE_H

#include "driver/chunk_feed.h"
#include "driver/command.h"
#include "driver/dispatch.h"
#include "driver/output.h"
#include "driver/watch.h"
#include "usage/encode_usage.h"

/* Stages of the pipeline. */
enum { ENCODE_READ, ENCODE_CHUNK, ENCODE_IDS };

struct encode {
    struct command_options common;
    const char *path;
    unsigned format; /* index in the words of -f */
    struct encode_options options;
    struct command_program *program; /* bpe-encode and its options */
    char **files;
    int n_files;
    /* The work. */
    int model; /* a copy of a model that can be read only once; -1: none */
    struct output out;
    struct chunk_feed feed;
    struct dispatch dispatch;
    struct watch watch;
};

/* Encode text or chunks, shared by several bpe-encodes, and Parquet. Return the exit status, whose reason was printed;
 * or -1. */
int encode_shared(struct encode *x, struct job *j, struct err *e);
int encode_parquet(struct encode *x, struct job *j, struct err *e);

/* Prints why a process failed. Returns its exit status, or -1. is: what the process calls the input; the printed
 * message has `name` instead, as the user knows it. NULL: the process uses the user's names. */
int encode_tell(const struct encode *x, struct job *j, const struct job_process *p, const char *is, const char *name,
                struct err *e);

#endif
