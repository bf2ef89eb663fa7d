/* ledger_test.c - wire/ledger.h, coverage.h, batch_store.h and batch.h: batches in any order, repeated, incomplete and
 * overlapping, compared with a model that has a flag for each byte. */
#include "base/io/input.h"
#include "random.h"
#include "tap.h"
#include "wire/batch.h"
#include "wire/batch_store.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/ledger.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 60, SOURCES = 2, BATCHES_MAX = 12, RECORDS_MAX = 400 };

static const unsigned char run_id[ID_LEN] = "the only run...";

/* A record, and its batch (-1: none). */
struct piece {
    struct buf bytes;
    int batch;
};

struct stream {
    struct piece piece[RECORDS_MAX];
    size_t n;
};

/* The bytes that a batch covers: flags by source and byte. */
struct covered {
    bool has[SOURCES][BYTES];
    size_t n_records, n_left; /* records of the batch; those not yet passed to the ledger */
};

static struct err e;

static void must(bool good)
{
    if (!good) {
        printf("Bail out! %s\n", e.msg);
        exit(1);
    }
}

/* Appends the records of a file, read from its start. */
static void add_records(struct stream *s, int fd, int batch)
{
    char path[40];
    struct record_reader r;
    struct record rec;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    must(lseek(fd, 0, SEEK_SET) == 0 && !record_reader_open(&r, path, &e));
    while (record_next(&r, &rec, &e) == RECORD_ITEM) {
        must(s->n < RECORDS_MAX);
        s->piece[s->n] = (struct piece){.batch = batch};
        must(!buf_put(&s->piece[s->n++].bytes, rec.raw, rec.raw_len, &e));
    }
    record_reader_close(&r);
}

static struct buf encoded_rules(const char *pattern)
{
    struct buf b = {0};
    const struct rules rules = {.pattern = str_of(pattern)};
    must(!rules_put(&b, &rules, &e));
    return b;
}

/* Converts the covered bytes to ranges; returns their number. */
static size_t ranges_of(const struct covered *c, struct commit_range *range)
{
    size_t n = 0;
    for (uint64_t s = 0; s < SOURCES; s++)
        for (uint64_t i = 0; i < BYTES; i++)
            if (c->has[s][i] && i > 0 && c->has[s][i - 1])
                range[n - 1].end++;
            else if (c->has[s][i])
                range[n++] = (struct commit_range){s, i, i + 1};
    return n;
}

/* Adds a batch that counts the pretoken "S:I" for each byte I of source S that it covers, and a long pretoken. */
static void add_batch(struct stream *s, int number, struct covered *c, const char *pattern)
{
    static unsigned char long_one[9000];
    int fd = memfd_create("batch", MFD_CLOEXEC);
    struct batch b = {0};
    struct buf rules = encoded_rules(pattern), runs = {0};
    struct commit_range range[SOURCES * BYTES];
    struct commit_run run = {.run = run_id, .range = range, .n_ranges = ranges_of(c, range)};
    memset(long_one, 'x', sizeof long_one);
    batch_begin(&b, RECORD_WORDS, fd, "a batch", run_id);
    for (int k = 0; k < SOURCES; k++)
        for (int i = 0; i < BYTES; i++) {
            char word[32];
            const struct pretoken w = {(unsigned char *)word, (size_t)snprintf(word, sizeof word, "%d:%d", k, i), 1};
            must(!c->has[k][i] || !batch_pretoken(&b, &w, &e));
            run.total += c->has[k][i];
        }
    must(!batch_pretoken(&b, &(struct pretoken){long_one, sizeof long_one, 1}, &e));
    must(!commit_put_run(&runs, &run, &e) &&
         !batch_end(&b, RECORD_COMMIT, (struct str){rules.p, rules.len}, &runs, 1, &e));
    size_t before = s->n;
    add_records(s, fd, number);
    c->n_records = s->n - before;
    close(fd);
    batch_free(&b);
    buf_free(&rules);
    buf_free(&runs);
}

static void add_promise(struct stream *s, const char *pattern)
{
    struct buf content = {0}, records = {0}, rules = encoded_rules(pattern), reading = {0};
    const struct promise_head head = {{rules.p, rules.len}, SOURCES};
    must(!reading_put(&reading, &(struct reading){0}, &e) && !promise_put_head(&content, &head, &e));
    for (int i = 0; i < SOURCES; i++) {
        const struct source_facts from = {
            .name = str_of(i ? "b.txt" : "a.txt"), .reading = {reading.p, reading.len}, .size = BYTES};
        must(!promise_put_source(&content, &from, &e));
    }
    must(!fragments_put(&records, RECORD_PROMISE, run_id, 0, &content, &e));
    s->piece[s->n++] = (struct piece){records, -1};
    buf_free(&content);
    buf_free(&rules);
    buf_free(&reading);
}

