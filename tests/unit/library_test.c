/* library_test.c - the C library: encoding, decoding, tokens, errors, and use from several threads at the same time,
 * also under the thread sanitizer (make check-threads). tests/python checks that its ids are those of bpe-encode, with
 * models in all formats. */
#include "base/sys/buf.h"
#include "library/bpetools.h"
#include "pretok/byte_level.h"
#include "random.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXTS = 300, ROOM = 4096, THE = 258, EOT = 259, MARK = 260, N_IDS = 261 };

static struct err err;
static struct buf json;

static void put(const char *s)
{
    if (buf_put_str(&json, s, &err))
        abort();
}

static void put_char(unsigned char byte)
{
    if (byte == '"' || byte == '\\')
        put("\\");
    if (byte_level_put(&json, &byte, 1, &err))
        abort();
}

/* A model with all bytes; "th", "the" and " the"; a special token, and an added token that is not special. */
static void make_model(void)
{
    put("{\"added_tokens\":[");
    put("{\"id\":259,\"content\":\"<|endoftext|>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
        "\"normalized\":false,\"special\":true},");
    put("{\"id\":260,\"content\":\"<mark>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
        "\"normalized\":false,\"special\":false}],");
    put("\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}"
        ","
        "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{");
    for (unsigned b = 0; b < 256; b++) {
        put("\"");
        put_char((unsigned char)b);
        if (buf_printf(&json, &err, "\":%u,", b))
            abort();
    }
    put("\"th\":256,\"the\":257,\"\304\240the\":258},\"merges\":[\"t h\",\"th e\",\"\304\240 the\"]}}");
}

static bpe_tokenizer *open_model(void)
{
    return bpe_open_memory(json.p, json.len, "model", NULL, NULL);
}

