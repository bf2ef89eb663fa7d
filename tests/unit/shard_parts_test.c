/* shard_parts_test.c - the parts that make shards: operations on many ids compared with one id at a time; tables of
 * documents and manifests read back; a writer that dies repeatedly, whose files must equal those of one that does
 * not. */
#include "random.h"
#include "tap.h"

#include "base/sys/bytes.h"
#include "shard/format/docs_table.h"
#include "shard/format/formats.h"
#include "shard/format/manifest.h"
#include "shard/shard_ids.h"
#include "shard/shard_writer.h"
#include "wire/payload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err err;

/* ---- Ids ---- */

static void test_ids(void)
{
    static unsigned char p[4 * 500], to[4 * 500];
    int wrong = 0, different = 0;
    for (int round = 0; round < 20000; round++) {
        unsigned width = rnd(2) ? 2 : 4, other = rnd(2) ? 2 : 4;
        size_t n = rnd(500), first = n;
        uint64_t limit = 1 + rnd(width == 2 || rnd(2) ? 1 << 16 : 1 << 30);
        for (size_t i = 0; i < n; i++)
            store_le(p + i * width, width, (uint32_t)rnd(limit));
        for (uint64_t k = rnd(3); k && n; k--) {
            size_t at = rnd(n);
            uint64_t bad = limit + rnd(2) * 1000;
            if (bad >> 8 * width)
                continue;
            store_le(p + at * width, width, (uint32_t)bad);
            first = at < first ? at : first;
        }
        wrong += shard_ids_beyond(p, n, width, limit) != first;
        shard_ids_convert(to, other, p, width, n);
        for (size_t i = 0; i < n; i++) {
            uint32_t id = load_le(p + i * width, width);
            different += load_le(to + i * other, other) != (other == 2 ? id & 0xFFFF : id);
        }
    }
    tap_ok(wrong == 0, "the first id that is too large is found");
    tap_ok(different == 0, "ids are converted to wider and narrower ones");
}

/* ---- Tables of documents ---- */

static struct docs_row make_row(uint64_t i, char name[32], char id[32])
{
    struct docs_row row = {.tokens = i * 7 % 100000, .continued = i % 5 == 0, .goes_on = i % 11 == 0};
    snprintf(name, 32, "source %d", (int)(i / 3 % 7));
    snprintf(id, 32, "%s%d", i % 4 ? "id" : "", (int)i);
    row.document = (struct document){
        .source = str_of(name), .number = i / 3 % 7, .offset = i << 20, .line = i + 1, .id = str_of(id)};
    if (i % 4 == 0)
        row.document.id.len = 0;
    row.end = row.goes_on ? 0 : row.document.offset + i;
    return row;
}

static void test_table(void)
{
    enum { N = 30000 };
    char path[] = "table", name[32], id[32];
    struct buf out = {0};
    struct docs_reader r;
    struct docs_row row;
    uint64_t last = 0, n = 0, wrong = 0;
    int more, fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    for (uint64_t i = 0; i < N; i++) {
        row = make_row(i, name, id);
        if (docs_row_put(&out, &row, &last, &err))
            abort();
    }
    if (fd < 0 || write(fd, out.p, out.len) != (ssize_t)out.len)
        abort();
    docs_reader_init(&r, fd, path, out.len);
    for (; (more = docs_reader_next(&r, &row, &err)) > 0; n++) {
        struct docs_row want = make_row(n, name, id);
        wrong += row.tokens != want.tokens || row.continued != want.continued || row.goes_on != want.goes_on ||
                 row.end != want.end || row.document.offset != want.document.offset ||
                 row.document.line != want.document.line || row.document.number != want.document.number ||
                 !str_equal(row.document.source, want.document.source) || !str_equal(row.document.id, want.document.id);
    }
    docs_reader_free(&r);
    tap_ok(more == 0 && n == N && wrong == 0, "a table of documents is read back");
    int damaged = 0;
    for (uint64_t cut = out.len - 20; cut < out.len; cut++) {
        docs_reader_init(&r, fd, path, cut);
        while ((more = docs_reader_next(&r, &row, &err)) > 0)
            ;
        damaged += more < 0 && err.code == EX_DATAERR;
        docs_reader_free(&r);
    }
    tap_ok(damaged >= 18, "a table that is cut off inside a row is damaged (%d of 20)", damaged);
    close(fd);
    buf_free(&out);
}

