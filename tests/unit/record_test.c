/* record_test.c - the frame of a record, its stuffing and checksums; and the contents of records. */
#include "base/sys/simd.h"
#include "random.h"
#include "wire/cobs.h"
#include "wire/commit.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/payload.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a stream to a file and reads it; returns how it ended, and the number of records and their payloads. */
static enum record_next read_all(const struct buf *stream, struct buf *payloads, size_t *n, struct err *e)
{
    char path[] = "/tmp/bpe-record-XXXXXX";
    int fd = mkstemp(path);
    struct record_reader r;
    struct record rec;
    enum record_next next = RECORD_ERROR;
    *n = 0;
    payloads->len = 0;
    if (fd < 0 || write(fd, stream->p, stream->len) != (ssize_t)stream->len)
        abort();
    close(fd);
    if (record_reader_open(&r, path, e) == 0) {
        while ((next = record_next(&r, &rec, e)) == RECORD_ITEM) {
            ++*n;
            buf_put(payloads, rec.payload, rec.len, e);
        }
        record_reader_close(&r);
    }
    unlink(path);
    return next;
}

/* Bytes with many newlines and long stretches without one. */
static void random_payload(struct buf *b, size_t n)
{
    struct err e;
    b->len = 0;
    uint64_t kind = rnd(4);
    for (size_t i = 0; i < n; i++)
        buf_put_byte(b,
                     kind == 0   ? '\n'
                     : kind == 1 ? (unsigned char)rnd(256)
                     : kind == 2 ? 'x'
                     : rnd(300)  ? 'y'
                                 : '\n',
                     &e);
}

static void test_round_trip(void)
{
    struct buf payload = {0}, stream = {0}, all = {0}, got = {0};
    struct err e = {0};
    size_t n_records = 0, n;
    int newlines = 0, too_long = 0;
    for (size_t len = 0; len < 1400; len += len < 600 ? 1 : 37) {
        size_t before = stream.len;
        random_payload(&payload, len);
        buf_put(&all, payload.p, payload.len, &e);
        record_put(&stream, RECORD_WORDS, payload.p, payload.len, &e);
        n_records++;
        newlines += memchr(stream.p + before, '\n', stream.len - before) != stream.p + stream.len - 1;
    }
    for (int i = 0; i < 200; i++) {
        struct buf one = {0};
        random_payload(&payload, RECORD_ATOMIC_PAYLOAD);
        record_put(&one, RECORD_WORDS, payload.p, payload.len, &e);
        too_long += one.len > RECORD_ATOMIC;
        buf_free(&one);
    }
    tap_ok(newlines == 0, "0x0A is the last byte of a record, and occurs nowhere else");
    tap_ok(too_long == 0, "RECORD_ATOMIC_PAYLOAD bytes always fit RECORD_ATOMIC");
    enum record_next end = read_all(&stream, &got, &n, &e);
    tap_ok(end == RECORD_END && n == n_records && got.len == all.len && memcmp(got.p, all.p, all.len) == 0,
           "payloads of all lengths are read back");
    buf_free(&payload);
    buf_free(&stream);
    buf_free(&all);
    buf_free(&got);
}

/* Stuffing as bpe-records(5) describes it, a byte at a time. */
static void stuff_by_the_book(struct buf *out, const unsigned char *p, size_t n)
{
    struct err e;
    size_t len;
    for (size_t at = 0;; at++) {
        do {
            for (len = 0; len < 254 && at + len < n && p[at + len] != '\n'; len++)
                ;
            buf_put_byte(out, (unsigned char)((len + 1) ^ '\n'), &e);
            buf_put(out, p + at, len, &e);
            at += len;
            if (at == n)
                return;
        } while (len == 254);
    }
}

/* Number of errors in stuffing and unstuffing. */
struct stuffing {
    size_t n_bytes, wrong, wrong_back, wrong_begun, beyond;
};

/* Stuffs a payload given in parts, at any alignment, in blocks of exactly the required size (so that the sanitizers
 * detect reads past them), and unstuffs it. */
