/* shuffle_test.c - shard/shuffle.h: random documents, with kills, with any amount of memory, compared with a sort in
 * memory; and whether the order looks random.
 *
 * A kill and restart is shuffle_close and shuffle_open with the state of an earlier sync; all or part of what was
 * written since then is still in the files, as after a crash. The code that gives and the code that takes documents
 * return to the same sync.
 */
#include "base/sys/buf.h"
#include "random.h"
#include "shard/shuffle/shuffle.h"
#include "tap.h"
#include "work_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 2, SOURCES = 40, IDS_ROOM = 3 << 20, FILES = 257 /* files of a shuffle */ };

static struct err e;
static char dir[200];

static void must(bool good)
{
    if (!good) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
}

/* ---- Documents ---- */

struct doc {
    uint64_t number, offset, line, end, key;
    char name[24], id[12];
    size_t n; /* bytes of ids; the ids of document i depend on i */
    size_t i; /* its index in corpus order */
};

static struct doc *docs;
static size_t n_docs;

static unsigned char id_byte(size_t doc, size_t at)
{
    return (unsigned char)(doc * 7 + at * 13 + (at >> 9));
}

static size_t random_size(uint64_t shape)
{
    if (shape == 0) /* 0 or 1 ids */
        return WIDTH * rnd(2);
    uint64_t r = rnd(1000);
    return WIDTH * (r < 300 ? rnd(3) : r < 950 ? rnd(400) : r < 997 || shape == 1 ? rnd(20000) : rnd(1500000));
}

static void make_docs(size_t n, uint64_t shape, const struct shard_plan *plan)
{
    uint64_t number = 0, offset = 0, line = 0;
    docs = malloc(n * sizeof *docs);
    must(docs != NULL);
    for (n_docs = 0; n_docs < n; n_docs++) {
        struct doc *d = &docs[n_docs];
        if (rnd(n / SOURCES + 1) == 0) {
            number += 1 + rnd(3);
            offset = line = 0;
        }
        line++;
        *d = (struct doc){
            .number = number, .offset = offset + rnd(3), .line = line, .n = random_size(shape), .i = n_docs};
        snprintf(d->name, sizeof d->name, "data/part.%llu", (unsigned long long)number);
        if (rnd(3) == 0)
            snprintf(d->id, sizeof d->id, "id-%zu", n_docs);
        d->end = offset = d->offset + 1 + d->n * 2;
        struct document place = {.source = str_of(d->name), .offset = d->offset};
        d->key = shard_plan_key(plan, &place);
    }
}

static int by_key(const void *x, const void *y)
{
    const struct doc *a = x, *b = y;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : a->i < b->i ? -1 : a->i > b->i;
}

/* ---- Taking documents: ids are read only when flush is called ---- */

struct place {
    size_t doc, at; /* documents completely taken; bytes of ids taken of the next one */
    bool open;
};

struct taker {
    const struct doc *want; /* [n_docs], in the expected order */
    struct place now;
    struct {
        const unsigned char *p;
        size_t n, doc, at;
    } held[5000];
    size_t n_held;
    uint64_t wrong;
};

static int taker_flush(void *ctx, struct err *err)
{
    struct taker *t = ctx;
    (void)err;
    for (size_t k = 0; k < t->n_held; k++) {
        for (size_t j = 0; j < t->held[k].n; j++)
            t->wrong += t->held[k].p[j] != id_byte(t->want[t->held[k].doc].i, t->held[k].at + j);
    }
    t->n_held = 0;
    return 0;
}

static int taker_begin(void *ctx, const struct document *d, struct err *err)
{
    struct taker *t = ctx;
    if (t->now.doc >= n_docs || t->now.open)
        return err_set(err, EX_SOFTWARE, "too many documents");
    const struct doc *w = &t->want[t->now.doc];
    t->wrong += !str_equal(d->source, str_of(w->name)) || !str_equal(d->id, str_of(w->id)) || d->number != w->number ||
                d->offset != w->offset || d->line != w->line;
    t->now.open = true;
    t->now.at = 0;
    return 0;
}

