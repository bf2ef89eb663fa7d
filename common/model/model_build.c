/* model_build.c - see model_build.h.
 *
 * A vocabulary has about 100,000 tokens, so each must take little work. Memory access takes most of the time, so tokens
 * are put into the index, and looked up for merges, in batches whose slots and tokens are prefetched.
 */
#include "model/model_build.h"

#include "base/sys/hash.h"
#include "base/sys/huge.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST = 16 << 10, /* initial size of an array in bytes */
    MAX_GAPS = 1 << 24   /* how much the largest id may exceed the number of tokens */
};

/* ---- Memory ---- */

const unsigned char *build_copy(struct build *b, const void *p, size_t n)
{
    unsigned char *to = model_room(b->m, n + 1, b->e);
    if (!to)
        return NULL;
    if (n)
        memcpy(to, p, n);
    to[n] = '\0'; /* some copies are used as C strings */
    model_keep(b->m, n + 1);
    return to;
}

/* ---- Tokens ---- */

/* Grows *array (the address of a pointer), of *bytes bytes from base/sys/huge.h, to at least n bytes by doubling it;
 * the size of a new array is a power of two. New memory is zeroed. -1: out of memory, nothing is changed. */
static int grow(struct build *b, void *array, size_t *bytes, size_t n, const char *what)
{
    void *old, *new;
    while (*bytes < n) {
        size_t size = *bytes ? 2 * *bytes : SMALLEST;
        memcpy(&old, array, sizeof old);
        while (!old && size < n)
            size *= 2;
        new = old ? huge_double(old, *bytes) : huge_zeroed(size);
        if (!new)
            return err_mem(b->e, what, size);
        memcpy(array, &new, sizeof new);
        *bytes = size;
    }
    return 0;
}

/* Grows the array to token[0 .. n); new entries are unused. */
static int grow_tokens(struct build *b, size_t n)
{
    return grow(b, &b->m->token, &b->m->token_bytes, n * sizeof *b->m->token, "the tokens");
}

/* A token for messages, spelled as in the file. */
static const char *show(const struct build *b, char *to, size_t n, const unsigned char *p, size_t len, bool vocab)
{
    return build_show(to, n, p, len, vocab && b->m->spelling == SPELLING_BYTE_LEVEL);
}

static int insert(struct build *b, struct hash_slot fresh)
{
    const struct model_token *t = &b->m->token[fresh.n1 - 1];
    struct hash_slot *s = token_slot(&b->m->index, b->m->token, t->p, t->len, t->vocab, fresh.hash);
    char text[60];
    if (s->n1)
        return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "token \"%s\" occurs twice, with the ids %lu and %lu",
                      show(b, text, sizeof text, t->p, t->len, t->vocab), (unsigned long)s->n1 - 1,
                      (unsigned long)fresh.n1 - 1);
    *s = fresh;
    return 0;
}

int build_tokens_end(struct build *b)
{
    if (token_index_grow(&b->m->index, b->n_tokens, b->e))
        return -1;
    for (size_t i = 0; i < b->n_fresh; i++) {
        if (insert(b, b->fresh[i]))
            return -1;
    }
    b->n_fresh = 0;
    return 0;
}

/* Stores a token at its id. It can be found after build_tokens_end. */
static int put_token(struct build *b, struct model_token t, uint32_t id)
{
    b->m->token[id] = t;
    uint32_t hash = token_hash(&b->m->index, t.p, t.len, t.vocab);
    __builtin_prefetch(hash_index_first(&b->m->index.slots, hash), 1);
    b->fresh[b->n_fresh++] = (struct hash_slot){hash, id + 1};
    return b->n_fresh == BUILD_BATCH ? build_tokens_end(b) : 0;
}

int build_remove(struct build *b, uint32_t id, const unsigned char *p, size_t len)
{
    return put_token(b, (struct model_token){p, (uint32_t)len, false}, id);
}

