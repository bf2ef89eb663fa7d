/* live_choice.c - see live_choice.h. */
#include "superwords/live_choice.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "wire/batch.h"
#include "wire/sum_reader.h"
#include "wire/superword_round.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_MAX = 1 << 20 };

/* A pair, or a single id, as it is in the sum. */
struct counted_pair {
    unsigned char id[8];
    unsigned len;
    uint64_t count;
};

static bool is_single(const struct counted_pair *p)
{
    return p->len % 2;
}

struct live_choice {
    uint64_t budget, enough;
    struct counted_pair *pair; /* owned; single ids, and pairs that may be in the file, in the order of the sum */
    size_t n, cap, max;        /* when there are `max`, pairs that cannot be there are removed */
    uint64_t floor;            /* pairs with a lower count are not live, */
    uint64_t least;            /* or not in the file: <= floor. 0: not known yet */
    uint64_t slack;            /* the sum may lack so many of each pair */
    struct sum_reader sum;
    struct batch batch;
};

static int greater_first(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a < b) - (a > b);
}

/* Sorts counts, the greatest first: the many small ones by counting them. */
static int sort_counts(uint64_t *count, size_t n, struct err *e)
{
    enum { SMALL = 1 << 12 };
    size_t *small = calloc(SMALL, sizeof *small), n_large = 0;
    if (!small)
        return err_mem(e, "the counts of pairs", SMALL * sizeof *small);
    for (size_t i = 0; i < n; i++) {
        if (count[i] < SMALL)
            small[count[i]]++;
        else
            count[n_large++] = count[i];
    }
    if (n_large)
        qsort(count, n_large, sizeof *count, greater_first);
    for (size_t value = SMALL, at = n_large; value--;)
        for (size_t k = 0; k < small[value]; k++)
            count[at++] = value;
    free(small);
    return 0;
}

/* The lowest count with which the counts of all pairs that reach it are within the budget; at least the greatest. */
static uint64_t lowest_floor(const uint64_t *count, size_t n, uint64_t budget)
{
    uint64_t sum = 0, floor = n ? count[0] : 1;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && count[end] == count[i]; end++)
            if (__builtin_add_overflow(sum, count[end], &sum))
                return floor;
        if (sum > budget)
            return floor;
        floor = count[i];
    }
    return n && floor == count[n - 1] ? 1 : floor;
}

/* Sets both floors for the pairs so far, which later ones can only raise, and removes those below the lower one. */
static int remove_low(struct live_choice *c, struct err *e)
{
    uint64_t *count = malloc((c->n + 1) * sizeof *count);
    size_t n = 0, kept = 0;
    if (!count)
        return err_mem(e, "the counts of pairs", c->n * sizeof *count);
    for (size_t i = 0; i < c->n; i++)
        if (!is_single(&c->pair[i]))
            count[n++] = c->pair[i].count;
    if (sort_counts(count, n, e)) {
        free(count);
        return -1;
    }
    const uint64_t floor = lowest_floor(count, n, c->budget);
    const uint64_t least = !c->enough ? floor : c->enough <= n ? count[c->enough - 1] : 1;
    c->least = least > c->least ? least : c->least;
    c->floor = floor > c->floor ? floor : c->floor;
    c->floor = c->floor > c->least ? c->floor : c->least;
    free(count);
    for (size_t i = 0; i < c->n; i++)
        if (is_single(&c->pair[i]) || c->pair[i].count >= c->least)
            c->pair[kept++] = c->pair[i];
    c->n = kept;
    return 0;
}

