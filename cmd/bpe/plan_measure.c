/* plan_measure.c - measures what the programs need for a sample, for bpe plan.
 *
 * One program runs at a time. A short one runs several times, and its execution with the least CPU time counts, because
 * the machine may be busy. All files are unnamed, so that a kill leaves none behind; a program gets them as
 * descriptors.
 */
#include "bpe/plan.h"
#include "driver/command.h"
#include "driver/installed.h"
#include "driver/partition.h"
#include "pretok/pretoken.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 3 };
#define ENOUGH 0.2 /* seconds; longer measurements need no second round */

const unsigned plan_often[PLAN_OFTEN] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};

struct measure {
    struct job *job;
    const struct plan_sample *s;
    const struct option_words *chunk;
    const char *vocabulary; /* as text */
    struct plan_facts *f;
    double start; /* CPU seconds for starting a program */
    int counts[PLAN_PARTS], chunks, sum, half[2], again, model, ids;
};

/* The names by which a program opens its files: descriptors from JOB_FIRST_MORE on. bpe-chunk sends the text of a file
 * named /dev/fd/N by value, because each process has a different one. Here bpe-count has the same descriptors, and must
 * read the part like any other file, so the names are spelled differently. */
static const char *const names[JOB_MORE] = {"/dev/./fd/4", "/dev/./fd/5", "/dev/./fd/6",  "/dev/./fd/7",
                                            "/dev/./fd/8", "/dev/./fd/9", "/dev/./fd/10", "/dev/./fd/11"};

/* ---- Messages ---- */

/* The offset of a line in a part. */
static uint64_t line_begin(int fd, uint64_t line)
{
    char window[16 << 10];
    ssize_t n;
    for (uint64_t at = 0; line > 1 && (n = pread(fd, window, sizeof window, (off_t)at)) > 0; at += (uint64_t)n) {
        for (const char *p = window; (p = memchr(p, '\n', (size_t)(window + n - p))) != NULL;) {
            p++;
            if (--line == 1)
                return at + (uint64_t)(p - window);
        }
    }
    return 0;
}

/* Translates a message that names a program's first file: if that is a part of the sample, replaces its name and
 * position with the name of the original FILE and the position in its text. */
static int put_origin(const struct measure *m, int first, const char *line, struct buf *to, struct err *e)
{
    const char *at = strstr(line, names[0]), *name = NULL;
    char unit[5];
    unsigned long long n;
    uint64_t offset;
    int len;
    size_t part = 0;
    while (part < m->s->n_parts && m->s->part[part] != first)
        part++;
    if (at && part < m->s->n_parts && sscanf(at + strlen(names[0]), ": %4s %llu%n", unit, &n, &len) == 2) {
        if (strcmp(unit, "byte") == 0)
            name = plan_sample_origin(m->s, part, n, &offset);
        else if (strcmp(unit, "line") == 0)
            name = plan_sample_origin(m->s, part, line_begin(first, n), &offset);
    }
    if (!name)
        return buf_put(to, line, strlen(line) + 1, e);
    const char *rest = at + strlen(names[0]) + len;
    if (buf_put(to, line, (size_t)(at - line), e) || buf_put_str(to, name, e) ||
        buf_printf(to, e, ": byte %llu", (unsigned long long)offset) || buf_put(to, rest, strlen(rest) + 1, e))
        return -1;
    return 0;
}

/* The exit status of the program that has ended; prints why it failed. Its warnings are dropped. */
static int outcome(const struct measure *m, int first, struct err *e)
{
    struct buf line = {0}, text = {0};
    int status = job_outcome(m->job, &line, e);
    if (status > 0 && line.len) {
        if (buf_put_byte(&line, '\0', e) || put_origin(m, first, (const char *)line.p, &text, e))
            status = -1;
        else
            job_print(NULL, (const char *)text.p);
    }
    buf_free(&line);
    buf_free(&text);
    job_forget(m->job);
    return status;
}

/* ---- Running a program ---- */

struct used {
    double seconds, memory; /* CPU time, without that of starting a program; bytes */
};

static int run_once(const struct measure *m, const struct command_line *l, const int *in, size_t n, int out,
                    struct used *used, struct err *e)
{
    struct job_start how = {.argv = l->words,
                            .in = -1,
                            .out = out,
                            .n_more = (int)n,
                            .writes = installed_temporary(),
                            .remedy = PARTITION_REMEDY};
    for (size_t i = 0; i < n; i++)
        how.more[i] = in[i];
    if (out >= 0 && (ftruncate(out, 0) || lseek(out, 0, SEEK_SET)))
        return err_sys(e, EX_IOERR, errno, "%s: cannot write", installed_temporary());
    const struct job_process *p = job_start(m->job, &how, e);
    if (!p)
        return -1;
    job_wait_all(m->job);
    *used = (struct used){p->cpu, (double)p->memory};
    return outcome(m, n ? in[0] : -1, e);
}