static int taker_ids(void *ctx, const unsigned char *p, size_t n, struct err *err)
{
    struct taker *t = ctx;
    if (!t->now.open || t->now.at + n > t->want[t->now.doc].n)
        return err_set(err, EX_SOFTWARE, "too many ids");
    if (t->n_held == sizeof t->held / sizeof *t->held)
        return err_set(err, EX_SOFTWARE, "no flush");
    t->held[t->n_held].p = p;
    t->held[t->n_held].n = n;
    t->held[t->n_held].doc = t->now.doc;
    t->held[t->n_held++].at = t->now.at;
    t->now.at += n;
    return 0;
}

static int taker_end(void *ctx, uint64_t end, struct err *err)
{
    struct taker *t = ctx;
    (void)err;
    t->wrong += !t->now.open || t->now.at != t->want[t->now.doc].n || end != t->want[t->now.doc].end;
    t->now.open = false;
    t->now.doc++;
    return t->n_held > 4000 ? taker_flush(t, err) : 0;
}

/* ---- The job: gives documents, takes them, is killed ---- */

struct job {
    const struct shard_plan *plan;
    struct shuffle *s;
    uint64_t memory;
    struct place given;
    struct taker taker;
    /* At the last sync to which a kill returns. */
    struct buf state;
    struct place saved_given, saved_taken;
    off_t saved_size[FILES];
    bool ended; /* at that sync */
    unsigned kills;
};

static void job_open(struct job *j)
{
    struct str state = {j->state.p, j->state.len};
    j->s = shuffle_open(dir, j->plan, WIDTH, j->memory, state, &e);
    must(j->s != NULL);
    must(shuffle_ended(j->s) == j->ended);
}

static void job_sync(struct job *j)
{
    j->state.len = 0;
    must(!shuffle_sync(j->s, &j->state, &e) && shuffle_unsynced(j->s) == 0);
    j->saved_given = j->given;
    j->saved_taken = j->taker.now;
    j->ended = shuffle_ended(j->s);
    for (size_t i = 0; i < FILES; i++) {
        struct stat st;
        char path[300];
        snprintf(path, sizeof path, "%s/bucket.%03zu", dir, i);
        j->saved_size[i] = stat(path, &st) < 0 ? 0 : st.st_size;
    }
}

/* Leaves the files as a crash may: what was durable, and part of what was written later, or garbage. */
static void damage_tails(const struct job *j)
{
    char path[300];
    for (size_t i = 0; i < FILES; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s/bucket.%03zu", dir, i);
        if (rnd(2) || stat(path, &st) < 0)
            continue;
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        must(fd >= 0);
        if (rnd(2))
            must(write(fd, "torn entries", 1 + rnd(12)) > 0);
        else if (st.st_size > j->saved_size[i])
            must(!ftruncate(fd, j->saved_size[i] + (off_t)rnd((uint64_t)(st.st_size - j->saved_size[i]))));
        close(fd);
    }
}

static void job_kill(struct job *j, const uint64_t *memory, size_t n_memory)
{
    shuffle_close(j->s);
    damage_tails(j);
    j->memory = memory[rnd(n_memory)];
    j->given = j->saved_given;
    j->taker.now = j->saved_taken;
    j->taker.n_held = 0;
    j->kills++;
    job_open(j);
}

/* Gives some documents, from memory that is reused; each document's ids take any number of calls. */
static void give(struct job *j)
{
    static unsigned char room[IDS_ROOM];
    struct document_sink sink = shuffle_sink(j->s);
    size_t used = 0;
    for (uint64_t calls = rnd(300); calls-- && j->given.doc < n_docs;) {
        const struct doc *d = &docs[j->given.doc];
        struct document place = {str_of(d->name), d->number, d->offset, d->line, str_of(d->id)};
        if (!j->given.open)
            must(!sink.begin(sink.ctx, &place, &e));
        size_t left = d->n - j->given.at, n = left && rnd(8) == 0 ? rnd(left + 1) : left;
        if (n > IDS_ROOM - used)
            n = IDS_ROOM - used;
        for (size_t k = 0; k < n; k++)
            room[used + k] = id_byte(d->i, j->given.at + k);
        if (n)
            must(!sink.ids(sink.ctx, room + used, n, &e));
        used += n;
        j->given.at += n;
        j->given.open = j->given.at < d->n || used == IDS_ROOM || rnd(30) == 0;
        if (used == IDS_ROOM)
            break;
        if (!j->given.open) {
            must(!sink.end(sink.ctx, d->end, &e));
            j->given.doc++;
            j->given.at = 0;
        }
    }
    must(!sink.flush(sink.ctx, &e));
    memset(room, 0xEE, used);
}

