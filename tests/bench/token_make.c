/* token_make - makes any amount of token records, as bpe-encode would write them for a corpus: for measuring bpe-shard.
 *
 *     token_make N IDS [PIECE [WIDTH]]
 *
 * Writes N ids, in documents of IDS ids on average; with IDS 0, N documents without ids. Each piece of about PIECE ids
 * (default 16,777,216) is a batch. An id has WIDTH bytes (2 or 4; default 2) and is a random number below 32,000. Equal
 * arguments give the same ids and documents.
 */
#include "base/sys/hash.h"
#include "pretok/rules.h"
#include "wire/batch.h"
#include "wire/commit.h"
#include "wire/fragments.h"
#include "wire/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POOL = 1 << 20,  /* ids to take from; maximum number of ids in a document */
    MARKS = 1 << 14, /* documents written together */
    TEXT = 4,        /* bytes of text per id, and for the end of a document */
};
#define MODEL 0x6D616465757021u

struct maker {
    struct batch batch;
    struct buf rules, reading, name;
    unsigned char run[ID_LEN];
    unsigned char *ids;                           /* POOL ids, twice */
    struct document_mark *mark;                   /* [MARKS] */
    uint64_t width, ids_a_document, offset, made; /* offset: bytes of text so far; made: ids, or documents */
    uint64_t state;                               /* of the random number generator */
};

static uint64_t next_random(struct maker *m)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return m->state >> 33;
}

static void make_ids(struct maker *m)
{
    for (size_t i = 0; i < POOL; i++) {
        uint64_t id = next_random(m) % 32000;
        for (size_t k = 0; k < m->width; k++, id >>= 8)
            m->ids[i * m->width + k] = m->ids[(i + POOL) * m->width + k] = (unsigned char)id;
    }
}

/* Writes the promise: one source of that size. */
static int put_promise(struct maker *m, uint64_t size, struct err *e)
{
    struct buf content = {0}, out = {0};
    const struct promise_head head = {.rules = {m->rules.p, m->rules.len}, .n_sources = 1};
    const struct source_facts source = {.name = {m->name.p, m->name.len},
                                        .reading = {m->reading.p, m->reading.len},
                                        .size = size,
                                        .access = ACCESS_VALUE};
    int rc = promise_put_head(&content, &head, e) || promise_put_source(&content, &source, e) ||
             fragments_put(&out, RECORD_PROMISE, m->run, 0, &content, e) || record_write(1, "standard output", &out, e);
    buf_free(&content);
    buf_free(&out);
    return rc ? -1 : 0;
}

static int end_batch(struct maker *m, uint64_t begin, struct err *e)
{
    struct buf content = {0}, sources = {0};
    const struct commit head = {.kind = RECORD_TOKENS,
                                .rules = {m->rules.p, m->rules.len},
                                .n_records = m->batch.seq,
                                .checksum = m->batch.checksum,
                                .n_items = m->batch.n_items,
                                .n_runs = 1};
    const struct commit_range range = {.source = 0, .begin = begin, .end = m->offset};
    const struct commit_run run = {.run = m->run, .total = m->offset - begin, .range = &range, .n_ranges = 1};
    const struct commit_encoding encoding = {
        .model = MODEL, .n_ids = 32000, .pattern = {(const unsigned char *)"gpt2", 4}, .eot = 2, .separator = 1};
    const struct source_facts source = {
        .name = {m->name.p, m->name.len}, .reading = {m->reading.p, m->reading.len}, .access = ACCESS_VALUE};
    m->batch.record.len = 0;
    int rc = commit_put_head(&content, &head, e) || commit_put_run(&content, &run, e) ||
             commit_put_encoding(&content, &encoding, e) || commit_source_put(&sources, &source, e) ||
             commit_put_sources(&content, &sources, e) ||
             fragments_put(&m->batch.record, RECORD_COMMIT, m->batch.id, m->batch.seq, &content, e) ||
             record_write(1, "standard output", &m->batch.record, e);
    buf_free(&content);
    buf_free(&sources);
    return rc ? -1 : 0;
}