/* ---- Writers ---- */

/* A corpus: the ids of a document depend on its number. */
struct corpus {
    uint64_t n;
    unsigned width;
    uint64_t seed;
};

static uint64_t n_ids(const struct corpus *c, uint64_t i)
{
    return (i * 2654435761u + c->seed) % 23 == 0 ? 3000 : (i + c->seed) % 41;
}

/* Passes documents [from, to) to a sink, in parts, some of which are adjacent in memory. half: the first half of the
 * first document's ids was passed before, and the first half of the document after the last one is passed, too. */
static int pass_on(const struct corpus *c, uint64_t from, uint64_t to, bool half, struct document_sink *s)
{
    static unsigned char memory[1 << 20];
    size_t used = 0;
    for (uint64_t i = from; i < to + half && i < c->n; i++) {
        struct document d = {
            .source = str_of(i < c->n / 2 ? "a" : "b"), .number = i >= c->n / 2, .offset = i * 10, .line = i + 1};
        size_t n = n_ids(c, i), first = half && i == from && i ? n / 2 : 0, end = i == to ? n / 2 : n;
        size_t bytes = (end - first) * c->width, part = bytes ? rnd(end - first + 1) * c->width : 0;
        if (!(half && i == from && i) && s->begin(s->ctx, &d, &err))
            return -1;
        if (used + bytes + 100 > sizeof memory) {
            if (s->flush(s->ctx, &err))
                return -1;
            used = 0;
        }
        used += rnd(3) ? 0 : c->width;
        for (size_t k = first; k < end; k++)
            store_le(memory + used + (k - first) * c->width, c->width, (uint32_t)((i * 31 + k) % 60000));
        if (s->ids(s->ctx, memory + used, part, &err) || s->ids(s->ctx, memory + used + part, bytes - part, &err) ||
            (i < to && s->end(s->ctx, i * 10 + 9, &err)))
            return -1;
        used += bytes;
    }
    return s->flush(s->ctx, &err);
}

static struct manifest make_manifest(const struct shard_plan *plan)
{
    return (struct manifest){.plan = *plan, .vocabulary = 60000, .model = 77};
}

/* One process: reads the manifest and the state, passes some documents, and dies, or completes (last). Returns the
 * number of documents in the state. */
static uint64_t live(const char *dir, const struct shard_plan *plan, const struct corpus *c, uint64_t at,
                     struct buf *state, bool half, bool last)
{
    struct manifest m;
    int have = manifest_read(&m, dir, NULL, &err);
    if (have < 0)
        abort();
    if (!have)
        m = make_manifest(plan);
    struct shard_writer *w = shard_writer_open(dir, &m, c->width, (struct str){state->p, state->len}, NULL, NULL, &err);
    if (!w)
        abort();
    struct document_sink s = shard_writer_sink(w);
    while (at < c->n) {
        uint64_t to = last ? c->n : at + rnd(40) + !at; /* a document that is begun must get further */
        if (pass_on(c, at, to < c->n ? to : c->n, half, &s))
            abort();
        if (!last && rnd(3) == 0) /* dies; the state does not contain these documents */
            break;
        state->len = 0;
        at = to < c->n ? to : c->n;
        if (shard_writer_sync(w, state, &err))
            abort();
        if (!last && rnd(3) == 0)
            break;
        if (shard_writer_publish(w, rnd(2), &err))
            abort();
        if (!last && rnd(4) == 0)
            break;
    }
    if (last) {
        state->len = 0;
        if (shard_writer_end(w, &err) || shard_writer_sync(w, state, &err) || shard_writer_publish(w, true, &err) ||
            shard_writer_complete(w, &err))
            abort();
    }
    shard_writer_close(w);
    manifest_free(&m);
    return at;
}

static void make_dir(const char *dir)
{
    char work[100];
    snprintf(work, sizeof work, "rm -rf %s && mkdir -p %s/.work", dir, dir);
    if (system(work))
        abort();
}

