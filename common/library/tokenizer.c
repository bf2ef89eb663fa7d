/* tokenizer.c - see bpetools.h: opening, tokens, decoding. */
#include "library/tokenizer.h"

#include "base/sys/bytes.h"
#include "base/sys/simd.h"
#include "library/last_error.h"
#include "model/model_read.h"
#include "pretok/scan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Versions ---- */

const char *bpe_version(void)
{
    return BPE_VERSION;
}

static struct {
    pthread_once_t once;
    struct err e; /* code 0: no error */
    char build[200];
} start = {.once = PTHREAD_ONCE_INIT};

static void begin(void)
{
    if (simd_prepare(&start.e))
        return;
    char text[100];
    snprintf(start.build, sizeof start.build, "libbpetools %s (%s; vector instructions: %s)", BPE_VERSION,
             scanner_versions(text, sizeof text), simd_name(simd_level()));
}

const char *bpe_build(void)
{
    pthread_once(&start.once, begin);
    return start.build;
}

/* ---- Opening ---- */

static int set_added(bpe_tokenizer *t, struct err *e)
{
    const struct model *m = &t->model;
    t->added = calloc(m->n_special + 1, sizeof *t->added);
    if (!t->added)
        return err_mem(e, "the added tokens", m->n_special * sizeof *t->added);
    for (size_t i = 0; i < m->n_special; i++)
        t->added[i] = (struct bpe_added){.text = (const char *)m->special[i].p,
                                         .len = m->special[i].len,
                                         .id = m->special[i].id,
                                         .special = m->special[i].special};
    return 0;
}

/* A model that cannot decode can still encode. */
static int set_decoder(bpe_tokenizer *t, struct err *e)
{
    t->decodes = decoder_init(&t->decoder, &t->model, sizeof(uint32_t), e) == 0;
    if (!t->decodes)
        decoder_free(&t->decoder);
    return t->decodes || e->code == EX_USAGE ? 0 : -1;
}

static int set_up(bpe_tokenizer *t, const char *name, struct err *e)
{
    t->name = strdup(name);
    if (!t->name)
        return err_mem(e, "a name", strlen(name));
    t->rules = (struct encode_rules){.model = &t->model, .name = t->name, .pattern = model_pattern(&t->model)};
    t->pool = worker_pool_make(e);
    if (!t->pool)
        return -1;
    return set_added(t, e) || model_index(&t->model, e) || set_decoder(t, e) ? -1 : 0;
}

/* Opens the model in `contents`; if contents.p is NULL, the one at the path `name`. */
static bpe_tokenizer *open_with(struct str contents, const char *name, const char *pattern, const char *const *special)
{
    struct err *e = last_error();
    struct model_opts opts = {.pattern = pattern, .special = special};
    pthread_once(&start.once, begin);
    if (start.e.code) {
        *e = start.e;
        last_error_tell(BPE_UNKNOWN);
        return NULL;
    }
    while (special && special[opts.n_special])
        opts.n_special++;
    bpe_tokenizer *t = calloc(1, sizeof *t);
    if (!t) {
        err_mem(e, "a tokenizer", sizeof *t);
    } else if (contents.p ? model_read_contents(&t->model, contents, name, &opts, e)
                          : model_read(&t->model, name, &opts, e)) {
        free(t);
        t = NULL;
    } else if (set_up(t, name, e)) {
        bpe_close(t);
        t = NULL;
    }
    if (!t)
        last_error_tell(BPE_UNKNOWN);
    return t;
}

bpe_tokenizer *bpe_open(const char *path, const char *pattern, const char *const *special)
{
    if (strcmp(path, "-") == 0) { /* standard input belongs to the process */
        err_set(last_error(), EX_USAGE, "cannot read a tokenizer from standard input; for a file named -, use ./-");
        last_error_tell(BPE_UNKNOWN);
        return NULL;
    }
    return open_with((struct str){0}, path, pattern, special);
}

