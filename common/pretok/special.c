/* special.c - see special.h. */
#include "pretok/special.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const special_flag_name[SPECIAL_N_FLAGS] = {"lstrip", "rstrip", "single_word", "normalized"};

static int by_bytes(const void *x, const void *y)
{
    const struct special_entry *a = x, *b = y;
    return str_compare((struct str){a->p, a->len}, (struct str){b->p, b->len});
}

/* Whether matches can be recognized without the text before them: see special_set.local. */
static bool is_local(const struct special_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct special_entry *t = &s->token[i];
        for (size_t at = 1; at < t->len; at++) {
            const unsigned char *rest = t->p + at;
            size_t len = t->len - at;
            bool more = false;
            if (special_at(s, rest, len, &more) || more)
                return false;
            bool may_be_letter = *rest >= 0x80 || (*rest | 0x20) - 'a' + 0u < 26u;
            if (rest[-1] == '\n' && may_be_letter)
                return false;
        }
    }
    return true;
}

static void note_first(struct special_set *s, const struct special_entry *t)
{
    for (size_t k = 0; k < SPECIAL_FIRST; k++) {
        if (k < t->len)
            s->at[t->p[k]] |= (unsigned char)(1U << k);
        else
            for (size_t b = 0; b < 256; b++)
                s->at[b] |= (unsigned char)(1U << k);
    }
}

/* False: none begins at p. A file of 800 tokens that begin with `<` is no reason to compare each `</p>` with all. */
static bool may_begin(const struct special_set *s, const unsigned char *p, size_t n)
{
    unsigned may = n > 0;
    for (size_t k = 0; k < SPECIAL_FIRST && k < n; k++)
        may &= (unsigned)s->at[p[k]] >> k;
    return may;
}

int special_init(struct special_set *s, const struct special_token *token, size_t n, struct err *e)
{
    *s = (struct special_set){.only_first = -1, .only_second = -1};
    s->token = malloc((n + 1) * sizeof *s->token);
    if (!s->token)
        return err_mem(e, "special tokens", (n + 1) * sizeof *s->token);
    for (size_t i = 0; i < n; i++)
        s->token[i] = (struct special_entry){token[i].text.p, token[i].text.len, i};
    qsort(s->token, n, sizeof *s->token, by_bytes);
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct special_entry *t = &s->token[i];
        s->first[t->p[0] + 1]++;
        note_first(s, t);
        if (s->token[i].len > s->max_len)
            s->max_len = s->token[i].len;
    }
    for (size_t b = 0; b < 256; b++)
        s->first[b + 1] += s->first[b];
    if (n && s->token[0].p[0] == s->token[n - 1].p[0])
        s->only_first = s->token[0].p[0];
    if (s->only_first >= 0 && s->token[0].len > 1) { /* one of a single byte would be the first */
        s->only_second = s->token[0].p[1];
        for (size_t i = 1; i < n; i++) {
            if (s->token[i].p[1] != s->only_second)
                s->only_second = -1;
        }
    }
    s->local = is_local(s);
    return 0;
}

void special_free(struct special_set *s)
{
    free(s->token);
    *s = (struct special_set){0};
}

/* Of token[from .. to), which are alike in their first k bytes and have more: the first whose byte k is not below b. */
static size_t lower_bound(const struct special_set *s, size_t from, size_t to, size_t k, unsigned b)
{
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (s->token[middle].p[k] < b)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The longest token that begins at p, or NULL. *more: a longer one may. */
static const struct special_entry *find(const struct special_set *s, const unsigned char *p, size_t n, bool *more)
{
    const struct special_entry *found = NULL;
    *more = false;
    if (!may_begin(s, p, n))
        return NULL;
    size_t from = s->first[p[0]], to = s->first[p[0] + 1];
    for (size_t k = 1; from < to; k++) { /* those that begin with p[0 .. k), that which is no longer first */
        if (s->token[from].len == k)
            found = &s->token[from];
        while (from < to && s->token[from].len == k) /* one may be there twice */
            from++;
        if (k == n) {
            *more = from < to;
            break;
        }
        from = lower_bound(s, from, to, k, p[k]);
        to = lower_bound(s, from, to, k, p[k] + 1U);
    }
    return found;
}

size_t special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more)
{
    const struct special_entry *t = find(s, p, n, more);
    return t ? t->len : 0;
}

