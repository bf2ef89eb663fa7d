/* encode.c - see bpetools.h: encodes one text, or many texts with threads. */
#include "library/last_error.h"
#include "library/tokenizer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP = 64 << 10, /* minimum number of bytes of text that a thread takes at a time */
    GROUPS = 16,      /* groups per thread, so that all threads end at about the same time */
    THREADS_MAX = 1024,
};

ptrdiff_t bpe_encode(const bpe_tokenizer *t, const char *text, size_t len, enum bpe_special special, uint32_t *ids,
                     size_t room)
{
    struct err *e = last_error();
    struct worker *w = worker_get(t->pool, &t->rules, special, e);
    size_t where = 0;
    if (!w)
        return last_error_tell(BPE_UNKNOWN);
    w->ids.n = 0;
    if (worker_encode(w, text, len, &where, e)) {
        worker_free(w);
        err_place(e, "text", where);
        return last_error_tell(BPE_UNKNOWN);
    }
    const size_t n = w->ids.n, n_out = n < room ? n : room;
    if (n_out)
        memcpy(ids, w->ids.p, n_out * sizeof *ids);
    worker_put(t->pool, w);
    return (ptrdiff_t)n;
}

/* ---- Many texts ---- */

/* Texts first .. last - 1, which one thread encodes, and their ids while these wait for those of earlier groups. */
struct group {
    size_t first, last;
    struct ids ids;
    bool is_done;
};

struct job {
    const bpe_tokenizer *t;
    const struct bpe_text *text;
    enum bpe_special special;
    struct group *group;
    size_t n_groups;
    uint64_t *n_ids;      /* the number of ids of each text */
    atomic_size_t next;   /* the group that is taken next */
    atomic_bool stopped;  /* a group has failed: no more are taken */
    pthread_mutex_t lock; /* for the fields below */
    struct ids ids;       /* of the first n_gathered groups */
    size_t n_gathered;
    struct err e;    /* of the first text that failed */
    uint64_t failed; /* the index of that text; BPE_UNKNOWN: the error is not in a text */
};

/* Groups are taken in order, and each one taken is finished. So the first text that fails does not depend on timing. */
static void job_fail(struct job *j, uint64_t text, const struct err *e)
{
    pthread_mutex_lock(&j->lock);
    if (!j->e.code || text < j->failed) {
        j->e = *e;
        j->failed = text;
    }
    pthread_mutex_unlock(&j->lock);
    atomic_store(&j->stopped, true);
}

/* Moves the ids of one array to the end of another; *from keeps memory for more ids. -1: out of memory. */
static int append(struct ids *to, struct ids *from, struct err *e)
{
    if (!to->n) {
        const struct ids room = *to;
        *to = *from;
        *from = room;
        return 0;
    }
    if (ids_reserve(to, from->n, e))
        return -1;
    if (from->n)
        memcpy(to->p + to->n * sizeof(uint32_t), from->p, from->n * sizeof(uint32_t));
    to->n += from->n;
    from->n = 0;
    return 0;
}

/* Stores the ids of a group, then appends those of all groups that are next in order and done to j->ids. *ids is empty
 * afterwards; it keeps its memory if the group's ids were appended. -1: out of memory. */
static int gather(struct job *j, struct group *g, struct ids *ids, struct err *e)
{
    int rc = 0;
    g->ids = *ids;
    *ids = (struct ids){.wide = true};
    pthread_mutex_lock(&j->lock);
    g->is_done = true;
    while (!rc && j->n_gathered < j->n_groups && j->group[j->n_gathered].is_done) {
        struct group *first = &j->group[j->n_gathered++];
        rc = append(&j->ids, &first->ids, e);
        if (first == g) {
            *ids = g->ids;
            g->ids = (struct ids){0};
        } else {
            ids_free(&first->ids);
        }
    }
    pthread_mutex_unlock(&j->lock);
    return rc;
}

