/* shard_line.c - bpe shard: the pipeline from text to shards.
 *
 *     [bpe parquet |] bpe-chunk FILE... | as many bpe-encodes as jobs | bpe-shard -o DIR --resume
 *
 * The bpe-encodes share one end of a socket as standard input: each message, a record, goes to the one that asks for
 * it. All of them write to one pipe, which is safe for records. Records that a process held when it died are missing at
 * the end; bpe-shard notices that and writes the missing ranges to a file.
 *
 * If text comes from `bpe parquet`, this process tells bpe-chunk how that ended (chunk/chunks.c), because only this
 * process knows whether the text was cut off. The names of many files are passed in an unnamed file, not a pipe, so
 * that they cannot be cut off.
 */
#include "base/io/fd.h"
#include "bpe/shard.h"
#include "driver/watch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Stages of the pipeline. */
enum { READ, CHUNK, ENCODE, SHARD };

enum { MANY = 1000 }; /* more names may not fit a command line */

/* Descriptors that the processes are started with; -1: none. */
struct ends {
    int text[2], records[2], tokens[2], lines[2];
    int status[2]; /* how the writer of the text ended */
    int names;
};

static void close_pair(int ends[2])
{
    job_close(&ends[0]);
    job_close(&ends[1]);
}

struct job_process *shard_start(struct job *j, const struct job_start *how, const char *program,
                                const struct option_words *options, const struct command_line *rest, struct err *e)
{
    struct command_line l = {0};
    struct job_start s = *how;
    struct job_process *p = NULL;
    int rc = program ? command_line_add(&l, e, program) : 0;
    rc = rc || (options && command_line_options(&l, options, e)) || (rest && command_line_append(&l, rest, e)) ? -1 : 0;
    s.argv = l.words;
    if (rc == 0)
        p = job_start(j, &s, e);
    command_line_free(&l);
    return p;
}

/* ---- Processes ---- */

/* Writes the names of all files, each ended by NUL, to an unnamed file. Returns its descriptor, or -1. */
static int put_names(const struct shard_asked *a, struct err *e)
{
    struct buf names = {0};
    int rc = 0, fd = -1;
    for (int i = 0; i < a->n_files && rc == 0; i++)
        rc = buf_put(&names, a->files[i], strlen(a->files[i]) + 1, e);
    if (rc == 0)
        fd = job_file(names.p, names.len, e);
    buf_free(&names);
    return fd;
}

static int start_reader(const struct shard_asked *a, struct job *j, struct ends *d, struct err *e)
{
    struct command_line words = {0};
    int rc =
        command_line_append(&words, &a->reader, e) ||
                command_line_files(&words, (char **)(uintptr_t)a->parquet_files.words, (int)a->parquet_files.n, e) ||
                job_pipe(d->text, e) || job_pipe(d->status, e) ||
                !shard_start(
                    j, &(struct job_start){.name = "the Parquet reader", .in = -1, .out = d->text[1], .stage = READ},
                    NULL, NULL, &words, e)
            ? -1
            : 0;
    command_line_free(&words);
    return rc;
}

static int start_chunk(const struct shard_line *l, struct job *j, struct ends *d, struct err *e)
{
    const struct shard_asked *a = l->asked;
    struct command_line rest = {0};
    int rc = l->only ? command_line_add(&rest, e, "--only", l->only) : 0;
    rc = rc || (a->block && command_line_add(&rest, e, a->block)) ||
                 (a->status && command_line_add(&rest, e, a->status)) /* its descriptor is inherited */
             ? -1
             : 0;
    if (rc == 0 && a->parquet)
        rc = command_line_add(&rest, e, "--input-status=3") ||
             command_line_files(&rest, (char **)(uintptr_t)a->sources.words, (int)a->sources.n, e);
    else if (rc == 0 && a->n_files > MANY)
        rc = (d->names = put_names(a, e)) < 0 || command_line_add(&rest, e, "--files0-from=/dev/fd/3") ? -1 : 0;
    else if (rc == 0)
        rc = command_line_files(&rest, a->files, a->n_files, e);
    if (rc == 0)
        rc = shard_start(j,
                         &(struct job_start){.in = a->parquet ? d->text[0] : 0,
                                             .out = d->records[1],
                                             .also = a->parquet ? d->status[0] : d->names,
                                             .stage = CHUNK},
                         "bpe-chunk", l->only ? NULL : &a->chunk, &rest, e)
                 ? 0
                 : -1;
    command_line_free(&rest);
    return rc;
}

static int start_encodes(const struct shard_asked *a, struct job *j, struct ends *d, struct err *e)
{
    struct job_start how = {.in = d->records[0], .out = d->tokens[1], .stage = ENCODE};
    struct command_line via = {0};
    int rc = 0;
    if (a->via.n) {
        how.name = "--via";
        how.foreign = true;
        rc = command_line_append(&via, &a->via, e) || command_line_add(&via, e, "bpe-encode") ||
                     command_line_options(&via, &a->encode, e) || !shard_start(j, &how, NULL, NULL, &via, e)
                 ? -1
                 : 0;
        command_line_free(&via);
        return rc;
    }
    for (uint64_t i = 0; i < a->jobs && rc == 0; i++)
        rc = shard_start(j, &how, "bpe-encode", &a->encode, NULL, e) ? 0 : -1;
    return rc;
}