static void stream_free(struct stream *s)
{
    for (size_t i = 0; i < s->n; i++)
        buf_free(&s->piece[i].bytes);
    s->n = 0;
}

/* The counts that the ledger took, of "S:I" by source and byte. */
struct taken {
    int count[SOURCES][BYTES];
    int long_ones;
};

static int consume(void *ctx, const struct pretoken *w, size_t n, struct err *why)
{
    struct taken *t = ctx;
    (void)why;
    for (size_t i = 0; i < n; i++) {
        char word[32] = "";
        int source, at;
        memcpy(word, w[i].p, w[i].len < sizeof word ? w[i].len : sizeof word - 1);
        if (w[i].len > 100)
            t->long_ones++;
        else if (sscanf(word, "%d:%d", &source, &at) == 2)
            t->count[source][at] += (int)w[i].count;
    }
    return 0;
}

/* Passes one record to the ledger, as a reader does. */
static int put_piece(struct ledger *l, const struct piece *p, struct err *why)
{
    int fd = memfd_create("record", MFD_CLOEXEC), rc;
    char path[40];
    struct record_reader r;
    struct record rec;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    must(write(fd, p->bytes.p, p->bytes.len) == (ssize_t)p->bytes.len && !record_reader_open(&r, path, &e));
    must(record_next(&r, &rec, &e) == RECORD_ITEM);
    rc = ledger_put(l, &rec, "stream", why);
    record_reader_close(&r);
    close(fd);
    return rc;
}

static void shuffle(size_t *order, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = rnd(i), x = order[i - 1];
        order[i - 1] = order[k];
        order[k] = x;
    }
}

/* The rule, applied to flags: a batch counts if none of its bytes is covered yet. Returns whether it counts. */
static bool model_take(struct covered *all, const struct covered *b)
{
    for (int s = 0; s < SOURCES; s++)
        for (int i = 0; i < BYTES; i++)
            if (all->has[s][i] && b->has[s][i])
                return false;
    for (int s = 0; s < SOURCES; s++)
        for (int i = 0; i < BYTES; i++)
            all->has[s][i] |= b->has[s][i];
    return true;
}

/* Random batches, their records shuffled, some repeated, some lost. */
static bool one_round(void)
{
    static struct stream s;
    struct covered batch[BATCHES_MAX] = {0}, all = {0};
    struct taken taken = {0};
    struct batch_stores stores;
    struct ledger l;
    size_t order[2 * RECORDS_MAX], n = 0, n_batches = 1 + rnd(BATCHES_MAX - 1), lost = rnd(3) ? SIZE_MAX : rnd(20);
    bool tile = rnd(2), given[RECORDS_MAX] = {0};
    int n_taken = 0;
    for (int k = 0; k < SOURCES; k++) /* either a tiling, or any overlaps */
        for (int i = 0; i < BYTES; i++)
            for (size_t b = tile ? rnd(n_batches) : 0; b < n_batches; b += tile ? n_batches : 1)
                batch[b].has[k][i] = tile || rnd(4) == 0;
    for (size_t b = 0; b < n_batches; b++) {
        struct commit_range range[SOURCES * BYTES];
        if (ranges_of(&batch[b], range)) /* a batch must cover something */
            add_batch(&s, (int)b, &batch[b], "gpt2");
        batch[b].n_left = batch[b].n_records;
    }
    add_promise(&s, "gpt2");
    for (size_t i = 0; i < s.n; i++)
        for (int times = i == lost ? 0 : 1 + (rnd(5) == 0); times; times--)
            order[n++] = i;
    shuffle(order, n);
    batch_stores_init(&stores, consume, &taken, NULL);
    ledger_init(&l, &batch_store_content, &stores);
    for (size_t i = 0; i < n; i++) {
        const struct piece *p = &s.piece[order[i]];
        must(!put_piece(&l, p, &e));
        if (rnd(20) == 0)
            must(!batch_stores_spill(&stores, &e));
        if (p->batch < 0 || given[order[i]])
            continue;
        given[order[i]] = true;
        if (--batch[p->batch].n_left == 0)
            n_taken += model_take(&all, &batch[p->batch]);
    }
    bool good = taken.long_ones == n_taken && l.n_batches == (uint64_t)n_taken, complete = lost != s.n - 1;
    for (int k = 0; k < SOURCES; k++)
        for (int i = 0; i < BYTES; i++) {
            good &= taken.count[k][i] == all.has[k][i];
            complete &= all.has[k][i];
        }
    good &= (ledger_finish(&l, "", &e) == 0) == complete && (complete || e.code == EX_TEMPFAIL);
    ledger_free(&l);
    good &= stores.bytes == 0 && stores.first == NULL;
    batch_stores_free(&stores);
    stream_free(&s);
    return good;
}