static int add(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct live_choice *c = ctx;
    if (array_grow(&c->pair, &c->cap, c->n + n, sizeof *c->pair, "the pairs", e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct counted_pair p = {.len = (unsigned)w[i].len, .count = w[i].count};
        const bool single = w[i].len == 3 || w[i].len == 5;
        if (superword_is_slack(w[i].p, w[i].len)) {
            c->slack += w[i].count;
            continue;
        }
        if (w[i].count < c->least && !single)
            continue;
        if (w[i].len != 4 && w[i].len != 8 && !single)
            return err_set(e, EX_DATAERR, "not a sum of pairs; count with bpe-count --pairs");
        memcpy(p.id, w[i].p, w[i].len);
        c->pair[c->n++] = p;
    }
    if (c->n < c->max)
        return 0;
    if (remove_low(c, e))
        return -1;
    c->max = 2 * c->n > c->max ? 2 * c->n : c->max;
    return 0;
}

/* Writes the pairs as a sum of the same runs as those of the pairs. */
static int write_pairs(struct live_choice *c, const struct superword_round *round, struct rules *rules, int fd,
                       const char *name, struct err *e)
{
    const struct coverage *v = &c->sum.ledger.coverage;
    unsigned char slack[8] = {0};
    struct buf value = {0}, encoded = {0}, runs = {0};
    uint64_t n_runs;
    batch_begin(&c->batch, RECORD_WORDS, fd, name, coverage_only_run(v));
    c->batch.denominator = sum_reader_denominator(&c->sum);
    int rc = superword_round_put(&value, round, e);
    rules->superwords = buf_str(&value);
    memset(slack, 0xFF, round->width);
    if (c->slack && !rc)
        rc = batch_pretoken(&c->batch, &(struct pretoken){slack, round->width + 1, c->slack}, e);
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = batch_pretoken(&c->batch, &(struct pretoken){c->pair[i].id, c->pair[i].len, c->pair[i].count}, e);
    rc = rc || rules_put(&encoded, rules, e) || coverage_put_runs(v, &runs, &n_runs, e) ||
         (v->text != v->covered && commit_put_text(&runs, v->text, e)) ||
         batch_end(&c->batch, RECORD_SUMMARY, buf_str(&encoded), &runs, n_runs, e);
    buf_free(&value);
    buf_free(&encoded);
    buf_free(&runs);
    return rc ? -1 : 0;
}

static int write_to(struct live_choice *c, const struct superword_round *round, struct rules *rules, const char *path,
                    struct err *e)
{
    struct outfile o;
    if (!path)
        return write_pairs(c, round, rules, 1, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
    if (outfile_open(&o, path, e))
        return -1;
    if (write_pairs(c, round, rules, o.fd, path, e)) {
        outfile_drop(&o);
        return -1;
    }
    return outfile_commit(&o, 1, e);
}

static int get_round(const struct live_choice *c, struct superword_round *round, const struct rules *rules,
                     struct err *e)
{
    const uint64_t text = c->sum.ledger.coverage.text;
    if (!rules->superwords.len && !c->n && !text)
        return err_set(e, EX_DATAERR, "the text is empty");
    if (!rules->superwords.len || superword_round_get(round, rules->superwords, e) || round->words != SUPERWORDS_PAIRS)
        return err_set(e, EX_DATAERR, "not a sum of pairs; count with bpe-count --pairs");
    if (superword_round_check_text(round, text, e))
        return -1;
    round->words = SUPERWORDS_LIVE;
    round->live = 0;
    round->text = text;
    return 0;
}

/* Pairs that are not in the sum may have been left out by each process, or by all. */
static void set_floors(const struct live_choice *c, struct superword_round *round)
{
    const uint64_t all = round->least;
    if (__builtin_add_overflow(c->floor, c->slack, &round->floor))
        round->floor = UINT64_MAX;
    if (__builtin_add_overflow(c->least, c->slack, &round->least))
        round->least = UINT64_MAX;
    round->floor = round->floor > all ? round->floor : all;
    round->least = round->least > all ? round->least : all;
}

int live_choice_make(char *const *files, size_t n, uint64_t budget, uint64_t enough, const char *path, struct err *e)
{
    struct live_choice c = {.budget = budget, .enough = enough, .max = FIRST_MAX};
    struct superword_round round;
    struct rules rules = {0};
    sum_reader_init(&c.sum, add, &c);
    int rc =
        sum_reader_read(&c.sum, files, n, false, &rules, e) || get_round(&c, &round, &rules, e) || remove_low(&c, e);
    if (!rc)
        set_floors(&c, &round);
    rc = rc || write_to(&c, &round, &rules, path, e);
    rules_free(&rules);
    sum_reader_free(&c.sum);
    batch_free(&c.batch);
    free(c.pair);
    return rc ? -1 : 0;
}