bpe_tokenizer *bpe_open_memory(const void *contents, size_t len, const char *name, const char *pattern,
                               const char *const *special)
{
    const struct str all = {len ? contents : (const unsigned char *)"", len};
    return open_with(all, name, pattern, special);
}

void bpe_close(bpe_tokenizer *t)
{
    if (!t)
        return;
    worker_pool_free(t->pool);
    decoder_free(&t->decoder);
    model_free(&t->model);
    free(t->added);
    free(t->name);
    free(t);
}

/* ---- Decoding ---- */

/* The caller's buffer, which gets the bytes that fit into it, and the length of all bytes. */
struct given {
    char *to;
    size_t room, len;
};

static void give(struct given *g, const unsigned char *p, size_t n)
{
    if (n && g->len < g->room)
        memcpy(g->to + g->len, p, n < g->room - g->len ? n : g->room - g->len);
    g->len += n;
}

static bool is_special(const bpe_tokenizer *t, uint32_t id)
{
    const struct model_special *s = model_special(&t->model, id);
    return s && s->special;
}

/* Reports the first id that is `bad`, searched for from the index `from` on. */
static int no_token(const uint32_t *ids, size_t from, uint32_t bad, struct err *e)
{
    while (ids[from] != bad)
        from++;
    return err_set(e, EX_DATAERR, "unknown token id %lu at index %zu", (unsigned long)bad, from);
}

static int no_decoder(const bpe_tokenizer *t, struct err *e)
{
    struct decoder d;
    int rc = decoder_init(&d, &t->model, sizeof(uint32_t), e);
    decoder_free(&d);
    return rc;
}

/* Decodes n little-endian ids and returns how many it decoded: fewer than n if the next id has no token. some: scratch
 * memory. -1: out of memory. */
static ptrdiff_t decode_part(struct decoder *d, const unsigned char *p, size_t n, struct buf *some, struct given *out,
                             struct err *e)
{
    size_t done = 0;
    do {
        some->len = 0;
        ptrdiff_t more = decoder_put(d, p + done * sizeof(uint32_t), n - done, some, e);
        if (more < 0)
            return -1;
        give(out, some->p, some->len);
        done += (size_t)more;
    } while (done < n && some->len >= DECODER_MANY);
    return (ptrdiff_t)done;
}

static int decode(const bpe_tokenizer *t, const uint32_t *ids, size_t n, bool skip_special, struct buf *some,
                  struct given *out, struct err *e)
{
    enum { PART = 1024 };
    unsigned char part[PART * sizeof *ids];
    struct decoder d = t->decoder; /* the state of decoding is in the struct itself */
    if (!t->decodes)
        return no_decoder(t, e);
    decoder_begin(&d);
    for (size_t i = 0; i < n;) {
        const size_t from = i;
        size_t n_part = 0;
        for (; i < n && n_part < PART; i++)
            if (!skip_special || !is_special(t, ids[i]))
                store_le(part + n_part++ * sizeof *ids, sizeof *ids, ids[i]);
        ptrdiff_t done = decode_part(&d, part, n_part, some, out, e);
        if (done < 0)
            return -1;
        if ((size_t)done < n_part)
            return no_token(ids, from, load_le(part + (size_t)done * sizeof *ids, sizeof *ids), e);
    }
    return 0;
}

ptrdiff_t bpe_decode(const bpe_tokenizer *t, const uint32_t *ids, size_t n, int skip_special, char *text, size_t room)
{
    struct given out = {.to = text, .room = room};
    struct buf some = {0};
    int rc = decode(t, ids, n, skip_special != 0, &some, &out, last_error());
    buf_free(&some);
    return rc ? last_error_tell(BPE_UNKNOWN) : (ptrdiff_t)out.len;
}

/* ---- Tokens ---- */