int build_token(struct build *b, const unsigned char *p, size_t len, bool vocab, uint64_t id)
{
    char text[60];
    if (id >= INT32_MAX || id >= MAX_GAPS + 8 * (uint64_t)b->n_tokens)
        return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "token \"%s\" has the id %llu: %s",
                      show(b, text, sizeof text, p, len, vocab), (unsigned long long)id,
                      id >= INT32_MAX ? "more than 31 bits" : "far more than there are tokens");
    if (len >= INT32_MAX)
        return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "a token of %zu bytes is too long", len);
    if (id >= b->m->token_bytes / sizeof *b->m->token && grow_tokens(b, id + 1))
        return -1;
    if (b->m->token[id].p) {
        char other[60];
        return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "two tokens have the id %llu: \"%s\" and \"%s\"",
                      (unsigned long long)id,
                      show(b, other, sizeof other, b->m->token[id].p, b->m->token[id].len, b->m->token[id].vocab),
                      show(b, text, sizeof text, p, len, vocab));
    }
    b->n_tokens++;
    if (id >= b->m->n_ids)
        b->m->n_ids = (uint32_t)id + 1;
    return put_token(b, (struct model_token){p, (uint32_t)len, vocab}, (uint32_t)id);
}

/* ---- Merges ---- */

unsigned char *build_merge_room(struct build *b, size_t n)
{
    if (b->text.cap - b->text.len < n + BYTE_LEVEL_PAD && buf_reserve(&b->text, n + BYTE_LEVEL_PAD, b->e))
        return NULL;
    return b->text.p + b->text.len;
}

bool build_is_merged(const struct build *b, uint32_t id)
{
    return id < b->n_made && ((b->made[id / 64] | b->used[id / 64]) >> id % 64 & 1);
}

static inline void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static int no_token(struct build *b, size_t rank, const struct build_merge *w, const char *which, size_t at, size_t len)
{
    char left[60], right[60], it[60];
    const unsigned char *p = b->text.p + w->at;
    return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET,
                  "merge %zu, \"%s\" and \"%s\": the %s, \"%s\", is not in the vocabulary", rank,
                  show(b, left, sizeof left, p, w->left_len, true),
                  show(b, right, sizeof right, p + w->left_len, w->right_len, true), which,
                  show(b, it, sizeof it, p + at, len, true));
}

static int find_merge(struct build *b, const struct build_merge *w)
{
    struct model *m = b->m;
    const unsigned char *p = b->text.p + w->at;
    size_t rank = m->n_merges, len = (size_t)w->left_len + w->right_len;
    const struct token_index *x = &m->index;
    uint32_t left = token_slot(x, m->token, p, w->left_len, true, w->left_hash)->n1 - 1;
    if (left == MODEL_NO_ID)
        return no_token(b, rank, w, "left", 0, w->left_len);
    uint32_t right = token_slot(x, m->token, p + w->left_len, w->right_len, true, w->right_hash)->n1 - 1;
    if (right == MODEL_NO_ID)
        return no_token(b, rank, w, "right", w->left_len, w->right_len);
    /* The result of a merge is usually the next id. */
    uint32_t result = rank ? m->merge[rank - 1].result + 1 : 0;
    if (result >= m->n_ids || !m->token[result].p || !token_is(&m->token[result], p, len, true))
        result = model_find(m, p, len);
    if (result == MODEL_NO_ID)
        return no_token(b, rank, w, "result", 0, len);
    b->made_twice |= b->made[result / 64] >> result % 64 & 1;
    set_bit(b->made, result);
    set_bit(b->used, left);
    set_bit(b->used, right);
    m->merge[m->n_merges++] = (struct merge){left, right, result};
    return 0;
}

/* Prefetches the tokens that the merges most probably refer to. Their slots were prefetched earlier and are in cache
 * now. */
static void ask_for_tokens(const struct build *b)
{
    const struct hash_index *t = &b->m->index.slots;
    for (size_t i = 0; i < b->n_wait; i++) {
        uint32_t left = hash_index_first(t, b->wait[i].left_hash)->n1,
                 right = hash_index_first(t, b->wait[i].right_hash)->n1;
        __builtin_prefetch(&b->m->token[left ? left - 1 : 0]);
        __builtin_prefetch(&b->m->token[right ? right - 1 : 0]);
    }
    for (size_t i = 0; i < b->n_wait; i++) {
        uint32_t left = hash_index_first(t, b->wait[i].left_hash)->n1,
                 right = hash_index_first(t, b->wait[i].right_hash)->n1;
        __builtin_prefetch(b->m->token[left ? left - 1 : 0].p);
        __builtin_prefetch(b->m->token[right ? right - 1 : 0].p);
    }
}

