/* decoder_test.c - decoding, compared with decoding one token at a time. */
#include "base/sys/bytes.h"
#include "encode/decoder.h"
#include "random.h"
#include "tap.h"

#include <string.h>

enum { MOST = 70000 /* ids */, USUAL = 400 /* number of the first ids, and of the last, that are frequent */ };

static struct model model;

/* Tokens of the lengths at which the way of copying changes, and of other lengths. Some ids have no token. */
static int make_model(struct err *e)
{
    static const size_t lens[] = {0, 1, 2, 14, 15, 16, 17, 31, 32, 255, 256, 257, 5000};
    model.n_ids = MOST;
    model.token = calloc(MOST, sizeof *model.token);
    if (!model.token)
        return err_mem(e, "the tokens", MOST * sizeof *model.token);
    for (uint32_t id = 0; id < MOST; id++) {
        size_t len = rnd(4) ? rnd(8) : lens[rnd(sizeof lens / sizeof *lens)];
        unsigned char *p = model_room(&model, len, e);
        if (!p)
            return -1;
        if (id % 10 == 7 || (id > USUAL && id < 65000))
            continue;
        for (size_t i = 0; i < len; i++)
            p[i] = (unsigned char)rnd(256);
        model.token[id] = (struct model_token){p, (uint32_t)len, true};
        model_keep(&model, len);
    }
    return 0;
}

/* A random id. For half of the texts (good), it has a token. Some ids are near the last 2-byte id and the model's last
 * id; if not good, some are beyond it. */
static uint32_t random_id(unsigned width, bool good)
{
    for (;;) {
        uint32_t id = rnd(3) ? (uint32_t)rnd(USUAL) : 65536 - USUAL + (uint32_t)rnd(USUAL);
        if (width == 4 && rnd(3) == 0)
            id = rnd(50) ? MOST - USUAL + (uint32_t)rnd(USUAL + 1) : (uint32_t)next_random();
        if (rnd(200) == 0 ? !good : id < MOST && model.token[id].p)
            return id;
    }
}

/* The slow way: one token at a time, up to the first id without a token. */
static size_t plain(const unsigned char *p, size_t n, unsigned width, struct buf *out, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t id = load_le(p + i * width, width);
        if (id >= MOST || !model.token[id].p || buf_put(out, model.token[id].p, model.token[id].len, e))
            return i;
    }
    return n;
}

/* The way a program calls it: with part of the ids at a time, writing the output whenever there is much of it. */
static size_t in_parts(struct decoder *d, const unsigned char *p, size_t n, struct buf *written, size_t *max,
                       struct err *e)
{
    struct buf out = {0};
    size_t at = 0, part = 0;
    while (at < n) {
        if (part == 0)
            part = rnd(4) ? n - at : 1 + rnd(n - at);
        ptrdiff_t done = decoder_put(d, p + at * d->width, part, &out, e);
        if (done < 0)
            break;
        *max = out.len > *max ? out.len : *max;
        at += (size_t)done;
        part -= (size_t)done;
        bool many = out.len >= DECODER_MANY;
        if ((many || rnd(2)) && (buf_put(written, out.p, out.len, e) || (out.len = 0)))
            break;
        if (part && !many)
            break; /* an id without a token */
    }
    if (out.len)
        buf_put(written, out.p, out.len, e);
    buf_free(&out);
    return at;
}

static void test_random(unsigned width)
{
    struct decoder d = {0};
    struct err e;
    size_t wrong = 0, whole = 0, ended = 0, longest = 0, max = 0;
    if (!tap_ok(!decoder_init(&d, &model, width, &e), "a decoder of ids of %u bytes", width))
        return;
    for (int round = 0; round < 600; round++) {
        bool good = rnd(2);
        size_t n = rnd(5) ? rnd(300) : rnd(20000);
        unsigned char *p = malloc(n * width + !n); /* so that a sanitizer detects reads past the ids */
        struct buf want = {0}, got = {0};
        if (!p)
            break;
        for (size_t i = 0; i < n; i++)
            store_le(p + i * width, width, random_id(width, good));
        size_t n_want = plain(p, n, width, &want, &e), n_got = in_parts(&d, p, n, &got, &max, &e);
        wrong += n_want != n_got || want.len != got.len || (want.len && memcmp(want.p, got.p, want.len) != 0);
        whole += n_want == n;
        ended += n_want < n;
        longest = want.len > longest ? want.len : longest;
        buf_free(&want);
        buf_free(&got);
        free(p);
    }
    tap_ok(!wrong && whole > 200 && ended > 50 && longest > 2 * DECODER_MANY,
           "  %zu texts of up to %zu bytes, and %zu up to an id without a token", whole, longest, ended);
    tap_ok(max >= DECODER_MANY && max < DECODER_MANY + (100 << 10), "  it returns when it has enough to write");
    decoder_free(&d);
}

/* Each token alone, with as little spare room in the output as possible (a sanitizer detects writes past it). */
static void test_each(unsigned width)
{
    struct decoder d = {0};
    struct err e;
    size_t wrong = 0;
    if (decoder_init(&d, &model, width, &e))
        return;
    for (uint32_t id = 0; id < (width == 2 ? 65536 : MOST + 10); id++) {
        unsigned char p[4];
        struct buf out = {0};
        if (buf_put_byte(&out, '.', &e))
            break;
        const struct model_token none = {0}, *t = id < MOST ? &model.token[id] : &none;
        store_le(p, width, id);
        ptrdiff_t done = decoder_put(&d, p, 1, &out, &e);
        wrong += done != (t->p ? 1 : 0) || out.len != 1 + t->len || (t->len && memcmp(out.p + 1, t->p, t->len) != 0);
        buf_free(&out);
    }
    tap_ok(!wrong, "  each id alone");
    decoder_free(&d);
}

int main(void)
{
    struct err e;
    random_seed(20261123);
    if (!tap_ok(!make_model(&e), "a model with tokens of many lengths"))
        return tap_done();
    for (unsigned width = 2; width <= 4; width += 2) {
        test_random(width);
        test_each(width);
    }
    free(model.token);
    model.token = NULL;
    model_free(&model);
    return tap_done();
}