static void shuffle_all(struct job *j, const uint64_t *memory, size_t n_memory, unsigned kill_in)
{
    struct document_sink to = {taker_begin, taker_ids, taker_end, taker_flush, &j->taker};
    int rc = 1;
    job_open(j);
    while (rc) {
        if (kill_in && rnd(kill_in) == 0)
            job_kill(j, memory, n_memory);
        if (!shuffle_ended(j->s) && j->given.doc < n_docs) {
            give(j);
        } else if (!shuffle_ended(j->s)) {
            must(!shuffle_end(j->s, &e));
            if (rnd(2))
                continue; /* the end is not synced yet */
            job_sync(j);
        } else if (!j->ended) {
            job_sync(j);
        } else {
            must((rc = shuffle_next(j->s, &to, 1 + rnd(400000), &e)) >= 0);
        }
        if (rnd(3) == 0 || rc == 0) {
            job_sync(j);
            if (rnd(4) || rc == 0)
                must(!shuffle_release(j->s, &e));
        }
    }
    shuffle_close(j->s);
}

/* Number of files in the directory. */
static size_t files_left(void)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *f; d && (f = readdir(d)) != NULL;)
        n += f->d_name[0] != '.';
    closedir(d);
    return n;
}

static void check(const char *what, size_t n, uint64_t shape, uint64_t memory, unsigned kill_in)
{
    static const uint64_t any[] = {1 << 10, 100 << 10, 1 << 20, 64 << 20};
    struct shard_plan plan = {.shuffled = true, .seed = rnd(5)};
    struct job *j = calloc(1, sizeof *j);
    must(j != NULL);
    make_docs(n, shape, &plan);
    struct doc *sorted = malloc((n + 1) * sizeof *sorted);
    must(sorted != NULL);
    if (n)
        memcpy(sorted, docs, n * sizeof *docs);
    qsort(sorted, n, sizeof *sorted, by_key);
    j->plan = &plan;
    j->memory = memory;
    j->taker.want = sorted;
    shuffle_all(j, any, sizeof any / sizeof *any, kill_in);
    size_t left = files_left();
    tap_ok(j->taker.now.doc == n && !j->taker.wrong && left == 0,
           "%s: %zu documents in the order of their keys, unchanged; no files left (%u kills, %llu wrong, %zu files)",
           what, n, j->kills, (unsigned long long)j->taker.wrong, left);
    buf_free(&j->state);
    free(sorted);
    free(docs);
    free(j);
}

/* A document that is open during many syncs is stored in as many parts, which have equal keys. */
static void check_many_parts(void)
{
    struct shard_plan plan = {.shuffled = true};
    struct job *j = calloc(1, sizeof *j);
    must(j != NULL);
    make_docs(1, 1, &plan);
    docs[0].n = 400;
    struct document place = {str_of(docs[0].name), docs[0].number, docs[0].offset, docs[0].line, str_of(docs[0].id)};
    struct document_sink to = {taker_begin, taker_ids, taker_end, taker_flush, &j->taker};
    j->plan = &plan;
    j->memory = 1 << 20;
    j->taker.want = docs;
    job_open(j);
    struct document_sink sink = shuffle_sink(j->s);
    must(!sink.begin(sink.ctx, &place, &e));
    for (size_t at = 0; at < docs[0].n; at += WIDTH) {
        unsigned char id[WIDTH] = {id_byte(0, at), id_byte(0, at + 1)};
        must(!sink.ids(sink.ctx, id, sizeof id, &e) && !sink.flush(sink.ctx, &e));
        job_sync(j);
    }
    must(!sink.end(sink.ctx, docs[0].end, &e) && !shuffle_end(j->s, &e) && !shuffle_next(j->s, &to, 1 << 20, &e));
    job_sync(j);
    must(!shuffle_release(j->s, &e));
    tap_ok(j->taker.now.doc == 1 && !j->taker.wrong && files_left() == 0, "a document in 200 parts is unchanged");
    shuffle_close(j->s);
    buf_free(&j->state);
    free(docs);
    free(j);
}