static int find_merges(struct build *b)
{
    struct model *m = b->m;
    size_t max = m->n_merges + b->n_wait;
    if (!m->merge && max < b->n_tokens)
        max = b->n_tokens; /* there is about one merge per token */
    if (grow(b, &m->merge, &m->merge_bytes, max * sizeof *m->merge, "the merges"))
        return -1;
    if (!b->made) {
        b->n_made = b->m->n_ids;
        b->made = calloc(b->n_made / 64 + 1, sizeof *b->made);
        b->used = calloc(b->n_made / 64 + 1, sizeof *b->used);
        if (!b->made || !b->used)
            return err_mem(b->e, "the merges", b->n_made / 8);
    }
    if (b->n_wait <= BUILD_BATCH)
        ask_for_tokens(b);
    for (size_t i = 0; i < b->n_wait; i++) {
        if (find_merge(b, &b->wait[i]))
            return -1;
    }
    b->n_wait = 0;
    b->text.len = 0;
    return 0;
}

int build_merge(struct build *b, size_t left_len, size_t right_len)
{
    if (left_len >= INT32_MAX || right_len >= INT32_MAX)
        return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "merge %zu: a token is too long",
                      b->m->n_merges + b->n_wait);
    if (b->n_wait == b->wait_cap &&
        array_grow(&b->wait, &b->wait_cap, b->n_wait + 1, sizeof *b->wait, "the merges", b->e))
        return -1;
    struct build_merge *w = &b->wait[b->n_wait++];
    const unsigned char *p = b->text.p + b->text.len;
    *w = (struct build_merge){.at = b->text.len, .left_len = (uint32_t)left_len, .right_len = (uint32_t)right_len};
    const struct token_index *x = &b->m->index;
    w->left_hash = token_hash(x, p, left_len, true);
    w->right_hash = token_hash(x, p + left_len, right_len, true);
    __builtin_prefetch(hash_index_first(&x->slots, w->left_hash));
    __builtin_prefetch(hash_index_first(&x->slots, w->right_hash));
    b->text.len += left_len + right_len;
    return b->vocab_known && b->n_wait >= BUILD_BATCH ? find_merges(b) : 0;
}

/* Keeps only the last merge of each pair. */
static int drop_doubles(struct build *b)
{
    struct model *m = b->m;
    struct hash_index pairs = {0};
    uint64_t key = hash_secret();
    size_t n = m->n_merges, kept = n;
    if (hash_index_grow(&pairs, n, "the merges", b->e))
        return -1;
    for (size_t k = n; k-- > 0;) {
        const struct merge *g = &m->merge[k];
        uint32_t hash = (uint32_t)hash_bytes(g, 2 * sizeof g->left, key);
        struct hash_slot *s = hash_index_first(&pairs, hash);
        while (s->n1 && (m->merge[s->n1 - 1].left != g->left || m->merge[s->n1 - 1].right != g->right))
            s = hash_index_next(&pairs, s);
        if (s->n1)
            continue;
        m->merge[--kept] = *g;
        *s = (struct hash_slot){hash, (uint32_t)kept + 1};
    }
    hash_index_free(&pairs);
    m->n_merges = n - kept;
    memmove(m->merge, m->merge + kept, m->n_merges * sizeof *m->merge);
    return 0;
}

int build_merges_end(struct build *b)
{
    b->vocab_known = true;
    if (build_tokens_end(b) || find_merges(b) || (b->made_twice && drop_doubles(b)))
        return -1;
    return 0;
}

/* ---- The rest ---- */

int build_special(struct build *b, struct model_special s)
{
    struct model *m = b->m;
    if (array_grow(&m->special, &b->special_cap, m->n_special + 1, sizeof s, "the special tokens", b->e))
        return -1;
    m->special[m->n_special++] = s;
    m->has_whole = m->has_whole || s.whole;
    return 0;
}

int build_special_apart(struct build *b, const unsigned char *p, size_t len, uint64_t id, bool special)
{
    const unsigned char *copy = build_copy(b, p, len);
    if (!copy || build_token(b, copy, len, false, id))
        return -1;
    return build_special(
        b, (struct model_special){.p = copy, .len = (uint32_t)len, .id = (uint32_t)id, .special = special});
}

int build_split(struct build *b, struct str regex, unsigned split)
{
    struct model *m = b->m;
    if (array_grow(&m->regex, &b->regex_cap, m->n_regex + 1, sizeof *m->regex, "the regexes", b->e) ||
        array_grow(&m->split, &b->split_cap, m->n_regex + 1, sizeof *m->split, "the regexes", b->e))
        return -1;
    const unsigned char *copy = build_copy(b, regex.p, regex.len);
    if (!copy)
        return -1;
    m->split[m->n_regex] = (unsigned char)split;
    m->regex[m->n_regex++] = (struct str){copy, regex.len};
    return 0;
}