static void stuff(struct stuffing *t, const struct buf *payload, struct buf *want)
{
    size_t n = payload->len, room = COBS_ROOM(n), done = 0, shift = rnd(64);
    unsigned char *out = malloc(shift + room + 1), *back = malloc(shift + n + COBS_PAD + 1),
                  *copy = malloc(shift + n + 1);
    if (!out || !back || !copy)
        abort();
    unsigned char *o = out + shift, *d = back + shift, *c = copy + shift + 1;
    want->len = 0;
    stuff_by_the_book(want, payload->p, n);
    if (n)
        memcpy(c, payload->p, n);
    o[room] = 0xA5;
    struct cobs_writer s;
    cobs_begin(&s, o);
    while (done < n) {
        size_t part = 1 + rnd(rnd(2) ? 3 : n);
        part = part < n - done ? part : n - done;
        cobs_put(&s, c + done, part);
        done += part;
    }
    size_t len = cobs_end(&s);
    t->wrong += len != want->len || memcmp(o, want->p, len) != 0;
    t->beyond += o[room] != 0xA5;
    memset(o + len, '\n', room - len);
    d[n + COBS_PAD] = 0xA5;
    t->wrong_back += cobs_decode(d, o, len) != n || (n && memcmp(d, c, n) != 0);
    t->beyond += d[n + COBS_PAD] != 0xA5;
    size_t cut = rnd(len + 1), begun;
    d[cut < n ? cut : n] = 0xA5;
    begun = cobs_decode_start(d, o, cut);
    t->wrong_begun += begun > n || cut - begun > cut / 255 + 1 || (begun && memcmp(d, c, begun) != 0);
    t->beyond += d[cut < n ? cut : n] != 0xA5 && cut <= n;
    t->wrong_begun += cobs_decode_start(d, o, len) != n || (n && memcmp(d, c, n) != 0);
    t->n_bytes += n;
    free(out);
    free(back);
    free(copy);
}

/* Newlines and full blocks at all distances. */
static void random_lines(struct buf *b)
{
    struct err e;
    b->len = 0;
    for (uint64_t k = rnd(12); k; k--) {
        uint64_t run = rnd(3) ? rnd(90) : 250 + rnd(10);
        for (; run; run--)
            buf_put_byte(b, (unsigned char)(rnd(20) ? 'x' : rnd(256)), &e);
        if (rnd(6))
            buf_put_byte(b, '\n', &e);
    }
}

/* n bytes in which newlines are as dense as possible, or less. */
static void random_dense(struct buf *b, size_t n)
{
    struct err e;
    uint64_t of = 1 + rnd(rnd(2) ? 8 : 300);
    b->len = 0;
    for (; n; n--)
        buf_put_byte(b, rnd(of) ? (unsigned char)rnd(256) : '\n', &e);
}

static void test_stuffing(void)
{
    struct buf payload = {0}, want = {0};
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        if (!simd_has(level)) {
            tap_ok(1, "stuffing # SKIP this processor lacks %s", simd_name(level));
            continue;
        }
        simd_use(level);
        struct stuffing t = {0};
        for (int i = 0; i < 20000; i++) {
            random_lines(&payload);
            stuff(&t, &payload, &want);
        }
        for (size_t n = 0; n <= 2000; n++) {
            random_dense(&payload, n);
            stuff(&t, &payload, &want);
            random_payload(&payload, n);
            stuff(&t, &payload, &want);
        }
        tap_ok(t.wrong == 0, "%s: %zu bytes are stuffed as the manual says", simd_name(level), t.n_bytes);
        tap_ok(t.wrong_back == 0, "%s: and are unstuffed", simd_name(level));
        tap_ok(t.wrong_begun == 0, "%s: so is the beginning, cut at any byte", simd_name(level));
        tap_ok(t.beyond == 0, "%s: within the required space", simd_name(level));
    }
    buf_free(&payload);
    buf_free(&want);
}

/* Three small records; every cut and every flipped bit must be detected. */
static void test_damage(void)
{
    struct buf stream = {0}, damaged = {0}, got = {0};
    struct err e = {0};
    size_t n, border[4] = {0};
    int bad_cuts = 0, bad_flips = 0, no_place = 0;
    for (int i = 0; i < 3; i++) {
        record_put(&stream, RECORD_COMMIT, "one\ntwo\n\nthree", 14, &e);
        border[i + 1] = stream.len;
    }
    for (size_t cut = 0; cut <= stream.len; cut++) {
        damaged.len = 0;
        buf_put(&damaged, stream.p, cut, &e);
        enum record_next end = read_all(&damaged, &got, &n, &e);
        int whole = cut == border[0] || cut == border[1] || cut == border[2] || cut == border[3];
        bad_cuts += end != (whole ? RECORD_END : RECORD_ERROR) || (!whole && e.code != EX_DATAERR);
    }
    tap_ok(bad_cuts == 0, "a stream that is cut inside a record, at any byte, is an error");
    for (size_t bit = 0; bit < 8 * stream.len; bit++) {
        damaged.len = 0;
        buf_put(&damaged, stream.p, stream.len, &e);
        damaged.p[bit / 8] ^= (unsigned char)(1u << bit % 8);
        enum record_next end = read_all(&damaged, &got, &n, &e);
        bad_flips += end != RECORD_ERROR || e.code != EX_DATAERR;
        no_place += !e.input[0] || e.offset == ERR_NO_OFFSET;
    }
    tap_ok(bad_flips == 0, "every flipped bit is an error");
    tap_ok(no_place == 0, "and the message has the input and offset");
    buf_free(&stream);
    buf_free(&damaged);
    buf_free(&got);
}