struct job_process *shard_start_shard(const struct shard_asked *a, const char *missing, int in, int out, struct job *j,
                                      struct err *e)
{
    struct command_line rest = {0};
    struct job_process *p = NULL;
    if (command_line_add(&rest, e, "-o", a->dir, "--resume") == 0 &&
        (!missing || command_line_add(&rest, e, "--missing", missing) == 0) &&
        command_line_options(&rest, &a->shard, e) == 0)
        p = shard_start(j, &(struct job_start){.in = in, .out = out, .stage = SHARD}, "bpe-shard", NULL, &rest, e);
    command_line_free(&rest);
    return p;
}

/* Starts all processes. Returns bpe-shard; NULL: *e. */
static struct job_process *start_all(const struct shard_line *l, struct job *j, struct ends *d, struct err *e)
{
    const struct shard_asked *a = l->asked;
    bool both = isatty(1) && isatty(2);
    if ((a->via.n ? job_pipe(d->records, e) : job_socket(d->records, e)) || job_pipe(d->tokens, e) ||
        (both && job_pipe(d->lines, e)) || (a->parquet && start_reader(a, j, d, e)) || start_chunk(l, j, d, e) ||
        start_encodes(a, j, d, e))
        return NULL;
    return shard_start_shard(a, l->missing, d->tokens[0], both ? d->lines[1] : 1, j, e);
}

/* ---- While they run ---- */

/* Prints the lines about shards on a terminal that also shows the progress. */
static void pass_on(int *lines)
{
    char text[4096];
    struct err ignored;
    ssize_t n = read(*lines, text, sizeof text);
    if (n > 0)
        job_show(NULL);
    if (n == 0 || (n > 0 && fd_write(1, text, (size_t)n, "standard output", &ignored)))
        job_close(lines);
}

/* The writer of the text has ended: tells bpe-chunk if it succeeded. -1: it did, but the files have changed. */
static int tell_end(const struct shard_line *l, const struct job_process *reader, int *status, struct err *e)
{
    int rc = 0;
    if (reader->status == 0)
        rc = l->still(l->ctx, e) || fd_write(*status, "", 1, "a pipe", e) ? -1 : 0;
    job_close(status);
    return rc;
}

static int wait_for_all(const struct shard_line *l, struct job *j, struct ends *d, struct err *e)
{
    const struct shard_asked *a = l->asked;
    struct watch w;
    int rc = 0;
    bool mixed = a->parquet && a->sources.n > 1; /* file sizes do not show the progress */
    int last = a->parquet && !mixed ? READ : watch_reads_input(a->files, a->n_files) ? CHUNK : ENCODE;
    watch_start(&w, j, a->progress, mixed ? NULL : a->files, a->n_files, last);
    while (job_running(j) || d->lines[0] >= 0) {
        struct pollfd lines = {.fd = d->lines[0], .events = POLLIN};
        if (job_wait(j, &lines, d->lines[0] >= 0, watch_tick(&w)) > 0)
            pass_on(&d->lines[0]);
        if (d->status[1] >= 0 && j->at[0]->ended && tell_end(l, j->at[0], &d->status[1], e))
            rc = -1;
    }
    watch_end(&w);
    return rc;
}

/* ---- How it ended ---- */

/* If bpe-chunk succeeded, the Parquet text was complete, or none of it was needed. Then a failure of its writer does
 * not matter: it lost its reader, for example. */
static void forgive_reader(struct job *j)
{
    const struct job_process *reader = j->n ? j->at[0] : NULL, *chunk = j->n > 1 ? j->at[1] : NULL;
    if (reader && reader->stage == READ && chunk && chunk->status == 0)
        j->at[0]->dismissed = true;
}

/* The exit status of the pipeline. What bpe-shard could not write (EX_IOERR) would fail again immediately, so processes
 * that were killed are ignored then. */
static int outcome(struct job *j, const struct job_process *shard, struct buf *said, struct err *e)
{
    forgive_reader(j);
    if (shard->status == 0) {
        job_say_all(j);
        return 0;
    }
    for (size_t i = 0; i < j->n && shard->status == EX_IOERR; i++)
        j->at[i]->dismissed |= job_was_killed(j->at[i]);
    return job_outcome(j, said, e);
}

int shard_line_run(const struct shard_line *l, struct job *j, struct buf *said, struct err *e)
{
    struct ends d = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, -1};
    struct job_process *shard = start_all(l, j, &d, e);
    close_pair(d.text);
    close_pair(d.records);
    close_pair(d.tokens);
    job_close(&d.lines[1]);
    job_close(&d.names);
    int status = !shard || wait_for_all(l, j, &d, e) ? -1 : outcome(j, shard, said, e);
    job_end(j);
    job_forget(j);
    close_pair(d.lines);
    close_pair(d.status);
    return status;
}

int shard_line_look(const struct shard_asked *a, const char *missing, struct job *j, struct buf *said, struct err *e)
{
    struct job_process *shard = shard_start_shard(a, missing, -1, 1, j, e);
    if (!shard)
        return -1;
    job_wait_all(j);
    int status = job_was_killed(shard) ? shard->status : outcome(j, shard, said, e);
    job_forget(j);
    return status;
}
