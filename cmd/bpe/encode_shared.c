/* encode_shared.c - bpe encode of text that several bpe-encodes share: deals them the records of bpe-chunk, a few
 * megabytes at a time. */
#include "bpe/encode.h"

#include "base/sys/clock.h"
#include "driver/model_words.h"

#include <fcntl.h>

/* Bytes of text that may be ahead of the output: for each job, and the minimum for all. */
enum { AHEAD_EACH = 16 << 20, AHEAD_MIN = 64 << 20 };

struct shared {
    struct encode *x;
    struct command_line chunk_words, worker_words;
    struct option_words for_chunk, for_worker; /* of the command line */
    const struct job_process *chunk;
};

/* ---- Command lines ---- */

static int make_words(struct shared *s, struct err *e)
{
    const struct encode *x = s->x;
    bool as_text = x->options.special == SPECIAL_TEXT;
    if (model_words_chunk(&s->for_chunk, &x->program->words, as_text, e) ||
        model_words_encode(&s->for_worker, &x->program->words, e) ||
        command_line_add(&s->chunk_words, e, "bpe-chunk", "--dealt", "-b", CHUNK_FEED_BLOCK) ||
        command_line_options(&s->chunk_words, &s->for_chunk, e) ||
        command_line_add(&s->worker_words, e, "bpe-encode") ||
        command_line_options(&s->worker_words, &s->for_worker, e) ||
        command_line_add(&s->worker_words, e, "-f", "turns") ||
        command_line_files(&s->chunk_words, x->files, x->n_files, e))
        return -1;
    return 0;
}

/* ---- Why it failed ---- */

/* A worker failed on its text, or before it got any. Returns bpe-chunk if that is the cause, which is known when it has
 * read the source to its end; does not wait for that if it takes long, or if another source follows. */
static const struct job_process *failed_before(struct shared *s, struct job *j, const struct dispatch_unit *failed)
{
    enum { PATIENCE_MS = 1000, STEP_MS = 100 };
    const double max = 10;
    struct err ignored;
    struct chunk_feed *f = &s->x->feed;
    double start = clock_now();
    for (bool same = true; f->fd >= 0 && same && clock_now() - start < max;) {
        struct pollfd in = {.fd = f->fd, .events = POLLIN};
        if (job_wait(j, &in, 1, PATIENCE_MS) == 0 && job_running(j) && clock_now() - start > 1e-3 * PATIENCE_MS)
            break;
        while (same && chunk_feed_step(f, NULL, &ignored) > 0)
            same = !failed->worker || !failed->by_value || f->source == failed->source;
    }
    for (int ms = 0; f->fd < 0 && ms < PATIENCE_MS && !s->chunk->ended; ms += STEP_MS)
        job_wait(j, NULL, 0, STEP_MS);
    return s->chunk->ended && s->chunk->status ? s->chunk : NULL;
}

/* The exit status, after everything was moved. */
static int outcome(struct shared *s, struct job *j, struct err *e)
{
    struct chunk_feed *f = &s->x->feed;
    struct dispatch *d = &s->x->dispatch;
    const struct job_process *p = d->failed ? d->failed->process : NULL;
    if (p) {
        const struct dispatch_unit unit = d->failed_unit;
        if (d->passing)
            chunk_feed_skip(&s->x->feed, d->to_come);
        dispatch_free(d);
        job_wait_for(j, p);
        const struct job_process *before =
            !unit.worker || (unit.by_value && p->status == EX_DATAERR) ? failed_before(s, j, &unit) : NULL;
        p = before ? before : p;
        job_end(j);
    } else {
        job_wait_all(j);
        p = s->chunk->status ? s->chunk : NULL;
        for (size_t i = 0; i < d->n_started && !p; i++)
            p = d->worker[i].process->status ? d->worker[i].process : NULL;
        if (!p && f->cut)
            return err_set(e, EX_TEMPFAIL, "bpe-chunk's last record is cut off");
    }
    return p ? encode_tell(s->x, j, p, NULL, NULL, e) : 0;
}

/* ---- The work ---- */

static int start(struct shared *s, struct job *j, struct err *e)
{
    struct encode *x = s->x;
    int records[2] = {-1, -1};
    uint64_t each = AHEAD_EACH * x->common.jobs;
    x->dispatch = (struct dispatch){.job = j,
                                    .words = s->worker_words.words,
                                    .out = x->out.fd,
                                    .writes = x->out.name,
                                    .stage = ENCODE_IDS,
                                    .ahead = each < AHEAD_MIN ? AHEAD_MIN : each};
    if (job_pipe(records, e))
        return -1;
    s->chunk = job_start(
        j, &(struct job_start){.argv = s->chunk_words.words, .in = 0, .out = records[1], .stage = ENCODE_CHUNK}, e);
    job_close(&records[1]);
    fcntl(records[0], F_SETFL, O_NONBLOCK);
    x->feed = (struct chunk_feed){.fd = records[0], .jobs = x->common.jobs};
    return s->chunk ? dispatch_open(&x->dispatch, x->common.jobs, 2, e) : -1;
}

/* Moves records to the workers, until all are done or one fails. */
static int work(struct encode *x, struct job *j, struct err *e)
{
    struct chunk_feed *f = &x->feed;
    struct dispatch *d = &x->dispatch;
    int more = 1;
    watch_start(&x->watch, j, x->common.progress, x->files, x->n_files, ENCODE_CHUNK);
    while (more >= 0 && dispatch_is_open(d)) {
        while (!d->stopped && (more = chunk_feed_step(f, d, e)) > 0) {
        }
        if (f->state == FEED_PIECES) /* the workers read the files */
            x->watch.last_stage = ENCODE_IDS;
        if (chunk_feed_ended(f) && !d->ended)
            dispatch_end(d);
        if (more >= 0)
            more = dispatch_move(d, chunk_feed_reads(f, d) ? f->fd : -1, watch_tick(&x->watch), e);
    }
    watch_end(&x->watch);
    return more < 0 ? -1 : 0;
}

int encode_shared(struct encode *x, struct job *j, struct err *e)
{
    struct shared s = {.x = x};
    int status = make_words(&s, e) || start(&s, j, e) || work(x, j, e) ? -1 : outcome(&s, j, e);
    command_line_free(&s.chunk_words);
    command_line_free(&s.worker_words);
    option_words_free(&s.for_chunk);
    option_words_free(&s.for_worker);
    return status;
}