static int same(const uint32_t *a, const uint32_t *b, ptrdiff_t n)
{
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static int encodes_to(const bpe_tokenizer *t, const char *text, size_t len, enum bpe_special special,
                      const uint32_t *want, ptrdiff_t n)
{
    uint32_t ids[ROOM];
    return bpe_encode(t, text, len, special, ids, ROOM) == n && same(ids, want, n);
}

#define ENCODES(t, text, special, ...)                                                                                 \
    encodes_to(t, text, sizeof(text) - 1, special, (const uint32_t[]){__VA_ARGS__},                                    \
               (ptrdiff_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))

static void test_encode(const bpe_tokenizer *t)
{
    uint32_t ids[ROOM], few[2] = {7, 7};
    char text[ROOM];
    tap_ok(ENCODES(t, "the the", BPE_SPECIAL_TOKEN, 257, THE), "a text");
    tap_ok(ENCODES(t, "a\0b", BPE_SPECIAL_TOKEN, 'a', 0, 'b'), "  with a NUL byte");
    tap_ok(bpe_encode(t, "", 0, BPE_SPECIAL_TOKEN, ids, ROOM) == 0 && bpe_encode(t, NULL, 0, 0, NULL, 0) == 0,
           "  empty");
    tap_ok(ENCODES(t, "the<|endoftext|><mark>the", BPE_SPECIAL_TOKEN, 257, EOT, MARK, 257), "  with special tokens");
    tap_ok(ENCODES(t, "a<mark>b", BPE_SPECIAL_TEXT, 'a', MARK, 'b'),
           "  special tokens as text: an added token that is not special is still found");
    ptrdiff_t n = bpe_encode(t, "<|endoftext|>", 13, BPE_SPECIAL_TEXT, ids, ROOM);
    tap_ok(n > 1 && bpe_decode(t, ids, (size_t)n, 0, text, ROOM) == 13 && !memcmp(text, "<|endoftext|>", 13),
           "  but a special one is text");
    tap_ok(bpe_encode(t, "the the<mark>", 13, BPE_SPECIAL_TOKEN, few, 1) == 3 && few[0] == 257 && few[1] == 7,
           "  with too little space for ids");
    tap_ok(bpe_decode(t, (const uint32_t[]){257, THE, EOT, MARK}, 4, 1, text, ROOM) == 13 &&
               !memcmp(text, "the the<mark>", 13),
           "decoding, special tokens left out");
    memset(text, 'x', 4);
    tap_ok(bpe_decode(t, (const uint32_t[]){257, THE}, 2, 0, text, 3) == 7 && !memcmp(text, "thex", 4),
           "  with too little space for bytes");
    tap_ok(bpe_decode(t, NULL, 0, 0, NULL, 0) == 0, "  of nothing");
}

static void test_tokens(const bpe_tokenizer *t)
{
    char s[10];
    size_t n;
    const struct bpe_added *added = bpe_added_tokens(t, &n);
    tap_ok(bpe_vocab_size(t) == N_IDS, "the vocabulary's size");
    tap_ok(bpe_token_bytes(t, THE, s, sizeof s) == 4 && !memcmp(s, " the", 4), "a token: its bytes");
    tap_ok(bpe_token_name(t, THE, s, sizeof s) == 5 && !memcmp(s, "\304\240the", 5), "  and its name");
    tap_ok(bpe_id_of_bytes(t, " the", 4) == THE && bpe_id_of_name(t, "\304\240the", 5) == THE, "  and its id");
    tap_ok(bpe_id_of_bytes(t, "\304\240the", 5) == -1 && bpe_id_of_name(t, " the", 4) == -1,
           "  bytes and name are distinct");
    tap_ok(bpe_id_of_bytes(t, "<mark>", 6) == MARK && bpe_id_of_name(t, "<mark>", 6) == MARK,
           "  the id of an added token");
    tap_ok(bpe_id_of_bytes(t, "", 0) == -1 && bpe_id_of_name(t, "", 0) == -1, "  of nothing");
    tap_ok(n == 2 && added[0].id == EOT && added[0].special && added[1].id == MARK && !added[1].special &&
               added[1].len == 6 && !memcmp(added[1].text, "<mark>", 6),
           "the added tokens");
    tap_ok(bpe_eos_id(t) == EOT && bpe_pad_id(t) == -1, "the end-of-text token, and no padding token");
}

static int fails(int code, uint64_t text, uint64_t offset, const char *message)
{
    const struct bpe_error *e = bpe_last_error();
    int good = e->code == code && e->text == text && e->offset == offset && strstr(e->message, message);
    if (!good)
        tap_note("%d, %lld, %lld: %s", e->code, (long long)e->text, (long long)e->offset, e->message);
    return good;
}

static void test_errors(const bpe_tokenizer *t)
{
    struct bpe_batch b;
    struct bpe_text bad[TEXTS];
    uint32_t ids[ROOM];
    for (size_t i = 0; i < TEXTS; i++)
        bad[i] = (struct bpe_text){"the", 3};
    bad[7] = (struct bpe_text){"the\xFF", 4};
    bad[290] = (struct bpe_text){"\xC3", 1};
    tap_ok(!bpe_open("no/such/file", NULL, NULL) && fails(EX_NOINPUT, BPE_UNKNOWN, BPE_UNKNOWN, "no/such/file: "),
           "a missing file");
    tap_ok(!bpe_open_memory("{}", 2, "abc", NULL, NULL) && fails(EX_DATAERR, BPE_UNKNOWN, BPE_UNKNOWN, "abc: "),
           "contents that are not a model");
    tap_ok(!bpe_open_memory(NULL, 0, "abc", NULL, NULL) && fails(EX_DATAERR, BPE_UNKNOWN, BPE_UNKNOWN, "empty"),
           "  none");
    tap_ok(!bpe_open_memory(json.p, json.len, "abc", "nope", NULL) && fails(EX_USAGE, BPE_UNKNOWN, BPE_UNKNOWN, "nope"),
           "an unknown pattern");
    tap_ok(!bpe_open_memory("YQ== 0\n\n?? 1\n", 13, "abc.tiktoken", NULL, NULL) &&
               fails(EX_DATAERR, BPE_UNKNOWN, BPE_UNKNOWN, "abc.tiktoken: line 3: ") && bpe_last_error()->line == 3,
           "an error in a line of a file");
    tap_ok(!bpe_open("-", NULL, NULL) && fails(EX_USAGE, BPE_UNKNOWN, BPE_UNKNOWN, "./-"), "standard input");
    for (int special = -1; special < 4; special += 4)
        tap_ok(bpe_encode(t, "ab", 2, (enum bpe_special)special, ids, ROOM) == -1 &&
                   fails(EX_USAGE, BPE_UNKNOWN, BPE_UNKNOWN, "special is ") &&
                   bpe_encode_batch(t, bad, 2, (enum bpe_special)special, 2, &b) == -1 && !b.ids &&
                   fails(EX_USAGE, BPE_UNKNOWN, BPE_UNKNOWN, "special is "),
               "special is %d", special);
    tap_ok(bpe_encode(t, "ab\xFF", 3, 0, ids, ROOM) == -1 && fails(EX_DATAERR, BPE_UNKNOWN, 2, "text: byte 2: "),
           "invalid UTF-8");
    tap_ok(bpe_encode(t, "ab<|endoftext|>", 15, BPE_SPECIAL_ERROR, ids, ROOM) == -1 &&
               fails(EX_DATAERR, BPE_UNKNOWN, 2, "text: byte 2: special token <|endoftext|> in the text"),
           "a special token with BPE_SPECIAL_ERROR");
    for (unsigned threads = 0; threads < 4; threads++)
        tap_ok(bpe_encode_batch(t, bad, TEXTS, 0, threads, &b) == -1 && !b.ids && !b.offset &&
                   fails(EX_DATAERR, 7, 3, "text 7: byte 3: invalid UTF-8"),
               "the first bad text of several, %u threads", threads);
    tap_ok(bpe_decode(t, (const uint32_t[]){'a', N_IDS}, 2, 0, NULL, 0) == -1 &&
               fails(EX_DATAERR, BPE_UNKNOWN, BPE_UNKNOWN, "id 261 at index 1"),
           "an id without a token");
    tap_ok(bpe_token_bytes(t, N_IDS, NULL, 0) == -1 && bpe_token_name(t, UINT32_MAX, NULL, 0) == -1,
           "  has no bytes and no name");
    tap_ok(ENCODES(t, "the<mark>", BPE_SPECIAL_ERROR, 257, MARK),
           "after errors it works as before; an added token that is not special is not an error");
}

/* ---- Many and long texts ---- */

static struct bpe_text texts[TEXTS];

/* Texts of random words; one text in eight is long. */
static void make_texts(void)
{
    static const char *const words[] = {"the",    " the",          " t",       "h",  "\n\na",
                                        "<mark>", "<|endoftext|>", "\303\251", "  ", "\n"};
    for (size_t i = 0; i < TEXTS; i++) {
        struct buf b = {0};
        for (size_t n = rnd(8) ? rnd(20) : rnd(3000); n; n--)
            if (buf_put_str(&b, words[rnd(sizeof words / sizeof *words)], &err))
                abort();
        texts[i] = (struct bpe_text){(const char *)b.p, b.len};
    }
}

/* Whether the batch equals encoding one text at a time. */
static int is_batch(const bpe_tokenizer *t, const struct bpe_batch *b, enum bpe_special special)
{
    static _Thread_local uint32_t ids[16384];
    int good = b->n == TEXTS && b->offset[0] == 0;
    for (size_t i = 0; i < b->n && good; i++) {
        ptrdiff_t n = bpe_encode(t, texts[i].p, texts[i].len, special, ids, sizeof ids / sizeof *ids);
        good = n == (ptrdiff_t)(b->offset[i + 1] - b->offset[i]) && (!n || same(ids, b->ids + b->offset[i], n));
    }
    return good;
}

static void test_batch(const bpe_tokenizer *t)
{
    struct bpe_batch b;
    for (unsigned threads = 0; threads < 4; threads++) {
        tap_ok(bpe_encode_batch(t, texts, TEXTS, threads % 2, threads, &b) == 0 && is_batch(t, &b, threads % 2),
               "%d texts, %u threads", TEXTS, threads);
        bpe_batch_free(&b);
    }
    tap_ok(bpe_encode_batch(t, NULL, 0, 0, 0, &b) == 0 && b.n == 0 && b.offset[0] == 0, "no text");
    bpe_batch_free(&b);
}

/* A text longer than the encoder's block has the ids of its lines. */
static void test_long(const bpe_tokenizer *t)
{
    enum { LONG = 3 << 20 };
    static uint32_t whole[2 * LONG], line[ROOM];
    static const char *const words[] = {"the", " the", " \303\251", "a1", "<mark>"};
    struct buf text = {0};
    size_t n = 0, at = 0;
    while (text.len < LONG) {
        size_t from = text.len;
        for (size_t k = 1 + rnd(100); k; k--)
            if (buf_put_str(&text, words[rnd(5)], &err))
                abort();
        if (buf_put_str(&text, "x\n", &err))
            abort();
        text.p[from] = 'q';
    }
    ptrdiff_t all = bpe_encode(t, (char *)text.p, text.len, 0, whole, 2 * LONG);
    int good = all > 0;
    while (at < text.len && good) {
        size_t len = (size_t)((unsigned char *)memchr(text.p + at, '\n', text.len - at) + 1 - (text.p + at));
        ptrdiff_t got = bpe_encode(t, (char *)text.p + at, len, 0, line, ROOM);
        good = got > 0 && got < ROOM && same(line, whole + n, got);
        n += (size_t)got;
        at += len;
    }
    tap_ok(good && n == (size_t)all, "a long text has the ids of its lines");
    /* The text is now a single pretoken, so no part can be encoded before the rest. */
    memset(text.p, 'x', text.len);
    tap_ok(bpe_encode(t, (char *)text.p, text.len, 0, whole, 2 * LONG) == (ptrdiff_t)text.len,
           "  a single long word is encoded, too");
    text.p[text.len - 1] = 0xFF;
    tap_ok(bpe_encode(t, (char *)text.p, text.len, 0, whole, 2 * LONG) == -1 &&
               fails(EX_DATAERR, BPE_UNKNOWN, text.len - 1, "invalid UTF-8"),
           "  and an error in it has its offset");
    buf_free(&text);
}

/* ---- Threads ---- */

static const bpe_tokenizer *shared;
static atomic_int bad, stop;

/* Encodes and decodes with the shared tokenizer, and opens others. */
static void *use(void *ctx)
{
    const size_t number = (size_t)ctx;
    static _Thread_local char text[65536];
    for (size_t round = 0; round < 6; round++) {
        const enum bpe_special special = (number + round) % 2;
        struct bpe_batch b;
        bpe_tokenizer *own = open_model();
        if (!own || bpe_encode_batch(shared, texts, TEXTS, special, 1 + number % 2, &b)) {
            atomic_fetch_add(&bad, 1);
            return NULL;
        }
        for (size_t i = 0; i < TEXTS; i++) {
            ptrdiff_t n =
                bpe_decode(shared, b.ids + b.offset[i], (size_t)(b.offset[i + 1] - b.offset[i]), 0, text, sizeof text);
            if (n != (ptrdiff_t)texts[i].len || (n && memcmp(text, texts[i].p, (size_t)n) != 0))
                atomic_fetch_add(&bad, 1);
        }
        if (!is_batch(own, &b, special) || bpe_id_of_bytes(shared, "the", 3) != 257)
            atomic_fetch_add(&bad, 1);
        if (bpe_encode(shared, "\xFF", 1, 0, NULL, 0) != -1 || bpe_last_error()->offset != 0)
            atomic_fetch_add(&bad, 1);
        bpe_batch_free(&b);
        bpe_close(own);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[4];
    for (size_t i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, use, (void *)i))
            abort();
    for (size_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    tap_ok(atomic_load(&bad) == 0, "four threads with one tokenizer");
}

static void *open_and_close(void *ctx)
{
    (void)ctx;
    bpe_tokenizer *t = open_model();
    if (!t)
        atomic_fetch_add(&bad, 1);
    bpe_close(t);
    return NULL;
}

/* Runs first: everything that is made at first use is made in these threads. */
static void test_opening(void)
{
    pthread_t thread[4];
    for (size_t i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, open_and_close, NULL))
            abort();
    for (size_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    tap_ok(atomic_load(&bad) == 0, "four threads that open the first tokenizers");
}

static void *work(void *ctx)
{
    (void)ctx;
    for (struct bpe_batch b; !atomic_load(&stop); bpe_batch_free(&b))
        if (bpe_encode_batch(shared, texts, TEXTS, 0, 1, &b))
            atomic_fetch_add(&bad, 1);
    return NULL;
}

/* AddressSanitizer's own allocator may remain locked in a forked process forever; the C library's does not. The thread
 * sanitizer does not support threads in a forked process. */
#ifdef __SANITIZE_ADDRESS__
enum { FORKS = 0 };
#else
enum { FORKS = 20 };
#endif
#ifdef __SANITIZE_THREAD__
enum { CHILD_THREADS = 1 };
#else
enum { CHILD_THREADS = 2 };
#endif

/* Processes that fork while another thread encodes. */
static void test_fork(void)
{
    pthread_t thread;
    int good = 0;
    if (pthread_create(&thread, NULL, work, NULL))
        abort();
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct bpe_batch b;
            alarm(20);
            _exit(bpe_encode_batch(shared, texts, TEXTS, 0, CHILD_THREADS, &b) == 0 && is_batch(shared, &b, 0) ? 0 : 1);
        }
        int status;
        good += waitpid(child, &status, 0) == child && status == 0;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    tap_ok(good == FORKS && atomic_load(&bad) == 0, "%d processes forked while a thread encodes", FORKS);
}

int main(void)
{
    random_seed(1);
    make_model();
    make_texts();
    test_opening();
    bpe_tokenizer *t = open_model();
    if (!tap_ok(t != NULL, "a tokenizer opens")) {
        tap_note("%s", bpe_last_error()->message);
        return tap_done();
    }
    tap_ok(bpe_last_error()->code == 0 && !*bpe_last_error()->message, "nothing has failed yet");
    tap_ok(strstr(bpe_build(), bpe_version()) != NULL, "%s", bpe_build());
    test_encode(t);
    test_tokens(t);
    test_errors(t);
    test_batch(t);
    test_long(t);
    shared = t;
    test_threads();
    test_fork();
    bpe_close(t);
    bpe_close(NULL);
    for (size_t i = 0; i < TEXTS; i++)
        free((void *)(uintptr_t)texts[i].p);
    buf_free(&json);
    return tap_done();
}
