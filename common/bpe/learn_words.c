/* learn_words.c - see learn_words.h. */
#include "bpe/learn_words.h"

#include "sys/hash.h"

#include <stdlib.h>

int words_add(struct words *ws, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    if (__builtin_add_overflow(ws->total, count, &ws->total))
        return err_set(e, EX_DATAERR, "the counts of all pretokens add up to more than 2^64-1");
    if (len < 2)
        return 0;
    uint64_t slots = ws->n ? ws->slots : 1;
    if (len >= WORDS_MAX_SLOTS - slots)
        return err_set(
            e, EX_DATAERR,
            "too many distinct pretokens: their bytes, and one more for each, exceed %lu, the most that can be "
            "merged; leave out rare ones",
            (unsigned long)WORDS_MAX_SLOTS);
    if (array_grow(&ws->w, &ws->cap, ws->n + 1, sizeof *ws->w, "the pretokens", e))
        return -1;
    struct word w = {.count = count, .off = (uint32_t)ws->bytes.len, .len = (uint32_t)len};
    if (buf_put(&ws->bytes, p, len, e))
        return -1;
    ws->w[ws->n++] = w;
    ws->slots = slots + len + 1;
    ws->pairs += len - 1;
    return 0;
}

/* One stable pass by a digit of 11 bits, the greatest digit first. */
static void sort_pass(const struct word *from, struct word *to, size_t n, unsigned shift)
{
    size_t at[2048] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i].count >> shift & 2047]++;
    for (size_t d = 2048; d-- > 0;) {
        size_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i].count >> shift & 2047]++] = from[i];
}

int words_sort(struct words *ws, struct err *e)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < ws->n; i++)
        differ |= ws->w[i].count ^ ws->w[0].count;
    if (!differ)
        return 0;
    struct word *other = malloc(ws->n * sizeof *other);
    if (!other)
        return err_mem(e, "sorting the pretokens", ws->n * sizeof *other);
    for (unsigned shift = 0; shift < 64; shift += 11) {
        if (!(differ >> shift & 2047))
            continue;
        sort_pass(ws->w, other, ws->n, shift);
        struct word *t = ws->w;
        ws->w = other;
        other = t;
    }
    ws->cap = ws->n;
    free(other);
    return 0;
}

/* The bound: let T be the count of the n-th most frequent distinct word that qualifies. A word is complete when it is
 * one token; its string is then that of a token, and a merge makes one string. So before the k-th merge, k <= n, at
 * most n - 1 of the n words are complete. Another one is still two tokens or more, hence holds a pair; the pair occurs
 * at least as often as the word, T times or more, and it may be merged, as it lies inside a word that qualifies. This
 * holds whatever breaks ties. It needs distinct words (the same one added twice completes twice with one merge): their
 * hashes are counted; should two hashes collide, T is lower, and still a bound. */
int words_bound(const struct words *ws, uint64_t n, uint64_t max_len, uint64_t *bound, struct err *e)
{
    *bound = 1;
    if (n == 0 || n > ws->n)
        return 0;
    size_t cap = 16, seen = 0;
    while (cap < 2 * n)
        cap *= 2;
    uint64_t *table = calloc(cap, sizeof *table);
    if (!table)
        return err_mem(e, "the most frequent pretokens", cap * sizeof *table);
    for (size_t i = 0; i < ws->n && seen < n; i++) {
        const struct word *w = &ws->w[i];
        if (max_len && w->len > 2 && w->len >= max_len)
            continue;
        uint64_t h = hash_bytes(ws->bytes.p + w->off, w->len, hash_secret()) | 1;
        size_t at = (size_t)(h >> 1) & (cap - 1);
        while (table[at] && table[at] != h)
            at = (at + 1) & (cap - 1);
        if (!table[at] && ++seen == n)
            *bound = w->count;
        table[at] = h;
    }
    free(table);
    return 0;
}

void words_free(struct words *ws)
{
    buf_free(&ws->bytes);
    free(ws->w);
    *ws = (struct words){0};
}