/* Encodes a group. -1: the job has failed, and the worker can only be freed. */
static int encode_group(struct job *j, struct worker *w, struct group *g, struct err *e)
{
    w->ids.n = 0;
    for (size_t i = g->first; i < g->last; i++) {
        const size_t before = w->ids.n;
        size_t where = 0;
        if (worker_encode(w, j->text[i].p, j->text[i].len, &where, e)) {
            char name[40];
            snprintf(name, sizeof name, "text %zu", i);
            err_place(e, name, where);
            job_fail(j, i, e);
            return -1;
        }
        j->n_ids[i] = w->ids.n - before;
    }
    if (gather(j, g, &w->ids, e)) {
        job_fail(j, BPE_UNKNOWN, e);
        return -1;
    }
    return 0;
}

static void *work(void *ctx)
{
    struct job *j = ctx;
    struct err e = {0};
    struct worker *w = NULL;
    while (!atomic_load(&j->stopped)) {
        size_t i = atomic_fetch_add(&j->next, 1);
        if (i >= j->n_groups)
            break;
        if (!w && !(w = worker_get(j->t->pool, &j->t->rules, j->special, &e))) {
            job_fail(j, BPE_UNKNOWN, &e);
            break;
        }
        if (encode_group(j, w, &j->group[i], &e)) {
            worker_free(w);
            return NULL;
        }
    }
    if (w)
        worker_put(j->t->pool, w);
    return NULL;
}

/* Divides the texts into groups of at least this many bytes. -1: out of memory. */
static int set_groups(struct job *j, size_t n, size_t bytes, struct err *e)
{
    size_t cap = 0, first = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += j->text[i].len;
        if (sum < bytes && i + 1 < n)
            continue;
        if (array_grow(&j->group, &cap, j->n_groups + 1, sizeof *j->group, "texts", e))
            return -1;
        j->group[j->n_groups++] = (struct group){.first = first, .last = i + 1};
        first = i + 1;
        sum = 0;
    }
    return 0;
}

static unsigned processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

/* Encodes with the calling thread and new ones. If fewer threads than requested can be created, encoding only takes
 * longer. The new threads block all signals, so handlers run in the same threads as without the library. */
static void run_threads(struct job *j, unsigned threads)
{
    pthread_t thread[THREADS_MAX];
    sigset_t all, before;
    size_t n = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (n + 1 < threads && n + 1 < j->n_groups && pthread_create(&thread[n], NULL, work, j) == 0)
        n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(j);
    while (n)
        pthread_join(thread[--n], NULL);
}

static int encode_all(struct job *j, size_t n, unsigned threads, struct bpe_batch *out, struct err *e)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += j->text[i].len;
    threads = threads ? threads : processors();
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    size_t bytes = threads > 1 ? total / threads / GROUPS : SIZE_MAX;
    if (set_groups(j, n, bytes > GROUP ? bytes : GROUP, e))
        return -1;
    run_threads(j, threads);
    if (j->e.code) {
        *e = j->e;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        out->offset[i + 1] += out->offset[i];
    void *exact = j->ids.n ? realloc(j->ids.p, j->ids.n * sizeof *out->ids) : NULL; /* releases the unused memory */
    out->ids = exact ? exact : (void *)j->ids.p;
    j->ids.p = NULL;
    return 0;
}

int bpe_encode_batch(const bpe_tokenizer *t, const struct bpe_text *texts, size_t n, enum bpe_special special,
                     unsigned threads, struct bpe_batch *out)
{
    struct err *e = last_error();
    struct job j = {.t = t,
                    .text = texts,
                    .special = special,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .failed = BPE_UNKNOWN,
                    .ids.wide = true};
    *out = (struct bpe_batch){.n = n, .offset = calloc(n + 1, sizeof *out->offset)};
    j.n_ids = out->offset ? out->offset + 1 : NULL;
    int rc = out->offset ? encode_all(&j, n, threads, out, e) : err_mem(e, "the offsets", n * sizeof *out->offset);
    for (size_t i = 0; i < j.n_groups; i++)
        ids_free(&j.group[i].ids);
    ids_free(&j.ids);
    free(j.group);
    if (rc) {
        bpe_batch_free(out);
        return last_error_tell(j.failed);
    }
    return 0;
}

void bpe_batch_free(struct bpe_batch *b)
{
    free(b->ids);
    free(b->offset);
    *b = (struct bpe_batch){0};
}