static void test_limits(void)
{
    struct buf stream = {0}, got = {0};
    struct err e = {0};
    size_t n;
    buf_put_str(&stream,
                "\xFF"
                "1W3fffffff0123456789abcdef",
                &e);
    for (int i = 0; i < 3 << 20; i++)
        buf_put_byte(&stream, i % 5000 == 4999 ? '\n' : 'x', &e);
    tap_ok(read_all(&stream, &got, &n, &e) == RECORD_ERROR && strstr(e.msg, "damaged length"),
           "a damaged length is detected at a newline that comes too early");
    stream.len = 0;
    buf_put_str(&stream,
                "\xFF"
                "2W000000010123456789abcdefx\n",
                &e);
    tap_ok(read_all(&stream, &got, &n, &e) == RECORD_ERROR && strstr(e.msg, "version"),
           "another version is reported as such");
    stream.len = 0;
    buf_put_str(&stream, "plain text\n", &e);
    tap_ok(read_all(&stream, &got, &n, &e) == RECORD_ERROR && strstr(e.msg, "bpe-chunk"),
           "text is not taken for records");
    stream.len = 0;
    tap_ok(read_all(&stream, &got, &n, &e) == RECORD_END && n == 0, "an empty stream has no records");
    buf_free(&stream);
    buf_free(&got);
}

/* Random bytes as payload of every type: the get functions must refuse or accept them, and never read past them (the
 * sanitizers detect that). */
static void test_random_fields(void)
{
    struct buf payload = {0};
    struct err e = {0};
    static const unsigned char types[] = "CRPWKSF";
    for (int i = 0; i < 200000; i++) {
        random_payload(&payload, rnd(120));
        for (size_t k = 0; k < payload.len; k++)
            payload.p[k] = rnd(3) ? (unsigned char)rnd(8) : payload.p[k];
        buf_reserve(&payload, RECORD_PAD, &e);
        struct record rec = {.type = types[rnd(7)], .payload = payload.p, .len = payload.len};
        struct cursor c;
        struct chunk chunk;
        struct words words;
        struct fragment part;
        struct failure failure;
        struct range_head head;
        struct source_facts file;
        struct rules rules;
        struct commit commit;
        struct batch_place place;
        struct reading reading;
        struct promise_head promise;
        struct source_facts source;
        struct tokens tokens;
        uint64_t a, b;
        (void)!chunk_get(&chunk, &rec, &e);
        (void)!words_get(&words, &rec, &e);
        (void)!tokens_get(&tokens, &rec, &e);
        (void)!batch_place_get(&place, &rec, &e);
        (void)!fragment_get(&part, &rec, &e);
        (void)!failure_get(&failure, &rec, &e);
        if (range_get_head(&head, &c, &rec, &e) == 0 && range_get_file(&file, &c, &e) == 0)
            (void)!range_get_piece(&a, &b, &file, &c, &e);
        if (rules_get(&rules, (struct str){payload.p, payload.len}, &e) == 0)
            rules_free(&rules);
        (void)!reading_get(&reading, (struct str){payload.p, payload.len}, &e);
        if (payload.len) /* mostly one of the two valid kinds */
            payload.p[0] = rnd(9) ? RECORD_WORDS : payload.p[0];
        (void)!commit_get(&commit, (struct str){payload.p, payload.len}, &e);
        commit_free(&commit);
        c = cursor_over(payload.p, payload.len);
        if (promise_get_head(&promise, &c, &e) == 0)
            (void)!promise_get_source(&source, &c, &e);
    }
    tap_ok(1, "random fields are either refused or read");
    buf_free(&payload);
}

static void test_varints(void)
{
    unsigned char b[VARINT_MAX];
    int wrong = 0;
    for (int shift = 0; shift < 64; shift++) {
        for (int d = -1; d <= 1; d++) {
            uint64_t v = ((uint64_t)1 << shift) + (uint64_t)d;
            size_t n = varint_put(b, v);
            struct cursor c = cursor_over(b, n), less = cursor_over(b, n - 1);
            wrong += get_varint(&c) != v || c.bad || cursor_left(&c) || n != varint_len(v);
            get_varint(&less);
            wrong += !less.bad;
        }
    }
    static const unsigned char over[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
    struct cursor c = cursor_over(over, sizeof over);
    get_varint(&c);
    tap_ok(wrong == 0 && c.bad,
           "varints of all lengths are read back; truncated ones and more than 64 bits are refused");
}

int main(void)
{
    random_seed(1);
    test_varints();
    test_stuffing();
    test_round_trip();
    test_damage();
    test_limits();
    test_random_fields();
    return tap_done();
}
