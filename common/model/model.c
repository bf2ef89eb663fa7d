/* model.c - see model.h. */
#include "model/model.h"

#include "base/sys/bytes.h"
#include "base/sys/hash.h"
#include "base/sys/huge.h"
#include "pretok/regex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

enum {
    FIRST_PIECE = 256 << 10, /* bytes; each further piece is twice as large, up to LAST_PIECE */
    LAST_PIECE = 2 << 20,    /* the size of a huge page */
};

struct model_arena {
    struct model_arena *before;
    size_t size, used, cap;
    unsigned char p[];
};

unsigned char *model_room(struct model *m, size_t n, struct err *e)
{
    struct model_arena *a = m->arena;
    if (!a || a->cap - a->used < n + MODEL_PAD) {
        size_t size = !a ? FIRST_PIECE : a->size < LAST_PIECE ? 2 * a->size : LAST_PIECE;
        if (n > size - sizeof *a - MODEL_PAD)
            size = n + sizeof *a + MODEL_PAD;
        if (n > SIZE_MAX / 2 || !(a = huge_zeroed(size))) {
            err_mem(e, "the tokens", n);
            return NULL;
        }
        *a = (struct model_arena){.before = m->arena, .size = size, .cap = size - sizeof *a};
        m->arena = a;
    }
    return a->p + a->used;
}

void model_keep(struct model *m, size_t kept)
{
    m->arena->used += kept;
    assert(m->arena->used + MODEL_PAD <= m->arena->cap);
}

void model_free(struct model *m)
{
    while (m->arena) {
        struct model_arena *before = m->arena->before;
        huge_free(m->arena, m->arena->size);
        m->arena = before;
    }
    token_index_free(&m->index);
    huge_free(m->token, m->token_bytes);
    huge_free(m->merge, m->merge_bytes);
    free(m->merge_count);
    free(m->special);
    free(m->regex);
    free(m->split);
    *m = (struct model){0};
}

/* ---- Lookup ---- */

int model_index(struct model *m, struct err *e)
{
    if (m->index.slots.n)
        return 0;
    if (token_index_grow(&m->index, m->n_ids, e))
        return -1;
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->p)
            continue;
        uint32_t hash = token_hash(&m->index, t->p, t->len, t->vocab);
        struct hash_slot *s = token_slot(&m->index, m->token, t->p, t->len, t->vocab, hash);
        if (!s->n1) /* the first of equal tokens counts */
            *s = (struct hash_slot){hash, id + 1};
    }
    return 0;
}

size_t model_n_tokens(const struct model *m)
{
    size_t n = 0;
    for (uint32_t id = 0; id < m->n_ids; id++)
        n += m->token[id].p != NULL;
    return n;
}

static int compare_id(const void *id, const void *special)
{
    uint32_t a = *(const uint32_t *)id, b = ((const struct model_special *)special)->id;
    return (a > b) - (a < b);
}

int model_check_bytes(const struct model *m, const unsigned char *p, size_t n, struct err *e)
{
    for (size_t i = 0; i < n && m->lacks_bytes; i++)
        if (m->byte_id[p[i]] == MODEL_NO_ID)
            return err_set(e, EX_DATAERR,
                           "the byte 0x%02X, which UTF-8 never contains, is not in the model's vocabulary; replace or "
                           "skip invalid UTF-8 (--invalid)",
                           p[i]);
    return 0;
}

const struct model_special *model_special(const struct model *m, uint32_t id)
{
    return m->n_special ? bsearch(&id, m->special, m->n_special, sizeof *m->special, compare_id) : NULL;
}

uint32_t model_find_whole(const struct model *m, const unsigned char *p, size_t n)
{
    uint32_t id = token_find(&m->index, m->token, p, n, false);
    const struct model_special *s = id == MODEL_NO_ID ? NULL : model_special(m, id);
    return s && s->whole ? id : MODEL_NO_ID;
}

struct str model_split(const struct model *m)
{
    for (size_t i = 0; i < m->n_regex; i++)
        if (m->split[i])
            return (struct str){m->split, m->n_regex};
    return (struct str){0};
}

const char *model_pattern(const struct model *m)
{
    const struct pattern *pattern = m->pattern ? pattern_find(str_of(m->pattern)) : NULL;
    if (!pattern && !model_split(m).len)
        pattern = pattern_by_regex(m->regex, m->n_regex, m->dialect);
    return pattern ? pattern->name : NULL;
}

const char *model_pattern_name(const struct model *m)
{
    const char *name = model_pattern(m);
    return name ? name : m->n_regex ? "regex" : "unknown";
}