uint32_t bpe_vocab_size(const bpe_tokenizer *t)
{
    return t->model.n_ids;
}

static ptrdiff_t token(const bpe_tokenizer *t, uint32_t id, bool name, char *to, size_t room)
{
    struct err *e = last_error();
    struct given out = {.to = to, .room = room};
    if (id >= t->model.n_ids || !t->model.token[id].p) {
        err_set(e, EX_DATAERR, "unknown token id %lu", (unsigned long)id);
        return last_error_tell(BPE_UNKNOWN);
    }
    const struct model_token *own = &t->model.token[id], *decoded = t->decodes ? &t->decoder.token[id] : own;
    if (name && own->vocab) {
        struct buf spelled = {0};
        int rc = spelling_put(t->model.spelling, &spelled, own->p, own->len, e);
        give(&out, spelled.p, spelled.len);
        buf_free(&spelled);
        return rc ? last_error_tell(BPE_UNKNOWN) : (ptrdiff_t)out.len;
    }
    give(&out, name ? own->p : decoded->p, name ? own->len : decoded->len);
    return (ptrdiff_t)out.len;
}

ptrdiff_t bpe_token_bytes(const bpe_tokenizer *t, uint32_t id, char *bytes, size_t room)
{
    return token(t, id, false, bytes, room);
}

ptrdiff_t bpe_token_name(const bpe_tokenizer *t, uint32_t id, char *name, size_t room)
{
    return token(t, id, true, name, room);
}

/* Copies the bytes of a name or token into a buffer, followed by BYTE_LEVEL_PAD bytes that may be read. */
static int set_padded(struct buf *b, const char *p, size_t len, struct err *e)
{
    if (buf_reserve(b, len + BYTE_LEVEL_PAD, e) || (len && buf_put(b, p, len, e)))
        return -1;
    memset(b->p + b->len, 0, BYTE_LEVEL_PAD);
    return 0;
}

/* The id of the token with these bytes or, if spelled, with this name. Added tokens come first, since they are also
 * found first in text. */
static int64_t find(const bpe_tokenizer *t, const char *p, size_t len, bool spelled)
{
    const struct model *m = &t->model;
    struct err ignored;
    struct buf text = {0}, bytes = {0};
    uint32_t id = MODEL_NO_ID;
    if (set_padded(&text, p, len, &ignored) == 0 && set_padded(&bytes, p, len, &ignored) == 0) {
        size_t n = spelled ? spelling_get(m->spelling, bytes.p, text.p, len) : len;
        id = token_find(&m->index, m->token, text.p, len, false);
        if (id == MODEL_NO_ID && n != BYTE_LEVEL_NOT)
            id = token_find(&m->index, m->token, bytes.p, n, true);
        if (id == MODEL_NO_ID && !spelled && len == 1 && m->decoding.bytes)
            id = m->byte_id[text.p[0]];
    }
    buf_free(&text);
    buf_free(&bytes);
    return id == MODEL_NO_ID ? -1 : (int64_t)id;
}

int64_t bpe_id_of_bytes(const bpe_tokenizer *t, const char *bytes, size_t len)
{
    return find(t, bytes, len, false);
}

int64_t bpe_id_of_name(const bpe_tokenizer *t, const char *name, size_t len)
{
    return find(t, name, len, true);
}

const struct bpe_added *bpe_added_tokens(const bpe_tokenizer *t, size_t *n)
{
    *n = t->model.n_special;
    return t->added;
}

int64_t bpe_eos_id(const bpe_tokenizer *t)
{
    const struct model_special *s = model_eos(&t->model);
    return s ? (int64_t)s->id : -1;
}

int64_t bpe_pad_id(const bpe_tokenizer *t)
{
    const struct model_special *s = model_pad(&t->model);
    return s ? (int64_t)s->id : -1;
}

uint64_t bpe_fingerprint(const bpe_tokenizer *t)
{
    return model_fingerprint(&t->model);
}
