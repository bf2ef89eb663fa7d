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

/* A model that is no file, as that of `-m <(...)`: it can be read once only, and several processes read
 * it, so it is copied into memory that has a file descriptor. */
struct model_pipe {
    int fd; /* of the copy; -1: the model is a file */
    char option[64];
};

/* path "-": standard input. -1: EX_NOINPUT, EX_IOERR. */
int model_pipe_read(struct model_pipe *m, const char *path, struct err *e);
void model_pipe_close(struct model_pipe *m);

/* The option by which a process finds it; NULL: as the user has named it. */
const char *model_pipe_option(const struct model_pipe *m);

struct encode {
    struct command_options common;
    const char *path;
    unsigned format; /* of the words of -f */
    struct encode_options options;
    struct command_program *program; /* bpe-encode, with what it was told */
    char **files;
    int n_files;
    /* The work. */
    struct model_pipe model;
    struct output out;
    struct chunk_feed feed;
    struct dispatch dispatch;
    struct watch watch;
};

/* Bytes of text that may be ahead of what is written: for each job, and at least. */
enum { ENCODE_AHEAD_EACH = 16 << 20, ENCODE_AHEAD_MIN = 64 << 20 };

/* Text or chunks, shared by several bpe-encodes; Parquet. Returns the exit status, whose reason was printed; or -1. */
int encode_shared(struct encode *x, struct job *j, struct err *e);
int encode_parquet(struct encode *x, struct job *j, struct err *e);

/* The words of a bpe-encode that reads text. */
int encode_text_words(const struct encode *x, struct command_line *l, struct err *e);

/* The exit status of a process that has failed, after the line that says why; or -1. */
int encode_tell(const struct encode *x, struct job *j, const struct job_process *p, struct err *e);

/* The same, where the line calls an input by another name than the user's. */
struct encode_input {
    const char *is, *name;
};
int encode_tell_of(const struct encode *x, struct job *j, const struct job_process *p, struct encode_input input,
                   struct err *e);

#endif
