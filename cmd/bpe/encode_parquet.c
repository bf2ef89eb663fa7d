/* encode_parquet.c - bpe encode --parquet: parts of all files, in the order of the text. For each job, a pair of
 * processes runs: one reads parts, and a bpe-encode encodes them and holds the ids of each part until its turn comes.
 *
 * With 2 jobs, the first pair has parts 0, 2, 4, ..., each through its own pipe. A process takes a long time to start,
 * so it has several parts; each part is small, so that few ids are held and the pairs end at about the same time. (A
 * single reader for all would keep the others waiting while it starts, and be too slow for many cores.)
 */
#include "bpe/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of files in a part: the minimum, if a pair has several parts, and the maximum. */
enum { PART_MIN = 4 << 20, PART_MAX = 32 << 20 };

static const char *const names[JOB_MORE] = {"/dev/fd/4", "/dev/fd/5", "/dev/fd/6",  "/dev/fd/7",
                                            "/dev/fd/8", "/dev/fd/9", "/dev/fd/10", "/dev/fd/11"}; /* for bpe-encode */

struct pair {
    const struct job_process *reader;
    const struct dispatch_worker *worker;
};

struct fragments {
    struct encode *x;
    struct job *job;
    struct command_line words; /* of bpe-encode */
    struct pair *at;
    size_t n, each;        /* number of parts: in all (a multiple of jobs * each); of a pair */
    size_t pairs, started; /* n / each; how many were started */
    size_t running;
    size_t bad; /* the first part known to have failed; n: none */
};

static uint64_t bytes_of(const struct encode *x)
{
    struct stat st;
    uint64_t sum = 0;
    for (int i = 0; i < x->n_files; i++)
        sum += stat(x->files[i], &st) == 0 ? (uint64_t)st.st_size : 0;
    return sum;
}

/* The index of the kth part of a pair. Pairs that run at the same time take parts alternately. */
static size_t part_of(const struct fragments *p, size_t pair, size_t k)
{
    size_t jobs = p->x->common.jobs;
    return (pair / jobs * p->each + k) * jobs + pair % jobs;
}

/* Makes a pipe for each part of a pair. The reader of Parquet enlarges a pipe when its turn comes, because the pipes of
 * a user may be limited in total. */
static int make_pipes(int *from, int *to, size_t n, struct err *e)
{
    for (size_t k = 0; k < n; k++)
        from[k] = to[k] = -1;
    for (size_t k = 0; k < n; k++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
            return err_sys(e, EX_OSERR, errno, "cannot make a pipe; use fewer jobs (-j)");
        from[k] = ends[0];
        to[k] = ends[1];
    }
    return 0;
}

/* to: the descriptors to which parts are written, then the one that reports each written part. */
static int start_reader(struct fragments *p, const int *to, struct err *e)
{
    struct command_line l = {0};
    struct job_start s = {.in = -1, .out = -1, .also = to[p->each], .stage = ENCODE_READ, .name = "bpe parquet"};
    char part[JOB_MORE][64];
    int rc = command_line_parquet(&l, &p->x->common, e) || command_line_add(&l, e, "--done=3");
    for (size_t k = 0; k < p->each && rc == 0; k++) {
        s.more[s.n_more++] = to[k];
        snprintf(part[k], sizeof part[k], "--part=%zu/%zu:%zu", part_of(p, p->started, k), p->n, JOB_FIRST_MORE + k);
        rc = command_line_add(&l, e, part[k]);
    }
    rc = rc || command_line_files(&l, p->x->files, p->x->n_files, e) ? -1 : 0;
    s.argv = l.words;
    if (rc == 0)
        p->at[p->started].reader = job_start(p->job, &s, e);
    command_line_free(&l);
    return p->at[p->started].reader ? 0 : -1;
}

static int start_pair(struct fragments *p, struct err *e)
{
    struct pair *at = &p->at[p->started];
    int from[JOB_MORE + 1], to[JOB_MORE + 1];
    int rc = make_pipes(from, to, p->each + 1, e) || start_reader(p, to, e) ? -1 : 0;
    for (size_t k = 0; k <= p->each; k++)
        job_close(&to[k]);
    if (rc == 0 && !(at->worker = dispatch_follow(&p->x->dispatch, from, p->each, from[p->each], e)))
        rc = -1;
    else if (rc)
        job_close(&from[p->each]);
    for (size_t k = 0; k < p->each; k++)
        job_close(&from[k]);
    p->started++;
    return rc;
}

/* Counts the running pairs, and finds the first part known to have failed: no pair starts at a later one. */
static void look(struct fragments *p)
{
    p->running = 0;
    for (size_t i = 0; i < p->started; i++) {
        const struct dispatch_worker *w = p->at[i].worker;
        uint64_t k = dispatch_failed_at(w);
        p->running += !w->process->ended;
        if (k < p->each && part_of(p, i, (size_t)k) < p->bad)
            p->bad = part_of(p, i, (size_t)k);
    }
}