int model_regexes(const struct model *m, enum pattern_dialect dialect, const struct str **regex, size_t *n,
                  struct err *e)
{
    const char *name = model_pattern(m);
    const struct pattern *pattern = name ? pattern_find(str_of(name)) : NULL;
    int rc = 0;
    *regex = m->regex;
    *n = m->n_regex;
    for (size_t i = 0; i < *n && !rc; i++)
        rc = regex_check((*regex)[i], 1U << dialect, *n > 1 ? i + 1 : 0, e);
    if (pattern && (rc || !*n)) {
        *regex = pattern->regex;
        *n = pattern->n_regex;
        rc = 0;
    }
    return rc;
}

/* ---- Special tokens with a role ---- */

/* The first of these names (ended by NULL) that is a special token; if there is none, the first that is another added
 * token. Special ones come first because Gemma's </s> is an HTML tag. */
static const struct model_special *find_usual(const struct model *m, const char *const *usual)
{
    const struct model_special *other = NULL;
    for (; *usual; usual++) {
        for (size_t i = 0; i < m->n_special; i++) {
            const struct model_special *s = &m->special[i];
            if (!str_equal((struct str){s->p, s->len}, str_of(*usual)))
                continue;
            if (s->special)
                return s;
            other = other ? other : s;
        }
    }
    return other;
}

/* The only special token, unless it is for padding. */
static const struct model_special *only_special(const struct model *m, const struct model_special *pad)
{
    const struct model_special *only = NULL;
    for (size_t i = 0; i < m->n_special; i++) {
        if (m->special[i].special && only)
            return NULL;
        only = m->special[i].special ? &m->special[i] : only;
    }
    return only != pad ? only : NULL;
}

/* DeepSeek's names have fullwidth bars, and U+2581 instead of spaces. */
#define BAR "\xEF\xBD\x9C"
#define BLOCK "\xE2\x96\x81"

/* The usual eos, or the only special token except for `pad`. */
static const struct model_special *find_eos(const struct model *m, const struct model_special *pad)
{
    static const char *const usual[] = {
        "<|endoftext|>", "<|end_of_text|>", "<" BAR "end" BLOCK "of" BLOCK "sentence" BAR ">", "</s>", "<eos>", NULL};
    const struct model_special *s = find_usual(m, usual);
    return s ? s : only_special(m, pad);
}

const struct model_special *model_assumed_pad(const struct model *m)
{
    static const char *const usual[] = {"<pad>",
                                        "<|pad|>",
                                        "[PAD]",
                                        "<PAD>",
                                        "<|padding|>",
                                        "<|finetune_right_pad_id|>",
                                        "<" BAR BLOCK "pad" BLOCK BAR ">",
                                        NULL};
    return find_usual(m, usual);
}

const struct model_special *model_pad(const struct model *m)
{
    return m->pad ? m->pad : model_assumed_pad(m);
}

const struct model_special *model_eos(const struct model *m)
{
    return m->eos ? m->eos : find_eos(m, model_pad(m));
}

const struct model_special *model_assumed_eos(const struct model *m)
{
    return find_eos(m, model_assumed_pad(m));
}

/* ---- The fingerprint ---- */

/* The hash covers a stream of varints and bytes, in blocks of a fixed size; the hash of one block is the seed for the
 * next. The stream: for each token its id, 2 * length (+ 1 if it is in the vocabulary), and its bytes; n_ids; the
 * number of merges that follow (none if results are in the order of their ids); for each merge the three ids. For a
 * model with superwords of whole pretokens, it ends with n_super; for a model of characters, with the spelling, whether
 * unknown characters become bytes, whether they fuse, and the token that they become. */
struct hasher {
    uint64_t hash;
    size_t n;
    unsigned char block[4096];
};

static void hash_put(struct hasher *h, const unsigned char *p, size_t n)
{
    while (n) {
        size_t part = n < sizeof h->block - h->n ? n : sizeof h->block - h->n;
        memcpy(h->block + h->n, p, part);
        h->n += part;
        p += part;
        n -= part;
        if (h->n == sizeof h->block) {
            h->hash = hash_bytes(h->block, h->n, h->hash);
            h->n = 0;
        }
    }
}

static void hash_numbers(struct hasher *h, const uint64_t *v, size_t n)
{
    unsigned char bytes[3 * VARINT_MAX];
    size_t len = 0;
    assert(n <= 3);
    for (size_t i = 0; i < n; i++)
        len += varint_put(bytes + len, v[i]);
    hash_put(h, bytes, len);
}

bool model_in_order_of_ids(const struct model *m)
{
    for (size_t k = 1; k < m->n_merges; k++)
        if (m->merge[k].result < m->merge[k - 1].result)
            return false;
    return true;
}