/* Runs a program with n files, `in`. Its command line is `words`, then `--` and the names of the files from `named` on,
 * if any. Its output replaces the contents of `out` (-1: none). used NULL: it runs only once. Returns the exit status,
 * whose reason was printed, or -1. */
static int run(const struct measure *m, const char *const *words, size_t named, const int *in, size_t n, int out,
               struct used *used, struct err *e)
{
    struct command_line l = {0};
    struct used best = {0}, now;
    int rounds = used ? ROUNDS : 1;
    int status = command_line_words(&l, words, e) || (named < n && command_line_add(&l, e, "--")) ? -1 : 0;
    for (size_t i = named; i < n && status == 0; i++)
        status = command_line_add(&l, e, names[i]);
    for (int round = 0; round < rounds && status == 0 && (round == 0 || best.seconds < ENOUGH); round++) {
        now = (struct used){0};
        status = run_once(m, &l, in, n, out, &now, e);
        if (round == 0 || now.seconds < best.seconds)
            best = now;
    }
    best.seconds = best.seconds > m->start ? best.seconds - m->start : 0;
    if (used)
        *used = best;
    command_line_free(&l);
    return status;
}

/* ---- Output ---- */

static double size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (double)st.st_size : 0;
}

/* Counts all pretokens and, unless often is NULL, those that occur at least plan_often[i] times. */
struct tally {
    double all, *often;
};

static int tally_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct tally *t = ctx;
    struct words w;
    (void)stream;
    if (rec->type != RECORD_WORDS)
        return 0;
    if (words_get(&w, rec, e))
        return -1;
    struct cursor in = cursor_over(w.entries.p, w.entries.len);
    while (cursor_left(&in) && w.kind != WORDS_MORE && !in.bad) {
        uint64_t count;
        if (w.kind == WORDS_FIRST) {
            get_varint(&in);
            count = get_varint(&in);
        } else {
            count = pretoken_get(&in).count;
        }
        t->all++;
        for (size_t i = 0; t->often && i < PLAN_OFTEN && count >= plan_often[i]; i++)
            t->often[i]++;
        if (w.kind == WORDS_FIRST)
            break; /* the rest is its bytes */
    }
    return in.bad ? payload_damaged(e, "words") : 0;
}

/* The distinct pretokens in counts, added up over batches; -1: an error. */
static double distinct(int fd, double *often, struct err *e)
{
    struct tally t = {.often = often};
    char name[40];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    return record_each_of(name, tally_record, &t, e) ? -1 : t.all;
}

/* ---- The stages ---- */

static const char *const sum[] = {"bpe-sum", NULL};

/* Makes chunks of a part. by_model: for encoding, with the model, which replaces the options that only counting needs.
 */
static int make_chunks(const struct measure *m, size_t part, bool by_model, struct err *e)
{
    static const char *const known[] = {"pattern", "regex", "special-token", "no-special", "normalize", NULL};
    static const char *const other[] = {"block", "inline", "dealt", NULL}; /* the sample is small, and in files */
    const int in[] = {m->s->part[part], m->model};
    const size_t n = by_model ? 2 : 1;
    struct command_line l = {0};
    int status = command_line_add(&l, e, "bpe-chunk", by_model ? "-m" : NULL, names[1]);
    for (size_t i = 0; i < m->chunk->n && status == 0; i++) {
        const char *word = m->chunk->at[i];
        bool skip = option_word_in(word, other) || (by_model && option_word_in(word, known));
        status = skip ? 0 : command_line_add(&l, e, word);
    }
    if (status == 0)
        status = command_line_add(&l, e, "--", names[0]);
    if (status == 0)
        status = run(m, l.words, n, in, n, m->chunks, NULL, e);
    command_line_free(&l);
    return status;
}

/* Measures a part, and training on all parts up to it. */
static int measure_part(const struct measure *m, size_t i, struct err *e)
{
    struct plan_facts *f = m->f;
    const size_t last = m->s->n_parts - 1;
    const double bytes = (double)m->s->bytes[i];
    const int in[] = {m->s->part[i], m->chunks}; /* bpe-count opens the part by the name that bpe-chunk recorded */
    const char *const count[] = {"bpe-count", NULL}, *const merge[] = {"bpe-merge", "-v", m->vocabulary, NULL};
    struct used used;
    int status = make_chunks(m, i, false, e);
    status = status ? status : run(m, count, 1, in, 2, m->counts[i], &used, e);
    if (status)
        return status;
    double n = distinct(m->counts[i], NULL, e);
    if (n < 0)
        return -1;
    f->count.bytes[i] = bytes;
    f->count.records[i] = n;
    f->count.seconds[i] = used.seconds;
    f->count.memory[i] = used.memory;
    status = run(m, sum, 0, m->counts, i + 1, m->sum, &used, e);
    if (status)
        return status;
    double v = distinct(m->sum, i == last ? f->often : NULL, e);
    if (v < 0)
        return -1;
    f->add.records[i] = (i ? f->add.records[i - 1] : 0) + n;
    f->add.seconds[i] = used.seconds;
    f->add.memory[i] = used.memory;
    f->point.bytes[i] = (i ? f->point.bytes[i - 1] : 0) + bytes;
    f->point.distinct[i] = v;
    f->point.sum[i] = size_of(m->sum);
    f->n++;
    if (i + PLAN_MERGES <= last)
        return 0;
    status = run(m, merge, 0, &m->sum, 1, i == last ? m->model : -1, &used, e);
    f->merge.seconds[i] = used.seconds;
    f->merge.memory[i] = used.memory;
    return status;
}

