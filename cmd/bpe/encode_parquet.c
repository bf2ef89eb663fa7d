/* encode_parquet.c - bpe encode --parquet: parts of all files, in the order of the text, each read by a process of its
 * own and encoded by a bpe-encode that holds its ids until it is its turn.
 *
 * (One process that reads for all would take as long to start while all others wait, and be too slow for many cores.)
 */
#include "bpe/encode.h"
#include "driver/place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Bytes of files in a part, at most: a process takes a tenth of a second to start, and holds the ids. */
static const uint64_t PART_MOST = 128 << 20;

struct part {
    const struct job_process *reader;
    const struct dispatch_worker *worker;
};

struct parts {
    struct encode *x;
    struct job *job;
    struct command_line words; /* of bpe-encode */
    char *path, *column;       /* of bpe parquet */
    struct part *at;
    size_t n, started, running;
    size_t bad; /* the first that has failed; n: none */
};

static uint64_t bytes_of(const struct encode *x)
{
    struct stat st;
    uint64_t sum = 0;
    for (int i = 0; i < x->n_files; i++)
        sum += stat(x->files[i], &st) == 0 ? (uint64_t)st.st_size : 0;
    return sum;
}

/* What reads a part; its text comes out of *text. */
static int start_reader(struct parts *p, int *text, struct err *e)
{
    struct command_line l = {0};
    int ends[2] = {-1, -1};
    char part[64];
    snprintf(part, sizeof part, "--part=%zu/%zu", p->started, p->n);
    free(p->column);
    p->column = NULL;
    if (job_pipe(ends, e) == 0 && command_line_parquet(&l, &p->x->common, p->path, &p->column, e) == 0 &&
        command_line_add(&l, e, part) == 0 && command_line_files(&l, p->x->files, p->x->n_files, e) == 0)
        p->at[p->started].reader = job_start(
            p->job,
            &(struct job_start){.argv = l.words, .in = -1, .out = ends[1], .stage = ENCODE_READ, .name = "bpe parquet"},
            e);
    command_line_free(&l);
    job_close(&ends[1]);
    *text = ends[0];
    return p->at[p->started].reader ? 0 : -1;
}

static int start_part(struct parts *p, struct err *e)
{
    int text = -1;
    int rc = start_reader(p, &text, e);
    if (rc == 0 && !(p->at[p->started].worker = dispatch_follow(&p->x->dispatch, text, e)))
        rc = -1;
    job_close(&text);
    p->started++;
    return rc;
}

/* The process that has failed in a part; NULL: none, so far. SIGPIPE ends a reader whose bpe-encode has ended. */
static const struct job_process *failed_in(const struct parts *p, const struct part *at)
{
    const struct job_process *r = at->reader, *w = at->worker->process;
    for (int ms = 0; ms < 200 && r->ended && r->status == 128 + SIGPIPE && !w->ended; ms += 50)
        job_wait(p->job, NULL, 0, 50);
    if (r->ended && r->status && !(r->status == 128 + SIGPIPE && w->ended && w->status))
        return r;
    return w->ended && w->status ? w : NULL;
}

/* Notices what has ended, and whether it has failed. */
static void look(struct parts *p)
{
    p->running = 0;
    for (size_t i = 0; i < p->started; i++) {
        const struct part *at = &p->at[i];
        p->running += !at->worker->process->ended;
        if (i < p->bad && failed_in(p, at))
            p->bad = i;
    }
}

/* Until all are written, or all before the first that has failed. */
static int work(struct parts *p, struct err *e)
{
    struct dispatch *d = &p->x->dispatch;
    for (look(p); !d->failed; look(p)) {
        while (p->running < p->x->common.jobs && p->started < p->n && p->started < p->bad && !d->stopped) {
            if (start_part(p, e))
                return -1;
            p->running++;
        }
        if (p->started == p->n)
            dispatch_end(d);
        if (d->n_written_units >= (p->bad < p->n ? p->bad : p->n))
            return 0;
        if (dispatch_move(d, -1, watch_tick(&p->x->watch), e))
            return -1;
    }
    return 0;
}

static int outcome(struct parts *p, struct err *e)
{
    enum { PATIENCE_MS = 2000, STEP_MS = 50 };
    const struct dispatch *d = &p->x->dispatch;
    for (size_t i = 0; d->failed && i < p->bad; i++)
        p->bad = p->at[i].worker == d->failed ? i : p->bad;
    if (p->bad == p->n) {
        job_wait_all(p->job);
        look(p);
    }
    if (p->bad == p->n)
        return 0;
    /* Both of its processes may have failed: what reads is the reason then. */
    const struct part *at = &p->at[p->bad];
    for (int ms = 0; ms < PATIENCE_MS && !at->reader->ended; ms += STEP_MS)
        job_wait(p->job, NULL, 0, STEP_MS);
    for (int ms = 0; ms < PATIENCE_MS && !failed_in(p, at); ms += STEP_MS)
        job_wait(p->job, NULL, 0, STEP_MS);
    const struct job_process *why = failed_in(p, at);
    if (!why)
        why = at->worker->process;
    job_end(p->job);
    return encode_tell(p->x, p->job, why, e);
}

static int prepare(struct parts *p, struct err *e)
{
    struct encode *x = p->x;
    p->n = x->common.jobs * (size_t)(bytes_of(x) / x->common.jobs / PART_MOST + 1);
    p->bad = p->n;
    p->at = calloc(p->n, sizeof *p->at);
    p->path = place_command("parquet", e);
    if (!p->at)
        return err_mem(e, "parts", p->n * sizeof *p->at);
    if (!p->path || encode_text_words(x, &p->words, e) || command_line_add(&p->words, e, "-0", "-f", "turns"))
        return -1;
    x->dispatch = (struct dispatch){
        .job = p->job, .words = p->words.words, .out = x->out.fd, .writes = x->out.name, .stage = ENCODE_IDS};
    return dispatch_open(&x->dispatch, p->n, 0, e);
}

int encode_parquet(struct encode *x, struct job *j, struct err *e)
{
    struct parts p = {.x = x, .job = j};
    int status = prepare(&p, e);
    if (status == 0) {
        watch_start(&x->watch, j, x->common.progress, x->files, x->n_files, ENCODE_READ);
        status = work(&p, e);
        watch_end(&x->watch);
    }
    status = status ? -1 : outcome(&p, e);
    command_line_free(&p.words);
    free(p.path);
    free(p.column);
    free(p.at);
    return status;
}