static void test_writer(const struct shard_plan *plan, unsigned width, const char *what)
{
    const struct corpus c = {.n = 2000, .width = width, .seed = rnd(1000)};
    struct buf state = {0};
    uint64_t at = 0;
    int deaths = 0;
    make_dir("one");
    live("one", plan, &c, 0, &state, false, true);
    make_dir("many");
    state.len = 0;
    for (; at < c.n; deaths++)
        at = live("many", plan, &c, at, &state, true, false);
    live("many", plan, &c, at, &state, true, true);
    tap_ok(system("rm -rf one/.work many/.work; diff -r one many") == 0 && system("test $(ls one | wc -l) -gt 2") == 0,
           "%s: %d deaths, and the same directory as without", what, deaths);
    buf_free(&state);
}

static void test_manifest(void)
{
    struct manifest m;
    struct buf first = {0}, second = {0};
    struct err e = {0};
    if (manifest_read(&m, "one", NULL, &e) != 1) {
        tap_ok(0, "a manifest is read: %s", e.msg);
        return;
    }
    m.plan.test_fraction = 0.1 + 0.2;
    const struct reading how = {
        .form = FORM_JSONL, .field = str_of("caf\xe9 id=b"), .id = str_of("\"a\\"), .skip_bad_lines = true};
    struct reading back;
    m.reading.len = 0;
    if (reading_put(&m.reading, &how, &e) || manifest_put(&first, &m, &e))
        abort();
    manifest_free(&m);
    size_t n = first.len;
    if (buf_reserve(&first, 100, &e))
        abort();
    memset(first.p + n, 0, 100);
    int rc = manifest_get(&m, first.p, n, &e);
    tap_ok(rc == 0 && manifest_put(&second, &m, &e) == 0 && second.len == n && memcmp(first.p, second.p, n) == 0,
           "a manifest is read back %s", rc ? e.msg : "");
    tap_ok(rc == 0 && !(m.plan.test_fraction < 0.1 + 0.2) && !(m.plan.test_fraction > 0.1 + 0.2) &&
               reading_get(&back, buf_str(&m.reading), &e) == 0 && back.form == how.form &&
               str_equal(back.field, how.field) && str_equal(back.id, how.id) && back.skip_bad_lines,
           "  numbers, fields with blanks, and names in invalid UTF-8, too");
    manifest_free(&m);
    int refused = 0, cuts = 0;
    for (size_t cut = 0; cut + 2 < n; cut += 1 + n / 200, cuts++) {
        unsigned char *copy = calloc(1, cut + 100);
        memcpy(copy, first.p, cut);
        refused += manifest_get(&m, copy, cut, &e) < 0 && e.code == EX_DATAERR;
        free(copy);
    }
    tap_ok(refused == cuts, "a manifest that is cut off is refused");
    buf_free(&first);
    buf_free(&second);
}

int main(void)
{
    char dir[] = "/tmp/shard-parts-XXXXXX", clean[100];
    random_seed((uint64_t)getpid());
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    test_ids();
    test_table();
    struct shard_plan plan = {
        .format = shard_format_find("npy"), .dtype = DTYPE_U16, .shard_tokens = 1000, .docs = true};
    test_writer(&plan, 2, "npy");
    test_manifest();
    plan.dtype = DTYPE_U32;
    plan.test_shards = 3;
    plan.last = LAST_PADDED;
    test_writer(&plan, 2, "u32 from two bytes, test shards, padded");
    plan.dtype = DTYPE_U16;
    plan.test_shards = 0;
    plan.test_fraction = 0.3;
    plan.last = LAST_DROPPED;
    test_writer(&plan, 4, "u16 from four bytes, a test fraction, the last shard dropped");
    plan = (struct shard_plan){
        .format = shard_format_find("megatron"), .dtype = DTYPE_I32, .shard_tokens = 1000, .sha256 = true};
    test_writer(&plan, 4, "whole documents");
    plan = (struct shard_plan){.format = shard_format_find("npy"), .dtype = DTYPE_U16, .test_fraction = 0.5};
    test_writer(&plan, 2, "one shard for each split");
    snprintf(clean, sizeof clean, "rm -rf %s", dir);
    return system(clean) | tap_done();
}