int build_regex(struct build *b, struct str regex)
{
    return build_split(b, regex, SPLIT_ISOLATED);
}

int build_prefix(struct build *b, struct str prefix)
{
    const unsigned char *copy = build_copy(b, prefix.p, prefix.len);
    if (!copy)
        return -1;
    b->m->prefix = (struct str){copy, prefix.len};
    return 0;
}

int build_pattern(struct build *b, const struct pattern *pattern)
{
    b->m->pattern = (const char *)build_copy(b, pattern->name, strlen(pattern->name));
    int rc = b->m->pattern ? 0 : -1;
    for (size_t i = 0; i < pattern->n_regex && rc == 0; i++)
        rc = build_regex(b, pattern->regex[i]);
    return rc;
}

const char *build_show(char *to, size_t n, const unsigned char *p, size_t len, bool byte_level)
{
    struct buf text = {0};
    struct err ignored;
    size_t max = len < n ? len : n, room = n - 4; /* for "..." */
    int rc = byte_level ? byte_level_put(&text, p, max, &ignored) : buf_put(&text, p, max, &ignored);
    size_t shown = rc ? 0 : text.len;
    bool cut = shown > room || max < len;
    if (shown > room)
        for (shown = room; shown && (text.p[shown] & 0xC0) == 0x80;)
            shown--;
    if (shown)
        memcpy(to, text.p, shown);
    memcpy(to + shown, cut ? "..." : "", cut ? 4 : 1);
    buf_free(&text);
    return to;
}

int build_refuse_flags(const struct model *m, const char *what, struct err *e)
{
    char show[60];
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        for (unsigned k = 0; k < SPECIAL_N_FLAGS; k++) {
            if (s->flags >> k & 1)
                return err_set(e, EX_USAGE,
                               "%s cannot express that the added token \"%s\" has \"%s\"; tokenizer.json can", what,
                               build_show(show, sizeof show, s->p, s->len, false), special_flag_name[k]);
        }
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct model_special *s = a, *t = b;
    return s->id != t->id ? (s->id > t->id) - (s->id < t->id)
                          : str_compare((struct str){s->p, s->len}, (struct str){t->p, t->len});
}

/* Sorts special tokens, and refuses two with the same id and, if `equal`, the same content. */
static int sort_special(struct build *b, bool equal)
{
    struct model *m = b->m;
    if (m->n_special)
        qsort(m->special, m->n_special, sizeof *m->special, by_id);
    for (size_t i = 1; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i], *t = s - 1;
        if (s->id == t->id && (!equal || str_equal((struct str){s->p, s->len}, (struct str){t->p, t->len})))
            return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "two added tokens have the id %lu",
                          (unsigned long)s->id);
    }
    return 0;
}

int build_special_end(struct build *b)
{
    return sort_special(b, false);
}

int build_special_end_unchecked(struct build *b)
{
    return sort_special(b, true);
}

int build_end(struct build *b)
{
    struct model *m = b->m;
    if (build_tokens_end(b))
        return -1;
    for (unsigned c = 0; c < 256 && !model_of_characters(m); c++) {
        unsigned char byte[1 + MODEL_PAD] = {(unsigned char)c};
        m->byte_id[c] = model_find(m, byte, 1);
        if (m->byte_id[c] == MODEL_NO_ID && utf8_never_contains(*byte)) {
            m->lacks_bytes = true;
        } else if (m->byte_id[c] == MODEL_NO_ID) {
            char show[8];
            return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET,
                          "the byte 0x%02X (\"%s\") is not in the vocabulary: not a byte-level BPE model, where all "
                          "bytes of UTF-8 are tokens",
                          c, build_show(show, sizeof show, byte, 1, true));
        }
    }
    return build_special_end(b);
}

int build_init(struct build *b, struct model *m, const char *name, size_t n_tokens, struct err *e)
{
    enum { AHEAD_MAX = 1 << 23 };
    *m = (struct model){0};
    *b = (struct build){.m = m, .name = name, .e = e};
    return token_index_grow(&m->index, n_tokens < AHEAD_MAX ? n_tokens : AHEAD_MAX, e) ||
                   grow_tokens(b, n_tokens < MAX_GAPS ? n_tokens + 1 : 1)
               ? -1
               : 0;
}

void build_free(struct build *b)
{
    free(b->wait);
    free(b->made);
    free(b->used);
    buf_free(&b->text);
}
