/* plan_measure.c - what the programs take for a sample, for bpe plan. */
#include "bpe/plan_run.h"
#include "driver/command.h"
#include "driver/partition.h"
#include "pretok/pretoken.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const unsigned plan_often[PLAN_OFTEN] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};

struct measure {
    struct plan_runner r;
    const struct plan_sample *s;
    const struct option_words *chunk;
    const char *vocabulary; /* as a word */
    struct plan_facts *f;
    int counts[PLAN_PARTS], chunks, sum, half[2], again, model, ids;
};

/* ---- Command lines ---- */

/* The words of a program that reads n files: those of `options`, then the files. */
static int put_line(struct command_line *l, const char *const *words, size_t first, size_t n, struct err *e)
{
    int rc = command_line_words(l, words, e) || command_line_add(l, e, "--") ? -1 : 0;
    for (size_t i = first; i < first + n && rc == 0; i++)
        rc = command_line_add(l, e, plan_names[i]);
    return rc;
}

/* plan_run of a program whose words are listed. */
static int measure_words(const struct measure *m, const char *const *words, const int *in, size_t n, int out,
                         struct plan_used *used, struct err *e)
{
    struct command_line l = {0};
    int status = put_line(&l, words, 0, n, e) ? -1 : plan_run(&m->r, &l, in, n, out, PLAN_NO_PART, used, e);
    command_line_free(&l);
    return status;
}

#define measure_program(m, in, n, out, used, e, ...)                                                                   \
    measure_words(m, (const char *const[]){__VA_ARGS__, NULL}, in, n, out, used, e)

/* ---- What is in its output ---- */

static double size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (double)st.st_size : 0;
}

/* Counts the pretokens that occur so many times or more; often NULL: all only. */
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

/* The distinct pretokens of counts, of each batch; -1: an error. */
static double distinct(int fd, double *often, struct err *e)
{
    struct tally t = {.often = often};
    char name[40];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    return record_each_of(name, tally_record, &t, e) ? -1 : t.all;
}

/* ---- The stages ---- */

/* Chunks of a part. by_model: for encoding, by the model, which knows what options for counting say. */
static int make_chunks(const struct measure *m, size_t part, bool by_model, struct err *e)
{
    static const char *const known[] = {"pattern", "regex", "special-token", "no-special", NULL};
    static const char *const other[] = {"block", "inline", "dealt", NULL}; /* the sample is small, and in files */
    const char *words[] = {"bpe-chunk", by_model ? "-m" : NULL, plan_names[1], NULL};
    const int in[] = {m->s->part[part], m->model};
    struct command_line l = {0};
    int status = command_line_words(&l, words, e);
    for (size_t i = 0; i < m->chunk->n && status == 0; i++) {
        const char *word = m->chunk->at[i];
        bool skip = option_word_in(word, other) || (by_model && option_word_in(word, known));
        status = skip ? 0 : command_line_add(&l, e, word);
    }
    if (status || command_line_add(&l, e, "--", plan_names[0]))
        status = -1;
    else
        status = plan_run(&m->r, &l, in, by_model ? 2 : 1, m->chunks, (int)part, NULL, e);
    command_line_free(&l);
    return status;
}

/* bpe-count of a part, which it reads by the name that bpe-chunk knew. */
static int count_part(const struct measure *m, size_t part, struct plan_used *used, struct err *e)
{
    const char *const words[] = {"bpe-count", NULL};
    const int in[] = {m->s->part[part], m->chunks};
    struct command_line l = {0};
    int status = put_line(&l, words, 1, 1, e) ? -1 : plan_run(&m->r, &l, in, 2, m->counts[part], (int)part, used, e);
    command_line_free(&l);
    return status;
}