/* The first place in p[from .. n) where a is followed by b, or by the end; n if there is none. In text full of `<` this
 * is ten times as fast as checking each one for `<|`; for English that was a tenth of the time of counting. */
static size_t find_pair(const unsigned char *p, size_t n, size_t from, unsigned char a, unsigned char b)
{
    typedef unsigned char vec __attribute__((vector_size(16)));
    enum { BLOCK = 4 * sizeof(vec) };
    const vec as = (vec){0} + a, bs = (vec){0} + b;
    while (from < n) {
        for (; n - from > BLOCK; from += BLOCK) {
            vec hits = {0}, x, y;
            uint64_t any[sizeof hits / 8];
            for (size_t i = 0; i < BLOCK; i += sizeof(vec)) {
                memcpy(&x, p + from + i, sizeof x);
                memcpy(&y, p + from + i + 1, sizeof y);
                hits |= (vec)(x == as) & (vec)(y == bs);
            }
            memcpy(any, &hits, sizeof hits);
            if (any[0] | any[1])
                break;
        }
        for (size_t stop = n - from > BLOCK ? from + BLOCK : n; from < stop; from++) {
            if (p[from] == a && (from + 1 == n || p[from + 1] == b))
                return from;
        }
    }
    return n;
}

/* The first place from `from` on where a special token may begin. */
static size_t next_candidate(const struct special_set *s, const unsigned char *p, size_t n, size_t from)
{
    if (s->only_second >= 0)
        return find_pair(p, n, from, (unsigned char)s->only_first, (unsigned char)s->only_second);
    if (s->only_first >= 0) {
        const unsigned char *hit = memchr(p + from, s->only_first, n - from);
        return hit ? (size_t)(hit - p) : n;
    }
    while (from < n && s->first[p[from]] == s->first[p[from] + 1])
        from++;
    return from;
}

enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, size_t from, bool final,
                              size_t *pos, size_t *len)
{
    bool more;
    if (s->n == 0)
        return SPECIAL_NONE;
    for (; (from = next_candidate(s, p, n, from)) < n; from++) {
        *pos = from;
        *len = special_at(s, p + from, n - from, &more);
        if (more && !final)
            return SPECIAL_MAYBE;
        if (*len)
            return SPECIAL_FOUND;
    }
    return SPECIAL_NONE;
}

size_t special_index(const struct special_set *s, const unsigned char *p, size_t len)
{
    bool more;
    return find(s, p, len, &more)->index;
}

size_t special_ending(const struct special_set *s, const unsigned char *p, size_t at)
{
    size_t best = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct special_entry *t = &s->token[i];
        if (t->len > best && t->len <= at && memcmp(p + at - t->len, t->p, t->len) == 0)
            best = t->len;
    }
    return best;
}

/* Where special tokens can overlap, an occurrence that ends at the place need not be a match: a match that begins
 * earlier may have taken its first bytes. So we go back to a place inside no occurrence, and thus inside no match, and
 * follow the matches from there. The caller promises that no match crosses p + n, so no text after it is needed. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more)
{
    bool longer;
    size_t from = n, pos, len, last = special_ending(s, p, n);
    *more = false;
    if (n < s->max_len && !begins) {
        *more = true;
        return 0;
    }
    if (last && !s->local) {
        for (size_t i = n; i-- > 0 && from - i < s->max_len + (from == n);) {
            size_t end = i + special_at(s, p + i, n - i, &longer);
            if (end > from || end == n)
                from = i;
        }
        if (from < s->max_len && !begins) {
            *more = true;
            return 0;
        }
        for (last = 0; special_next(s, p, n, from, true, &pos, &len) == SPECIAL_FOUND; from = pos + len)
            last = pos + len == n ? len : 0;
    }
    return last ? special_index(s, p + n - last, last) + 1 : 0;
}