/* ---- The order ---- */

/* Documents of one source: chi-square over a table of position before by position after, with about 15 * 15 degrees of
 * freedom. The probability of more than 330 is below one in a million. */
static double chi_square(uint64_t seed, size_t n)
{
    enum { CELLS = 16 };
    size_t count[CELLS][CELLS] = {{0}};
    struct shard_plan plan = {.shuffled = true, .seed = seed};
    make_docs(n, 0, &plan);
    qsort(docs, n, sizeof *docs, by_key);
    for (size_t i = 0; i < n; i++)
        count[i * CELLS / n][docs[i].i * CELLS / n]++;
    double sum = 0, mean = (double)n / (CELLS * CELLS);
    for (size_t a = 0; a < CELLS; a++) {
        for (size_t b = 0; b < CELLS; b++)
            sum += ((double)count[a][b] - mean) * ((double)count[a][b] - mean) / mean;
    }
    size_t neighbours = 0;
    for (size_t i = 1; i < n; i++)
        neighbours += docs[i].i == docs[i - 1].i + 1;
    free(docs);
    return neighbours > 12 ? 1e9 : sum;
}

static void check_order(void)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        double x = chi_square(seed, 16384);
        worst = x > worst ? x : worst;
    }
    tap_ok(worst < 330, "the order looks random: chi-square of 8 seeds at most %.0f", worst);
}

static void check_damage(void)
{
    struct shard_plan plan = {.shuffled = true};
    struct buf state = {0};
    struct doc *d;
    make_docs(1, 1, &plan);
    d = docs;
    struct document place = {str_of(d->name), d->number, d->offset, d->line, str_of(d->id)};
    struct shuffle *s = shuffle_open(dir, &plan, WIDTH, 1 << 20, (struct str){0}, &e);
    must(s != NULL);
    struct document_sink sink = shuffle_sink(s);
    must(!sink.begin(sink.ctx, &place, &e) && !sink.end(sink.ctx, d->end, &e) && !shuffle_sync(s, &state, &e));
    shuffle_close(s);
    tap_ok(!shuffle_open(dir, &plan, 4, 1 << 20, (struct str){state.p, state.len}, &e) && e.code == EX_DATAERR,
           "a state for ids of another width is refused: %s", e.msg);
    tap_ok(!shuffle_open(dir, &plan, WIDTH, 1 << 20, (struct str){state.p, state.len - 1}, &e) && e.code == EX_DATAERR,
           "a truncated state is refused: %s", e.msg);
    char path[300];
    snprintf(path, sizeof path, "%s/bucket.%03zu", dir, (size_t)(d->key >> 56));
    must(truncate(path, 5) == 0);
    tap_ok(!shuffle_open(dir, &plan, WIDTH, 1 << 20, (struct str){state.p, state.len}, &e) && e.code == EX_DATAERR,
           "a truncated file is an error: %s", e.msg);
    unlink(path);
    tap_ok(!shuffle_open(dir, &plan, WIDTH, 1 << 20, (struct str){state.p, state.len}, &e) && e.code == EX_NOINPUT,
           "a missing file is an error: %s", e.msg);
    s = shuffle_open(dir, &plan, WIDTH, 1 << 20, (struct str){0}, &e);
    must(s != NULL);
    tap_ok(files_left() == 0, "without a state, files of an earlier run are deleted");
    shuffle_close(s);
    buf_free(&state);
    free(docs);
}

/* ---- A bit that changes between two processes ---- */

/* Puts all documents into a shuffle, takes n of them, and ends like a process that dies. */
static void begin_and_die(struct job *j, size_t n)
{
    struct document_sink to = {taker_begin, taker_ids, taker_end, taker_flush, &j->taker};
    job_open(j);
    while (j->given.doc < n_docs)
        give(j);
    must(!shuffle_end(j->s, &e));
    while (j->taker.now.doc < n)
        must(shuffle_next(j->s, &to, 1, &e) > 0);
    job_sync(j);
    shuffle_close(j->s);
}

