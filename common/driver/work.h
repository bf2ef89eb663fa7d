/* work.h - work in parts, in a directory, whose results stay there: after a loss, what has no result is done again.
 *
 *     DIR/chunks/         the work, made once; appears when it is complete
 *         asked, inputs   what it was begun with (driver/resume.h)
 *         part.NNNNN      records that say where text is: for one process
 *         file.NNNNN      the name of a file whose text goes through a pipe (compressed and alone, Parquet, --inline):
 *                         for a pipeline of its own, which after a loss starts from its beginning
 *     DIR/RESULTS/NAME    the result of that part or file; appears when complete
 */
#ifndef BPE_DRIVER_WORK_H
#define BPE_DRIVER_WORK_H

#include "driver/command.h"
#include "driver/job.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work_part {
    char *name;     /* part.NNNNN or file.NNNNN; owned */
    char *file;     /* of the latter: the file, borrowed from the FILEs */
    bool done;      /* its result is there */
    char *made;     /* where its result is while it is being made; NULL: it is not. Owned */
    int status;     /* of one that failed: the exit status, */
    struct buf why; /* and the line that says why */
};

struct work {
    struct job *job;                        /* borrowed, as all but the paths and the parts */
    const char *dir;                        /* as the user calls it */
    const struct option_words *chunk_words; /* what bpe-chunk is told */
    char **files;
    int n_files;
    uint64_t jobs;
    const struct command_options *options; /* which files are Parquet: parts of their own */
    char *chunks, *results;                /* paths; work_open makes them */
    struct work_part *parts;
    size_t n_parts, cap;
};

/* Makes the paths. results: the name of their directory. */
int work_open(struct work *w, const char *results, struct err *e);
void work_close(struct work *w);

/* Makes DIR/chunks, in a directory that has nothing else. -1; if *status is not 0, that is the exit status of
 * bpe-chunk, whose reason was printed. */
int work_make(struct work *w, struct str asked, struct str inputs, int *status, struct err *e);

/* Finds the parts, those of records first. -1 with EX_DATAERR: there is something that work_make does not write. */
int work_find_parts(struct work *w, struct err *e);

/* Starts bpe-chunk on some files, as stage WORK_CHUNK. `writes`: see struct job_start. */
enum { WORK_CHUNK = 1 };
int work_start_chunk(const struct work *w, int group, char **files, int n, int out, const char *writes, struct err *e);

/* The name of a file in a directory that becomes `name` when it is complete: nobody else uses it. Owned by the caller.
 */
char *work_own_name(const char *dir, const char *name, struct err *e);

/* Removes what attempts have left in DIR and DIR/RESULTS that were killed: once all results are there. */
void work_remove_attempts(const struct work *w);

#endif
