/* counts_make - makes counts of any number of distinct pretokens, similar to those of a real sum: for measuring bpe-sum
 * and bpe-merge with more pretokens than the available texts have.
 *
 *     counts_make SUM N [SEED [PART PARTS]]
 *
 * Writes a complete sum of N distinct pretokens; with PART and PARTS (PART from 1 on), the counts of one of PARTS
 * processes. These add up to that sum, and frequent pretokens are in many of them. Equal arguments give the same
 * pretokens and counts. They are sorted by bytes, also in a part; to a hash table, all orders are the same.
 *
 * The pretokens come from a Markov chain: the next byte depends on the previous two, as in the distinct pretokens
 * of SUM. Pretokens with the same prefix are made together: n of them are divided among the next bytes in the chain's
 * proportions, on average, and when only one is left, the chain runs to its end. So no two are equal, and no pretoken
 * is kept in memory.
 *
 * Counts follow the Zipf-Mandelbrot law, N / (rank + 2.7) times a constant; about six of ten pretokens occur once. A
 * pretoken that is a prefix of n pretokens has a rank of at most N / n, so the frequent ones are short.
 */
#include "base/sys/hash.h"
#include "pretok/rules.h"
#include "wire/batch.h"
#include "wire/batch_store.h"
#include "wire/commit.h"
#include "wire/fragments.h"
#include "wire/ledger.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 256,    /* of the next byte, for each context */
    CONTEXTS = 65536, /* two bytes */
    ANY = 0,          /* the context at the beginning; also used for contexts that do not occur in SUM */
    END = 0,          /* instead of a byte: the pretoken ends */
    LONG = 24,        /* bytes: from this length on, pretokens continue as at the beginning, so that they diverge */
    BYTES_MAX = 200,  /* bytes of a pretoken */
};

/* The next bytes, sorted, repeated in proportion to their probabilities; after[i]: end of those equal to byte[i]. */
struct context {
    unsigned char byte[SAMPLES];
    uint16_t after[SAMPLES];
};

struct maker {
    struct batch batch;
    struct ledger ledger;
    struct batch_stores stores;
    uint32_t (*seen)[256]; /* [CONTEXTS]: how often each byte follows; while the sum is read */
    struct context *context[CONTEXTS];
    uint64_t n, part, parts, state; /* state: of the random number generator */
    double top;
    unsigned char text[BYTES_MAX];
};

static uint64_t next_random(struct maker *m)
{
    m->state += 0x9E3779B97F4A7C15u;
    uint64_t x = m->state;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

/* In [0, 1). */
static double fraction(struct maker *m)
{
    return (double)(next_random(m) >> 11) * 0x1p-53;
}

/* ---- The chain ---- */

static int learn(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct maker *m = ctx;
    (void)e;
    for (; n; n--, w++) {
        unsigned before = ANY;
        if (memchr(w->p, END, w->len))
            continue;
        for (size_t i = 0; i < w->len; i++) {
            m->seen[before][w->p[i]]++;
            before = (before << 8 | w->p[i]) % CONTEXTS;
        }
        m->seen[before][END]++;
    }
    return 0;
}

static int learn_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct maker *m = ctx;
    return ledger_put(&m->ledger, rec, stream, e);
}

static struct context *make_context(const uint32_t seen[256], uint64_t total, struct err *e)
{
    struct context *c = malloc(sizeof *c);
    uint64_t sum = 0;
    unsigned at = 0;
    if (!c) {
        err_mem(e, "the chain", sizeof *c);
        return NULL;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        sum += seen[byte];
        unsigned end = (unsigned)(sum * SAMPLES / total), from = at;
        for (; at < end; at++)
            c->byte[at] = (unsigned char)byte;
        for (unsigned i = from; i < end; i++)
            c->after[i] = (uint16_t)end;
    }
    return c;
}

static int read_sum(struct maker *m, const char *path, struct err *e)
{
    m->seen = calloc(CONTEXTS, sizeof *m->seen);
    if (!m->seen)
        return err_mem(e, "the chain", CONTEXTS * sizeof *m->seen);
    batch_stores_init(&m->stores, learn, m, NULL);
    m->stores.eager = true;
    ledger_init(&m->ledger, &batch_store_content, &m->stores);
    if (record_each_of(path, learn_record, m, e) || ledger_finish(&m->ledger, "", e))
        return -1;
    for (size_t i = 0; i < CONTEXTS; i++) {
        uint64_t total = 0;
        for (unsigned byte = 0; byte < 256; byte++)
            total += m->seen[i][byte];
        if (total && !(m->context[i] = make_context(m->seen[i], total, e)))
            return -1;
    }
    free(m->seen);
    m->seen = NULL;
    return m->context[ANY] ? 0 : err_set(e, EX_DATAERR, "%s has no pretokens to learn from", path);
}

/* ---- Pretokens ---- */

static const struct context *context_after(const struct maker *m, size_t len)
{
    unsigned two = ANY;
    if (len)
        two = (len > 1 ? (unsigned)m->text[len - 2] << 8 : 0) | m->text[len - 1];
    return m->context[two] ? m->context[two] : m->context[ANY];
}

/* The count of a pretoken that is a prefix of n. The larger of two random ranks, so that few long ones are frequent. */
static uint64_t pick_count(struct maker *m, uint64_t n)
{
    double x = fraction(m), y = fraction(m), rank = (x > y ? x : y) * (double)m->n / (double)n;
    double count = m->top / (rank + 2.7);
    return count < 1 ? 1 : (uint64_t)count;
}