/* Works until all parts are written, or all before the first that failed. */
static int work(struct fragments *p, struct err *e)
{
    struct dispatch *d = &p->x->dispatch;
    while (d->n_written_units < p->n && !d->failed) {
        look(p);
        for (; p->running < p->x->common.jobs && p->started < p->pairs && part_of(p, p->started, 0) < p->bad;
             p->running++) {
            if (start_pair(p, e))
                return -1;
        }
        if (p->started == p->pairs)
            dispatch_end(d);
        if (dispatch_move(d, -1, watch_tick(&p->x->watch), e))
            return -1;
    }
    return 0;
}

/* ---- Why it failed ---- */

/* The failed process of a pair; NULL: none so far. SIGPIPE ends a reader whose bpe-encode has ended. */
static const struct job_process *failed_in(const struct fragments *p, const struct pair *at)
{
    const struct job_process *r = at->reader, *w = at->worker->process;
    for (int ms = 0; ms < 200 && r->ended && r->status == 128 + SIGPIPE && !w->ended; ms += 50)
        job_wait(p->job, NULL, 0, 50);
    if (r->ended && r->status && !(r->status == 128 + SIGPIPE && w->ended && w->status))
        return r;
    return w->ended && w->status ? w : NULL;
}

/* Prints why. A message of bpe-encode about a text names the part. */
static int tell(struct fragments *p, size_t pair, const struct job_process *why, struct err *e)
{
    char name[64];
    uint64_t k = dispatch_failed_at(p->at[pair].worker);
    bool of_text = k < p->each;
    if (of_text)
        snprintf(name, sizeof name, "bpe parquet --part=%zu/%zu", part_of(p, pair, (size_t)k), p->n);
    return encode_tell(p->x, p->job, why, of_text ? names[k] : NULL, name, e);
}

static int outcome(struct fragments *p, struct err *e)
{
    enum { PATIENCE_MS = 2000, STEP_MS = 50 };
    const struct dispatch_worker *failed = p->x->dispatch.failed;
    size_t pair = 0;
    if (!failed)
        job_wait_all(p->job);
    while (pair < p->started && (failed ? p->at[pair].worker != failed : !failed_in(p, &p->at[pair])))
        pair++;
    if (pair == p->started)
        return 0;
    /* If both processes failed, the reader is the cause. */
    const struct pair *at = &p->at[pair];
    for (int ms = 0; ms < PATIENCE_MS && !at->reader->ended; ms += STEP_MS)
        job_wait(p->job, NULL, 0, STEP_MS);
    for (int ms = 0; ms < PATIENCE_MS && !failed_in(p, at); ms += STEP_MS)
        job_wait(p->job, NULL, 0, STEP_MS);
    const struct job_process *why = failed_in(p, at);
    if (!why)
        why = at->worker->process;
    job_end(p->job);
    return tell(p, pair, why, e);
}

/* ---- All ---- */

/* Sets the numbers of parts and pairs. */
static void divide(struct fragments *p)
{
    uint64_t bytes = bytes_of(p->x), jobs = p->x->common.jobs, each = bytes / jobs / PART_MIN;
    p->each = each < 1 ? 1 : each > JOB_MORE ? JOB_MORE : (size_t)each;
    p->pairs = (size_t)(jobs * (bytes / (jobs * p->each * PART_MAX) + 1));
    p->n = p->bad = p->pairs * p->each;
}

static int prepare(struct fragments *p, struct err *e)
{
    struct encode *x = p->x;
    divide(p);
    p->at = calloc(p->pairs, sizeof *p->at);
    if (!p->at)
        return err_mem(e, "parts", p->pairs * sizeof *p->at);
    if (command_line_add(&p->words, e, "bpe-encode") || command_line_options(&p->words, &x->program->words, e) ||
        command_line_add(&p->words, e, "-0", "-f", "turns") ||
        command_line_files(&p->words, (char **)(uintptr_t)names, (int)p->each, e))
        return -1;
    x->dispatch = (struct dispatch){
        .job = p->job, .words = p->words.words, .out = x->out.fd, .writes = x->out.name, .stage = ENCODE_IDS};
    int rc = dispatch_open(&x->dispatch, p->pairs, 0, e);
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        size_t round = i / (x->common.jobs * p->each);
        rc = dispatch_expect(&x->dispatch, round * x->common.jobs + i % x->common.jobs, e);
    }
    return rc;
}

int encode_parquet(struct encode *x, struct job *j, struct err *e)
{
    struct fragments p = {.x = x, .job = j};
    int status = prepare(&p, e);
    if (status == 0) {
        watch_start(&x->watch, j, x->common.progress, x->files, x->n_files, ENCODE_READ);
        status = work(&p, e);
        watch_end(&x->watch);
    }
    status = status ? -1 : outcome(&p, e);
    command_line_free(&p.words);
    free(p.at);
    return status;
}