uint64_t model_fingerprint(const struct model *m)
{
    struct hasher h = {.n = 0};
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (!t->p)
            continue;
        hash_numbers(&h, (const uint64_t[]){id, 2 * (uint64_t)t->len + t->vocab}, 2);
        hash_put(&h, t->p, t->len);
    }
    size_t n = m->by_rank || model_in_order_of_ids(m) ? 0 : m->n_merges;
    hash_numbers(&h, (const uint64_t[]){m->n_ids, n}, 2);
    for (size_t k = 0; k < n; k++)
        hash_numbers(&h, (const uint64_t[]){m->merge[k].left, m->merge[k].right, m->merge[k].result}, 3);
    if (m->n_super)
        hash_numbers(&h, (const uint64_t[]){m->n_super}, 1);
    if (model_of_characters(m)) {
        const struct model_unknown *u = &m->unknown;
        hash_numbers(&h, (const uint64_t[]){m->spelling, u->bytes, u->bytes ? 0 : u->fuse}, 3);
        for (unsigned b = 0; u->bytes && b < 256; b++)
            hash_numbers(&h, (const uint64_t[]){m->byte_id[b]}, 1);
        hash_numbers(&h, (const uint64_t[]){u->bytes ? 0 : u->id}, 1);
    }
    return hash_bytes(h.block, h.n, h.hash);
}

/* ---- Decoding ---- */

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The byte that <0xNN> stands for, or -1. As in Hugging Face, + may be the first digit. */
static int byte_of(const struct model_token *t)
{
    if (t->len != 6 || memcmp(t->p, "<0x", 3) != 0 || t->p[5] != '>')
        return -1;
    int high = t->p[3] == '+' ? 0 : hex_digit(t->p[3]), low = hex_digit(t->p[4]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Appends n bytes of a key without U+2581. */
static int put_stripped(struct buf *out, const unsigned char *p, size_t n, struct err *e)
{
    if (buf_reserve(out, n, e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (n - i >= METASPACE_LEN && !memcmp(p + i, METASPACE, METASPACE_LEN))
            i += METASPACE_LEN - 1;
        else
            out->p[out->len++] = p[i];
    }
    return 0;
}

static int decode_key(const struct model_decoding *d, struct str key, bool first, struct buf *out, struct err *e)
{
    if (first && d->strip_token)
        return put_stripped(out, key.p, key.len, e);
    if (!d->spaces)
        return buf_put(out, key.p, key.len, e);
    if (buf_reserve(out, key.len, e))
        return -1;
    out->len += metaspace_replace(out->p + out->len, key.p, key.len);
    return 0;
}

int model_decode(const struct model *m, uint32_t id, bool first, struct buf *out, struct err *e)
{
    const struct model_token *t = &m->token[id];
    const int byte = m->decoding.bytes ? byte_of(t) : -1;
    if (byte >= 0)
        return buf_put_byte(out, (unsigned char)byte, e);
    if (!t->vocab || m->spelling != SPELLING_SPACES)
        return decode_key(&m->decoding, (struct str){t->p, t->len}, first, out, e);
    struct buf key = {0};
    int rc = spelling_put(m->spelling, &key, t->p, t->len, e) || decode_key(&m->decoding, buf_str(&key), first, out, e);
    buf_free(&key);
    return rc ? -1 : 0;
}

/* ---- Rules ---- */

int model_rules_pattern(struct rules *r, const struct model *m, const char *pattern, struct err *e)
{
    r->pattern = str_of(pattern ? pattern : "");
    r->prefix = m->prefix;
    r->normalizer = m->normalizer;
    if (!pattern)
        r->split = model_split(m);
    r->metaspace = m->metaspace;
    return rules_set_regex(r, m->regex, pattern ? 0 : m->n_regex, e);
}

const struct model_special *model_special_named(const struct model *m, struct str text)
{
    for (size_t i = 0; i < m->n_special; i++) {
        if (str_equal((struct str){m->special[i].p, m->special[i].len}, text))
            return &m->special[i];
    }
    return NULL;
}

unsigned model_special_flags(const struct model *m, struct str text)
{
    const struct model_special *s = model_special_named(m, text);
    return s ? s->flags : 0;
}

int model_rules_special(struct rules *r, const struct model *m, bool special_is_text, struct err *e)
{
    r->n_special = 0;
    r->special = calloc(m->n_special + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "special tokens", m->n_special * sizeof *r->special);
    for (size_t i = 0; i < m->n_special; i++)
        if (model_finds(&m->special[i], special_is_text))
            r->special[r->n_special++] =
                (struct special_token){{m->special[i].p, m->special[i].len}, m->special[i].flags};
    return 0;
}