/* A part, and what is learned from it and those before it. */
static int measure_part(const struct measure *m, size_t i, struct err *e)
{
    struct plan_facts *f = m->f;
    const size_t last = m->s->n_parts - 1;
    const double bytes = (double)m->s->bytes[i];
    struct plan_used used;
    int status = make_chunks(m, i, false, e);
    status = status ? status : count_part(m, i, &used, e);
    if (status)
        return status;
    double n = distinct(m->counts[i], NULL, e);
    if (n < 0)
        return -1;
    f->count.bytes[i] = bytes;
    f->count.records[i] = n;
    f->count.seconds[i] = used.seconds;
    f->count.memory[i] = used.memory;
    status = measure_program(m, m->counts, i + 1, m->sum, &used, e, "bpe-sum");
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
    status = measure_program(m, &m->sum, 1, i == last ? m->model : -1, &used, e, "bpe-merge", "-v", m->vocabulary);
    f->merge.seconds[i] = used.seconds;
    f->merge.memory[i] = used.memory;
    return status;
}

/* bpe-sum with little memory, and of sums in files: of every second part. */
static int measure_sums(const struct measure *m, struct err *e)
{
    struct plan_used used;
    const size_t n = m->s->n_parts;
    int status = measure_program(m, m->counts, n, m->again, &used, e, "bpe-sum", "-S", "8M");
    m->f->spill.records = m->f->add.records[n - 1];
    m->f->spill.seconds = used.seconds;
    for (size_t i = 0; i < 2 && status == 0 && n > 1; i++) {
        const char *const words[] = {"bpe-sum", "--partial", "-q", NULL};
        int in[PLAN_PARTS];
        size_t n_in = 0;
        struct command_line l = {0};
        for (size_t k = i; k < n; k += 2)
            in[n_in++] = m->counts[k];
        status =
            put_line(&l, words, 0, n_in, e) ? -1 : plan_run(&m->r, &l, in, n_in, m->half[i], PLAN_NO_PART, NULL, e);
        command_line_free(&l);
        double v = status ? 0 : distinct(m->half[i], NULL, e);
        if (v < 0)
            return -1;
        m->f->sums.records += v;
    }
    if (status || n == 1)
        return status;
    status = measure_program(m, m->half, 2, m->again, &used, e, "bpe-sum");
    m->f->sums.seconds = used.seconds;
    return status;
}

static int measure_encode(const struct measure *m, struct err *e)
{
    enum { TWO_BYTES = 65536 };
    const size_t last = m->s->n_parts - 1;
    const char *const words[] = {"bpe-encode", "-m", plan_names[1], "-f", "raw", NULL};
    const int in[] = {m->s->part[last], m->model, m->chunks};
    struct command_line l = {0};
    struct plan_used used;
    int status = make_chunks(m, last, true, e);
    if (status == 0)
        status = put_line(&l, words, 2, 1, e) ? -1 : plan_run(&m->r, &l, in, 3, m->ids, PLAN_NO_PART, &used, e);
    command_line_free(&l);
    m->f->encode.bytes = (double)m->s->bytes[last];
    m->f->encode.seconds = used.seconds;
    m->f->encode.ids = size_of(m->ids) / (strtoull(m->vocabulary, NULL, 10) > TWO_BYTES ? 4 : 2);
    return status;
}

static int measure_compressed(const struct measure *m, struct err *e)
{
    struct err none;
    const char *const words[] = {"zstd", "-3qcf", NULL};
    struct command_line l = {0};
    const int counts = m->counts[m->s->n_parts - 1];
    if (job_need("zstd", &none))
        return 0;
    int status = put_line(&l, words, 0, 1, e) ? -1 : plan_run(&m->r, &l, &counts, 1, m->again, PLAN_NO_PART, NULL, e);
    command_line_free(&l);
    m->f->plain = size_of(counts);
    m->f->compressed = size_of(m->again);
    return status;
}

static int measure_all(struct measure *m, struct err *e)
{
    const char *const nothing[] = {"bpe-count", "/dev/null", NULL};
    struct command_line l = {0};
    struct plan_used used;
    int status = command_line_words(&l, nothing, e) ? -1 : plan_run(&m->r, &l, NULL, 0, -1, PLAN_NO_PART, &used, e);
    command_line_free(&l);
    m->r.start = used.seconds;
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
    struct measure m = {.r = {.j = j, .s = s}, .s = s, .chunk = chunk, .vocabulary = word, .f = f};
    int *files[] = {&m.chunks, &m.sum, &m.half[0], &m.half[1], &m.again, &m.model, &m.ids};
    enum { N = sizeof files / sizeof *files };
    int rc = 0;
    j->holds = true; /* messages are of interest if a program fails */
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