/* Measures bpe-sum with little memory, and bpe-sum of two sums in files, each of every second part. */
static int measure_sums(const struct measure *m, struct err *e)
{
    static const char *const with_little[] = {"bpe-sum", "-S", "8M", NULL};
    static const char *const of_some[] = {"bpe-sum", "--partial", "-q", NULL};
    struct used used;
    const size_t n = m->s->n_parts;
    int status = run(m, with_little, 0, m->counts, n, m->again, &used, e);
    m->f->spill.records = m->f->add.records[n - 1];
    m->f->spill.seconds = used.seconds;
    for (size_t i = 0; i < 2 && status == 0 && n > 1; i++) {
        int in[PLAN_PARTS];
        size_t n_in = 0;
        for (size_t k = i; k < n; k += 2)
            in[n_in++] = m->counts[k];
        status = run(m, of_some, 0, in, n_in, m->half[i], NULL, e);
        double v = status ? 0 : distinct(m->half[i], NULL, e);
        if (v < 0)
            return -1;
        m->f->sums.records += v;
    }
    if (status || n == 1)
        return status;
    status = run(m, sum, 0, m->half, 2, m->again, &used, e);
    m->f->sums.seconds = used.seconds;
    return status;
}

static int measure_encode(const struct measure *m, struct err *e)
{
    enum { TWO_BYTES = 65536 };
    const size_t last = m->s->n_parts - 1;
    const char *const encode[] = {"bpe-encode", "-m", names[1], "-f", "raw", NULL};
    const int in[] = {m->s->part[last], m->model, m->chunks};
    struct used used = {0};
    int status = make_chunks(m, last, true, e);
    status = status ? status : run(m, encode, 2, in, 3, m->ids, &used, e);
    m->f->encode.bytes = (double)m->s->bytes[last];
    m->f->encode.seconds = used.seconds;
    m->f->encode.ids = size_of(m->ids) / (strtoull(m->vocabulary, NULL, 10) > TWO_BYTES ? 4 : 2);
    return status;
}

static int measure_compressed(const struct measure *m, struct err *e)
{
    static const char *const zstd[] = {"zstd", "-3qcf", NULL};
    struct err none;
    const int counts = m->counts[m->s->n_parts - 1];
    if (job_need("zstd", &none))
        return 0;
    int status = run(m, zstd, 0, &counts, 1, m->again, NULL, e);
    m->f->plain = size_of(counts);
    m->f->compressed = size_of(m->again);
    return status;
}

static int measure_all(struct measure *m, struct err *e)
{
    static const char *const nothing[] = {"bpe-count", "/dev/null", NULL};
    struct used used;
    int status = run(m, nothing, 0, NULL, 0, -1, &used, e);
    m->start = used.seconds;
    for (size_t i = 0; i < m->s->n_parts && status == 0; i++)
        status = measure_part(m, i, e);
    status = status ? status : measure_sums(m, e);
    status = status ? status : measure_encode(m, e);
    return status ? status : measure_compressed(m, e);
}

int plan_measure(struct plan_facts *f, struct job *j, const struct plan_sample *s, const struct option_words *chunk,
                 uint64_t vocabulary, struct err *e)
{
    char word[24];
    struct measure m = {.job = j, .s = s, .chunk = chunk, .vocabulary = word, .f = f};
    int *files[] = {&m.chunks, &m.sum, &m.half[0], &m.half[1], &m.again, &m.model, &m.ids};
    enum { N = sizeof files / sizeof *files };
    int rc = 0;
    j->holds = true; /* messages matter only if a program fails */
    snprintf(word, sizeof word, "%llu", (unsigned long long)vocabulary);
    *f = (struct plan_facts){0};
    for (size_t i = 0; i < N; i++)
        *files[i] = -1;
    for (size_t i = 0; i < PLAN_PARTS; i++)
        m.counts[i] = -1;
    for (size_t i = 0; i < N && rc == 0; i++)
        rc = (*files[i] = partition_file(NULL, e)) < 0 ? -1 : 0;
    for (size_t i = 0; i < s->n_parts && rc == 0; i++)
        rc = (m.counts[i] = partition_file(NULL, e)) < 0 ? -1 : 0;
    if (rc == 0)
        rc = measure_all(&m, e);
    for (size_t i = 0; i < N; i++)
        job_close(files[i]);
    for (size_t i = 0; i < PLAN_PARTS; i++)
        job_close(&m.counts[i]);
    return rc;
}