/* The number of ids in the next document. */
static uint64_t document_ids(struct maker *m)
{
    return m->ids_a_document < 2 ? m->ids_a_document : 1 + next_random(m) % (2 * m->ids_a_document - 1);
}

/* Whether a piece with so many ids and documents continues. */
static bool goes_on(const struct maker *m, uint64_t ids, uint64_t documents, uint64_t n)
{
    return m->ids_a_document ? ids < n : documents < n;
}

/* Writes a piece of whole documents: the first that have at least n ids together; if they have no ids, n documents. */
static int put_piece(struct maker *m, uint64_t n, struct err *e)
{
    const uint64_t begin = m->offset, from = next_random(m) % POOL;
    uint64_t ids = 0, documents = 0;
    struct maker look = *m; /* draw the same random numbers twice, at first only for the length of the text */
    for (; goes_on(m, ids, documents, n); documents++)
        ids += document_ids(&look);
    m->offset += TEXT * (ids + documents);
    m->made += m->ids_a_document ? ids : documents;
    batch_begin(&m->batch, RECORD_TOKENS, 1, "standard output", m->run);
    struct batch_piece piece = {.model = MODEL, .begin = begin, .end = m->offset, .width = m->width};
    const struct piece_tail tail = {.text = m->offset - begin};
    for (uint64_t length = document_ids(m); documents;) {
        size_t marks = 0, some = 0;
        for (; documents && marks < MARKS && some + length <= POOL;
             documents--, length = documents ? document_ids(m) : 0) {
            some += (size_t)length;
            m->mark[marks++] = (struct document_mark){.n_ids = some, .len = TEXT * (length + 1)};
        }
        if (batch_ids(&m->batch, &piece, m->ids + from * m->width, some, m->mark, marks, documents ? NULL : &tail, e))
            return -1;
    }
    return end_batch(m, begin, e);
}

static int make(struct maker *m, uint64_t n, uint64_t a_piece, struct err *e)
{
    struct special_token special = {.text = str_of("<|endoftext|>")};
    const struct rules rules = {.pattern = str_of("gpt2"), .special = &special, .n_special = 1};
    const struct reading reading = {0};
    if (rules_put(&m->rules, &rules, e) || reading_put(&m->reading, &reading, e))
        return -1;
    m->ids = malloc(2 * POOL * (size_t)m->width);
    m->mark = malloc(MARKS * sizeof *m->mark);
    if (!m->ids || !m->mark)
        return err_mem(e, "ids", 2 * POOL * m->width);
    make_ids(m);
    while (m->made < n) {
        uint64_t left = n - m->made;
        if (put_piece(m, left < a_piece ? left : a_piece, e))
            return -1;
    }
    return put_promise(m, m->offset, e);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct maker m = {.width = argc > 4 ? strtoull(argv[4], NULL, 10) : 2};
    if (argc < 3 || argc > 5 || (m.width != 2 && m.width != 4)) {
        fprintf(stderr, "usage: token_make N IDS [PIECE [WIDTH]]\n");
        return 64;
    }
    char text[ERR_TEXT];
    snprintf(text, sizeof text, "made up: %s ids, %s a document", argv[1], argv[2]);
    if (buf_put(&m.name, text, strlen(text), &e))
        return 71;
    m.ids_a_document = strtoull(argv[2], NULL, 10);
    random_bytes(m.run, ID_LEN);
    if (make(&m, strtoull(argv[1], NULL, 10), argc > 3 ? strtoull(argv[3], NULL, 10) : 1 << 24, &e)) {
        fprintf(stderr, "token_make: %s\n", err_text(&e, text));
        return e.code;
    }
    batch_free(&m.batch);
    buf_free(&m.rules);
    buf_free(&m.reading);
    buf_free(&m.name);
    free(m.ids);
    free(m.mark);
    return 0;
}