/* Flips a random bit of file i, which is not empty. */
static void flip(size_t i)
{
    char path[300];
    struct stat st;
    unsigned char byte;
    snprintf(path, sizeof path, "%s/bucket.%03zu", dir, i);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    must(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0);
    uint64_t bit = rnd(8 * (uint64_t)st.st_size);
    must(pread(fd, &byte, 1, (off_t)(bit / 8)) == 1);
    byte ^= (unsigned char)(1 << bit % 8);
    must(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1);
    close(fd);
}

/* Whether continuing ends with EX_DATAERR. */
static bool is_noticed(struct job *j)
{
    struct document_sink to = {taker_begin, taker_ids, taker_end, taker_flush, &j->taker};
    struct str state = {j->state.p, j->state.len};
    int rc = -1;
    e = (struct err){0};
    j->taker.n_held = 0;
    struct shuffle *s = shuffle_open(dir, j->plan, WIDTH, j->memory, state, &e);
    while (s && (rc = shuffle_next(s, &to, 400000, &e)) > 0)
        ;
    shuffle_close(s);
    return rc < 0 && e.code == EX_DATAERR;
}

/* The bucket of document n in the new order. */
static size_t bucket_of(const struct doc *sorted, size_t n)
{
    return (size_t)(sorted[n].key >> 56);
}

static void check_flips(const char *what, uint64_t memory, bool begun, bool names)
{
    enum { N = 80, TIMES = 20 }; /* few, because each is synced; almost every document has its own file */
    struct shard_plan plan = {.shuffled = true};
    unsigned noticed = 0;
    for (int i = 0; i < TIMES; i++) {
        struct job *j = calloc(1, sizeof *j);
        must(j != NULL);
        make_docs(N, 1, &plan);
        struct doc *sorted = malloc(N * sizeof *sorted);
        must(sorted != NULL);
        memcpy(sorted, docs, N * sizeof *docs);
        qsort(sorted, N, sizeof *sorted, by_key);
        j->plan = &plan;
        j->memory = memory;
        j->taker.want = sorted;
        size_t passed = begun ? 1 + rnd(N - 2) : 0;
        while (begun && bucket_of(sorted, passed) != bucket_of(sorted, passed - 1)) /* in the middle of a bucket */
            passed = 1 + rnd(N - 2);
        begin_and_die(j, passed);
        flip(names ? FILES - 1 : begun ? bucket_of(sorted, passed) : bucket_of(sorted, rnd(N)));
        noticed += is_noticed(j);
        struct shuffle *s = shuffle_open(dir, &plan, WIDTH, memory, (struct str){0}, &e); /* deletes the files */
        must(s != NULL);
        shuffle_close(s);
        buf_free(&j->state);
        free(sorted);
        free(docs);
        free(j);
    }
    tap_ok(noticed == TIMES, "a flipped bit %s is detected (%u of %d)", what, noticed, TIMES);
}

int main(void)
{
    random_seed((uint64_t)getpid());
    must(make_work_dir(dir, sizeof dir, "shuffle"));
    check("nothing", 0, 1, 64 << 20, 0);
    check("one", 1, 1, 64 << 20, 0);
    check("all in memory", 3000, 1, 64 << 20, 0);
    check("little memory", 30000, 1, 100 << 10, 0);
    check("hardly any memory", 3000, 1, 1 << 10, 0);
    check("documents in parts", 1500, 2, 2 << 20, 0);
    check("documents with 0 or 1 ids", 200000, 0, 1 << 20, 0);
    for (int i = 0; i < 6; i++)
        check("kills", 2000 + rnd(4000), 1 + rnd(2), 1 << 20, 12);
    check("many kills", 20000, 0, 1 << 20, 5);
    check_many_parts();
    check_order();
    check_damage();
    check_flips("in a bucket", 64 << 20, false, false);
    check_flips("in a divided bucket", 16 << 10, false, false);
    check_flips("in a bucket that is half passed on", 64 << 20, true, false);
    check_flips("in a divided bucket that is half passed on", 16 << 10, true, false);
    check_flips("in the names of sources", 64 << 20, false, true);
    rmdir(dir);
    return tap_done();
}