/* Writes the pretoken text[0 .. len); in a part, only if its share of the count is not 0. */
static int put(struct maker *m, size_t len, uint64_t n, struct err *e)
{
    const uint64_t all = pick_count(m, n), first = next_random(m) % m->parts; /* the remainder: 1 each from here on */
    uint64_t count = all / m->parts + ((m->part + m->parts - first) % m->parts < all % m->parts);
    return count ? batch_pretoken(&m->batch, &(struct pretoken){m->text, len, count}, e) : 0;
}

/* Makes one pretoken with the prefix text[0 .. len). */
static int make_one(struct maker *m, size_t len, struct err *e)
{
    for (; len < BYTES_MAX; len++) {
        unsigned char byte = context_after(m, len)->byte[next_random(m) % SAMPLES];
        if (byte == END && len)
            break;
        m->text[len] = byte ? byte : 'a';
    }
    return put(m, len, 1, e);
}

/* Makes n pretokens with the prefix text[0 .. len): n steps through the samples give their next bytes. */
static int make(struct maker *m, size_t len, uint64_t n, struct err *e)
{
    if (n == 1)
        return make_one(m, len, e);
    const struct context *c = context_after(m, len);
    unsigned ends = c->byte[0] == END ? c->after[0] : 0;
    if (ends == SAMPLES || len >= LONG) {
        c = m->context[ANY];
        ends = c->byte[0] == END ? c->after[0] : 0;
    }
    if (len == BYTES_MAX)
        return err_set(e, EX_DATAERR, "the pretokens get too long; learn from a sum with more of them");
    if (len && (double)n * ends > fraction(m) * SAMPLES) {
        if (put(m, len, n, e))
            return -1;
        n--;
    }
    const double distance = (double)(SAMPLES - ends) / (double)n, first = fraction(m);
    for (uint64_t k = 0; k < n;) {
        unsigned at = ends + (unsigned)(((double)k + first) * distance);
        at = at < SAMPLES ? at : SAMPLES - 1;
        unsigned after = c->after[at];
        uint64_t upto = after == SAMPLES ? n : (uint64_t)((after - ends) / distance - first) + 1;
        upto = upto <= k ? k + 1 : upto > n ? n : upto;
        m->text[len] = c->byte[at];
        if (make(m, len + 1, upto - k, e))
            return -1;
        k = upto;
    }
    return 0;
}

/* ---- Records ---- */

/* Writes the promise: a source with one byte for each part. */
static int put_promise(struct maker *m, const struct buf *rules, const unsigned char *run, struct err *e)
{
    struct buf content = {0}, out = {0}, reading = {0};
    const struct promise_head head = {.rules = {rules->p, rules->len}, .n_sources = 1};
    struct source_facts source = {.name = str_of("made up"), .size = m->parts, .access = ACCESS_VALUE};
    int rc = reading_put(&reading, &(struct reading){0}, e);
    source.reading = (struct str){reading.p, reading.len};
    rc = rc || promise_put_head(&content, &head, e) || promise_put_source(&content, &source, e) ||
         fragments_put(&out, RECORD_PROMISE, run, 0, &content, e) || record_write(1, "standard output", &out, e);
    buf_free(&content);
    buf_free(&out);
    buf_free(&reading);
    return rc ? -1 : 0;
}

static int write_all(struct maker *m, uint64_t seed, struct err *e)
{
    struct buf rules = {0}, runs = {0};
    unsigned char id[ID_LEN] = "made up", last = m->part + 1 == m->parts;
    struct special_token special = {.text = str_of("<|endoftext|>")};
    memcpy(id + ID_LEN - sizeof seed, &seed, sizeof seed);
    const struct commit_range range = {.source = 0, .begin = m->part, .end = m->part + 1};
    const struct commit_run run = {.run = id,
                                   .promised_bytes = m->parts,
                                   .whole = m->parts == 1,
                                   .total = 1,
                                   .range = &range,
                                   .n_ranges = m->parts > 1};
    batch_begin(&m->batch, RECORD_WORDS, 1, "standard output", id);
    int rc = rules_put(&rules, &(struct rules){.pattern = str_of("gpt2"), .special = &special, .n_special = 1}, e) ||
             make(m, 0, m->n, e) || commit_put_run(&runs, &run, e) ||
             batch_end(&m->batch, m->parts > 1 ? RECORD_COMMIT : RECORD_SUMMARY, (struct str){rules.p, rules.len},
                       &runs, 1, e) ||
             (m->parts > 1 && last && put_promise(m, &rules, id, e));
    batch_free(&m->batch);
    buf_free(&rules);
    buf_free(&runs);
    return rc ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    static struct maker m = {.parts = 1};
    if (argc < 3 || argc == 5 || argc > 6) {
        fprintf(stderr, "usage: counts_make SUM N [SEED [PART PARTS]]\n");
        return 64;
    }
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    m.n = strtoull(argv[2], NULL, 10);
    m.state = seed;
    m.top = 1.25 * (double)m.n;
    if (argc > 5) {
        m.part = strtoull(argv[4], NULL, 10) - 1;
        m.parts = strtoull(argv[5], NULL, 10);
    }
    if (m.n < 1 || m.part >= m.parts) {
        fprintf(stderr, "counts_make: N must be at least 1, and PART between 1 and PARTS\n");
        return 64;
    }
    int rc = read_sum(&m, argv[1], &e) || write_all(&m, seed, &e);
    ledger_free(&m.ledger);
    batch_stores_free(&m.stores);
    for (size_t i = 0; i < CONTEXTS; i++)
        free(m.context[i]);
    free(m.seen);
    if (rc) {
        char text[ERR_TEXT];
        fprintf(stderr, "counts_make: %s\n", err_text(&e, text));
        return e.code;
    }
    return 0;
}
