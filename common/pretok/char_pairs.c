/* char_pairs.c - see char_pairs.h. */
#include "pretok/char_pairs.h"

#include "unicode/uclass.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
    BITS_MIN = 12,
    BITS_PER_PAIR = 32, /* keeps false positives at about 1 in 32 or less */
};

static size_t n_bytes(const struct char_pairs *s)
{
    return ((size_t)1 << (64 - s->shift)) / 8;
}

int char_pairs_init(struct char_pairs *s, size_t n, struct err *e)
{
    unsigned bits = BITS_MIN;
    while ((size_t)1 << bits < n * BITS_PER_PAIR)
        bits++;
    *s = (struct char_pairs){.shift = 64 - bits};
    s->hashed = calloc(1, n_bytes(s));
    return s->hashed ? 0 : err_mem(e, "pairs of characters", n_bytes(s));
}

void char_pairs_free(struct char_pairs *s)
{
    free(s->hashed);
    free(s->known);
    *s = (struct char_pairs){0};
}

static inline uint64_t hash(const struct char_pairs *s, uint32_t a, uint32_t b)
{
    return ((uint64_t)a << 32 | b) * 0x9E3779B97F4A7C15 >> s->shift;
}

void char_pairs_put(struct char_pairs *s, uint32_t a, uint32_t b)
{
    const uint64_t bit = hash(s, a, b);
    if ((a | b) < 0x80)
        s->ascii[a][b / 64] |= (uint64_t)1 << b % 64;
    else
        s->hashed[bit / 64] |= (uint64_t)1 << bit % 64;
}

void char_pairs_put_all(struct char_pairs *s)
{
    memset(s->ascii, 0xFF, sizeof s->ascii);
    memset(s->hashed, 0xFF, n_bytes(s));
}

static inline bool is_cut(const struct char_pairs *s, uint32_t a, uint32_t b)
{
    if (b == ' ')
        return s->cuts & CUT_SPACES || (s->cuts & CUT_WORDS && a != ' ');
    return s->cuts & CUT_LINES && a == '\n' && uclass_of(b) == UCLASS_LETTER;
}

void char_pairs_cut(struct char_pairs *s, unsigned cuts)
{
    s->cuts = cuts;
    for (uint32_t a = 0; a < 0x80; a++)
        for (uint32_t b = 0; b < 0x80; b++)
            if (is_cut(s, a, b))
                s->ascii[a][b / 64] &= ~((uint64_t)1 << b % 64);
}

static inline bool is_known(const struct char_pairs *s, uint32_t c)
{
    return s->known[c / 64] >> c % 64 & 1;
}

void char_pairs_unknown(struct char_pairs *s, uint64_t *known)
{
    s->known = known;
    for (uint32_t a = 0; a < 0x80; a++)
        for (uint32_t b = 0; b < 0x80; b++)
            if (!is_known(s, a) && !is_known(s, b))
                char_pairs_put(s, a, b);
}

/* ---- Scanning ---- */

static inline bool are_pair(const struct char_pairs *s, uint32_t a, uint32_t b)
{
    const uint64_t bit = hash(s, a, b);
    const bool in_set = (a | b) < 0x80 ? s->ascii[a][b / 64] >> b % 64 & 1 : s->hashed[bit / 64] >> bit % 64 & 1;
    if (s->cuts && is_cut(s, a, b))
        return false;
    return in_set || (s->known && !is_known(s, a) && !is_known(s, b));
}

/* Writes the ends of pretokens in the ASCII text at *at, which follows the ASCII character *a; moves both. There is no
 * branch on whether to split, because it could not be predicted. */
static size_t scan_ascii(const struct char_pairs *s, const unsigned char *text, size_t len, size_t *at, uint32_t *a,
                         uint32_t *ends, size_t max)
{
    size_t n = 0, i = *at;
    uint32_t last = *a;
    while (i < len && n < max && text[i] < 0x80) {
        const unsigned char b = text[i];
        ends[n] = (uint32_t)i;
        n += ~(s->ascii[last][b >> 6] >> (b & 63)) & 1;
        last = b;
        i++;
    }
    *at = i;
    *a = last;
    return n;
}

size_t char_pairs_scan(const struct char_pairs *s, const unsigned char *text, size_t len, bool more, size_t *pos,
                       uint32_t *ends, size_t max)
{
    size_t i = *pos, n = 0, length;
    if (i == len || !max)
        return 0;
    uint32_t a = utf8_char(text + i, &length), b;
    for (i += length; i < len && n < max; i += length, a = b) {
        if (a < 0x80) {
            n += scan_ascii(s, text, len, &i, &a, ends + n, max - n);
            if (i == len || n == max)
                break;
        }
        b = utf8_char(text + i, &length);
        ends[n] = (uint32_t)i;
        n += !are_pair(s, a, b);
    }
    if (i == len && n < max && !more)
        ends[n++] = (uint32_t)len;
    if (n)
        *pos = ends[n - 1];
    return n;
}
