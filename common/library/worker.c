/* worker.c - see worker.h. */
#include "library/worker.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL = 256,           /* maximum number of idle workers */
    WINDOW = 1 << 20,     /* bytes of a text that are encoded at a time */
    WINDOW_MAX = 1 << 30, /* the maximum, for a pretoken as long as that */
};

/* ---- A worker ---- */

void worker_free(struct worker *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < 2; i++) {
        if (w->splitter[i].is_open)
            pretokenizer_close(&w->splitter[i].pretokenizer);
        free(w->splitter[i].special_id);
    }
    encoder_free(&w->encoder);
    ids_free(&w->ids);
    buf_free(&w->end);
    free(w);
}

static struct worker *worker_make(const struct model *model, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w) {
        err_mem(e, "an encoder", sizeof *w);
        return NULL;
    }
    w->ids.wide = true;
    if (encoder_init(&w->encoder, model, true, e)) {
        free(w);
        return NULL;
    }
    return w;
}

static int take_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e)
{
    struct worker *w = ctx;
    return encoder_pretokens(&w->encoder, text, start, ends, n, &w->ids, e);
}

static int take_special(void *ctx, size_t token, size_t end, struct err *e)
{
    struct worker *w = ctx;
    (void)end;
    const uint32_t id = w->now->special_id[token];
    if (w->refuse && encode_rules_refuse(w->refuse, id, e))
        return -1;
    return encoder_end(&w->encoder, &w->ids, e) || ids_put(&w->ids, id, e) ? -1 : 0;
}

static int splitter_open(struct worker *w, struct splitter *s, const struct encode_rules *er, struct err *e)
{
    const struct pretoken_sink sink = {.words = take_words,
                                       .special = take_special,
                                       .pairs = w->encoder.has_pairs ? &w->encoder.pairs : NULL,
                                       .ctx = w};
    struct rules rules = {0};
    int rc = encode_rules_for_text(er, &rules, e);
    if (rc == 0) {
        free(s->special_id);
        s->special_id = calloc(rules.n_special + 1, sizeof *s->special_id);
        rc = !s->special_id ? err_mem(e, "special tokens", rules.n_special * sizeof *s->special_id)
                            : encode_rules_match(er, &rules, s->special_id, e);
    }
    if (rc == 0 && (rc = pretokenizer_open(&s->pretokenizer, &rules, INVALID_ERROR, &sink, e)) == 0)
        s->is_open = true;
    rules_free(&rules);
    return rc;
}

/* Prepares for texts whose special tokens are treated as `special` says. */
static int worker_set(struct worker *w, const struct encode_rules *er, enum bpe_special special, struct err *e)
{
    struct encode_rules rules = *er;
    rules.special_is_text = special == BPE_SPECIAL_TEXT;
    struct splitter *s = &w->splitter[rules.special_is_text];
    w->refuse = special == BPE_SPECIAL_ERROR ? er->model : NULL;
    w->now = s;
    return s->is_open ? 0 : splitter_open(w, s, &rules, e);
}

/* ---- One text ---- */

int worker_encode(struct worker *w, const char *text, size_t n, size_t *where, struct err *e)
{
    struct pretokenizer *p = &w->now->pretokenizer;
    const unsigned char *const from = (const unsigned char *)text;
    size_t at = 0, window = WINDOW, bad = 0;
    *where = 0;
    /* The scanner reads SCAN_PAD bytes past a window. None can be read past the text, so the last window is copied. */
    while (n - at > window + SCAN_PAD) {
        ptrdiff_t used = pretokenize_text(p, from + at, window, TEXT_MORE, &bad, e);
        if (used < 0) {
            *where = at + bad;
            return -1;
        }
        at += (size_t)used;
        window = used > 0 ? WINDOW : 2 * window;
        if (window > WINDOW_MAX) {
            *where = at;
            return err_set(e, EX_DATAERR, "no split point in 1 GiB of text");
        }
    }
    w->end.len = 0;
    if (buf_reserve(&w->end, n - at + SCAN_PAD, e))
        return -1;
    if (n > at)
        memcpy(w->end.p, from + at, n - at);
    memset(w->end.p + (n - at), 0, SCAN_PAD);
    if (pretokenize_text(p, w->end.p, n - at, TEXT_DOC, &bad, e) < 0) {
        *where = at + bad;
        return -1;
    }
    return encoder_end(&w->encoder, &w->ids, e);
}

/* ---- The pool ---- */

struct worker_pool {
    _Atomic(struct worker *) idle[POOL];
};

struct worker_pool *worker_pool_make(struct err *e)
{
    struct worker_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        err_mem(e, "a pool of encoders", sizeof *pool);
    return pool;
}

void worker_pool_free(struct worker_pool *pool)
{
    for (size_t i = 0; pool && i < POOL; i++)
        worker_free(atomic_load(&pool->idle[i]));
    free(pool);
}

struct worker *worker_get(struct worker_pool *pool, const struct encode_rules *er, enum bpe_special special,
                          struct err *e)
{
    struct worker *w = NULL;
    if ((unsigned)special > BPE_SPECIAL_ERROR) {
        err_set(e, EX_USAGE, "special is %d, not BPE_SPECIAL_TOKEN, BPE_SPECIAL_TEXT or BPE_SPECIAL_ERROR",
                (int)special);
        return NULL;
    }
    for (size_t i = 0; i < POOL && !w; i++)
        if (atomic_load_explicit(&pool->idle[i], memory_order_relaxed))
            w = atomic_exchange(&pool->idle[i], NULL);
    if (!w)
        w = worker_make(er->model, e);
    if (w && worker_set(w, er, special, e)) {
        worker_free(w);
        w = NULL;
    }
    return w;
}

void worker_put(struct worker_pool *pool, struct worker *w)
{
    for (size_t i = 0; i < POOL; i++) {
        struct worker *none = NULL;
        if (atomic_compare_exchange_strong(&pool->idle[i], &none, w))
            return;
    }
    worker_free(w);
}