static void test_any_order(void)
{
    int wrong = 0;
    for (int i = 0; i < 400; i++)
        wrong += !one_round();
    tap_ok(wrong == 0,
           "400 shuffled streams, with repeated and lost records: each byte counts once, and completeness is detected");
}

/* Passes a whole stream to a ledger; returns the first error of ledger_put, or 0. */
static int give_all(struct ledger *l, struct batch_stores *stores, struct taken *taken, struct stream *s,
                    struct err *why)
{
    int rc = 0;
    *taken = (struct taken){0};
    batch_stores_init(stores, consume, taken, NULL);
    ledger_init(l, &batch_store_content, stores);
    for (size_t i = 0; i < s->n && rc == 0; i++)
        rc = put_piece(l, &s->piece[i], why);
    return rc;
}

static void all_of(struct covered *c, int source, int begin, int end)
{
    for (int i = begin; i < end; i++)
        c->has[source][i] = true;
}

static void test_messages(void)
{
    static struct stream s;
    struct covered a = {0}, b = {0};
    struct batch_stores stores;
    struct taken taken;
    struct ledger l;
    all_of(&a, 0, 0, BYTES);
    all_of(&a, 1, 0, 10);
    add_batch(&s, 0, &a, "gpt2");
    add_promise(&s, "gpt2");
    must(!give_all(&l, &stores, &taken, &s, &e));
    tap_ok(ledger_finish(&l, "do it again", &e) && e.code == EX_TEMPFAIL &&
               !strcmp(e.msg, "b.txt: bytes 10-59 were never counted; do it again"),
           "the message names the missing range and the remedy");
    ledger_free(&l);

    all_of(&b, 1, 10, BYTES);
    add_batch(&s, 1, &b, "cl100k");
    tap_ok(give_all(&l, &stores, &taken, &s, &e) && e.code == EX_DATAERR && strstr(e.msg, "(the pattern differs)"),
           "batches with other rules are refused");
    ledger_free(&l);

    struct failure f = {run_id, 1, 20, EX_DATAERR, str_of("b.txt: byte 20: bad")};
    struct buf record = {0};
    must(!failure_put_record(&record, &f, &e));
    stream_free(&s);
    add_batch(&s, 0, &a, "gpt2");
    add_promise(&s, "gpt2");
    s.piece[s.n++] = (struct piece){record, -1};
    must(!give_all(&l, &stores, &taken, &s, &e));
    tap_ok(ledger_finish(&l, "", &e) && e.code == EX_DATAERR && !strcmp(e.msg, "b.txt: byte 20: bad"),
           "the failure record of a part that was never counted is reported");
    ledger_free(&l);
    add_batch(&s, 1, &b, "gpt2");
    must(!give_all(&l, &stores, &taken, &s, &e));
    tap_ok(ledger_finish(&l, "", &e) == 0 && l.n_batches == 2, "a later success replaces the failure");
    ledger_free(&l);
    stream_free(&s);
    must(!give_all(&l, &stores, &taken, &s, &e));
    tap_ok(ledger_finish(&l, "", &e) && e.code == EX_TEMPFAIL && strstr(e.msg, "no records arrived"),
           "an empty stream is incomplete");
    ledger_free(&l);
}

/* Extensions that may be skipped are skipped; others are refused, and the message names them. */
static void test_extensions(void)
{
    struct rules rules = {0};
    for (unsigned char needed = 0; needed < 2; needed++) {
        struct buf b = encoded_rules("gpt2");
        must(!put_str(&b, str_of("weights"), &e) && !buf_put_byte(&b, needed, &e) && !put_str(&b, str_of("1:2"), &e));
        int rc = rules_get(&rules, (struct str){b.p, b.len}, &e);
        if (needed)
            tap_ok(rc && e.code == EX_DATAERR && strstr(e.msg, "\"weights\""),
                   "an unknown required extension is refused, with its name");
        else
            tap_ok(rc == 0 && str_equal(rules.pattern, str_of("gpt2")), "an unknown optional extension is skipped");
        rules_free(&rules);
        must(!buf_put_byte(&b, 0, &e));
        tap_ok(rules_get(&rules, (struct str){b.p, b.len}, &e) != 0, "an extension without a name is an error");
        rules_free(&rules);
        buf_free(&b);
    }
}

int main(void)
{
    random_seed((uint64_t)time(NULL));
    test_any_order();
    test_messages();
    test_extensions();
    return tap_done();
}
