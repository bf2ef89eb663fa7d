/* nfc.c - see nfc.h. */
#include "unicode/nfc.h"

#include "base/sys/simd.h"
#include "unicode/nfc_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Hangul syllables (Unicode Standard, section 3.12): a leading consonant, a vowel, perhaps a trailing consonant. */
enum {
    SYLLABLES = 0xAC00,
    LEADING = 0x1100,
    VOWELS = 0x1161,
    TRAILING = 0x11A7, /* one before the first, because a syllable may have none */
    N_LEADING = 19,
    N_VOWELS = 21,
    N_TRAILING = 28,
    N_SYLLABLES = N_LEADING * N_VOWELS * N_TRAILING,
};

/* ---- Lookups ---- */

static struct nfc_kind kind_at(const unsigned char *p, uint32_t *c, size_t *len)
{
    *c = utf8_char(p, len);
    return nfc_kinds[nfc_kind_of(*c)];
}

/* The offset of the character that ends at p + at. */
static size_t before(const unsigned char *p, size_t at)
{
    do
        at--;
    while (at > 0 && (p[at] & 0xC0) == 0x80);
    return at;
}

/* The decomposition of a character that has one. */
static struct nfc_pair decompose(uint32_t c)
{
    uint32_t syllable = c - SYLLABLES;
    if (syllable < N_SYLLABLES) {
        uint32_t trailing = syllable % N_TRAILING, vowel = syllable / N_TRAILING;
        return trailing ? (struct nfc_pair){c, c - trailing, TRAILING + trailing}
                        : (struct nfc_pair){c, LEADING + vowel / N_VOWELS, VOWELS + vowel % N_VOWELS};
    }
    size_t low = 0, high = nfc_n_pairs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (nfc_pairs[middle].c <= c)
            low = middle;
        else
            high = middle;
    }
    return nfc_pairs[low];
}

/* The character that two compose to; 0: none. */
static uint32_t compose(uint32_t first, uint32_t second)
{
    if (first - LEADING < N_LEADING && second - VOWELS < N_VOWELS)
        return SYLLABLES + ((first - LEADING) * N_VOWELS + (second - VOWELS)) * N_TRAILING;
    if (first - SYLLABLES < N_SYLLABLES && (first - SYLLABLES) % N_TRAILING == 0 &&
        second - TRAILING - 1 < N_TRAILING - 1)
        return first + (second - TRAILING);
    size_t low = 0, high = nfc_n_compositions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct nfc_pair *pair = &nfc_pairs[nfc_compositions[middle]];
        if (pair->first == first && pair->second == second)
            return pair->c;
        if (pair->first < first || (pair->first == first && pair->second < second))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* ---- The check ---- */

size_t nfc_skip_plain(const unsigned char *p, size_t at, size_t n)
{
    for (; at < n; at++) {
        if (p[at] >= 0xCC && nfc_may_change(p[at], p[at + 1]) && !nfc_passes(p + at))
            break;
    }
    return at;
}

/* nfc_skip_plain at the current SIMD level. */
static size_t skip(const unsigned char *p, size_t at, size_t n)
{
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_SSE2:
        at = nfc_skip_sse2(p, at, n);
        break;
    case SIMD_AVX2:
    case SIMD_AVX512:
        at = nfc_skip_avx2(p, at, n);
        break;
#endif
    default:
        break;
    }
    return nfc_skip_plain(p, at, n);
}

/* Checks the characters at *at, up to the next border; the character before them, if it matters, begins at `from`.
 * True: they are in normal form after that character, and *at is set to the border.
 *
 * They are in normal form if their classes are in order and none composes with the starter before it. A mark can
 * compose with that starter unless a mark of the same class is between them; for a mark of class 0, nothing may be
 * between them. If a starter has a decomposition, marks may be sorted into it; that case is left to nfc_put. (Of the
 * characters that attach, only those with NFC_NO have decompositions.) */
static bool check(const unsigned char *p, size_t from, size_t *at, size_t n)
{
    uint32_t starter = 0, c;
    unsigned flags = 0, last = 0;
    for (size_t i = from, len; i < n; i += len) {
        struct nfc_kind k = kind_at(p + i, &c, &len);
        if (i >= *at && !(k.flags & (NFC_NO | NFC_ATTACHES))) {
            *at = i;
            return true;
        }
        if (k.flags & NFC_NO || (k.ccc && k.ccc < last))
            return false;
        if (k.flags & NFC_SECOND && flags & (NFC_FIRST | NFC_DECOMPOSES)) {
            bool reaches = last == 0 || last < k.ccc;
            if (flags & NFC_DECOMPOSES || (reaches && compose(starter, c)))
                return false;
        }
        last = k.ccc;
        if (!k.ccc) {
            starter = c;
            flags = k.flags;
        }
    }
    *at = n;
    return true;
}

size_t nfc_checked_len(const unsigned char *p, size_t n)
{
    for (size_t at = 0; (at = skip(p, at, n)) < n;) {
        uint32_t c;
        size_t len, from = at;
        if (at > 0 && kind_at(p + at, &c, &len).flags & NFC_ATTACHES)
            from = before(p, at);
        if (!check(p, from, &at, n))
            return from;
    }
    return n;
}

size_t nfc_settled_len(const unsigned char *p, size_t n)
{
    uint32_t c;
    size_t len;
    while (n > 0) {
        n = before(p, n);
        if (!(kind_at(p + n, &c, &len).flags & NFC_ATTACHES))
            return n;
    }
    return 0;
}

/* ---- Normalizing a part ---- */

/* A character in the decomposition of a part, and its class. */
struct unit {
    uint32_t c, ccc;
};

struct units {
    struct unit *at; /* owned */
    size_t n, cap;
    struct unit *spare; /* for sorting; owned */
    size_t spare_cap;
};

static int put_decomposed(struct units *u, uint32_t c, struct err *e)
{
    uint32_t after[4]; /* no decomposition has more steps */
    size_t n = 0;
    for (;;) {
        struct nfc_kind k = nfc_kinds[nfc_kind_of(c)];
        if (k.flags & NFC_DECOMPOSES) {
            struct nfc_pair pair = decompose(c);
            c = pair.first;
            if (pair.second)
                after[n++] = pair.second;
            continue;
        }
        if (array_grow(&u->at, &u->cap, u->n + 1, sizeof *u->at, "text to normalize", e))
            return -1;
        u->at[u->n++] = (struct unit){c, k.ccc};
        if (n == 0)
            return 0;
        c = after[--n];
    }
}

/* Sorts by class; the sort is stable. */
static void sort_few(struct unit *marks, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct unit mark = marks[i];
        size_t k = i;
        for (; k > 0 && marks[k - 1].ccc > mark.ccc; k--)
            marks[k] = marks[k - 1];
        marks[k] = mark;
    }
}

/* The same as a counting sort, so that the time for a very long sequence of marks is linear. */
static int sort_many(struct units *u, struct unit *marks, size_t n, struct err *e)
{
    size_t place[257] = {0};
    if (array_grow(&u->spare, &u->spare_cap, n, sizeof *u->spare, "text to normalize", e))
        return -1;
    for (size_t i = 0; i < n; i++)
        place[marks[i].ccc + 1]++;
    for (size_t ccc = 1; ccc < 256; ccc++)
        place[ccc] += place[ccc - 1];
    for (size_t i = 0; i < n; i++)
        u->spare[place[marks[i].ccc]++] = marks[i];
    memcpy(marks, u->spare, n * sizeof *marks);
    return 0;
}

static int sort_units(struct units *u, struct err *e)
{
    enum { FEW = 16 };
    for (size_t i = 0, from; i < u->n; i++) {
        for (from = i; i < u->n && u->at[i].ccc; i++)
            ;
        if (i - from <= FEW)
            sort_few(u->at + from, i - from);
        else if (sort_many(u, u->at + from, i - from, e))
            return -1;
    }
    return 0;
}

static void compose_units(struct units *u)
{
    size_t n = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < u->n; i++) {
        struct unit unit = u->at[i];
        bool reaches = starter != SIZE_MAX && (n == starter + 1 || u->at[n - 1].ccc < unit.ccc);
        uint32_t both = reaches ? compose(u->at[starter].c, unit.c) : 0;
        if (both) {
            u->at[starter].c = both;
            continue;
        }
        if (!unit.ccc)
            starter = n;
        u->at[n++] = unit;
    }
    u->n = n;
}

/* The length of the part at the start of p[0 .. n): up to the next border. */
static size_t part_len(const unsigned char *p, size_t n)
{
    uint32_t c;
    size_t at, len;
    kind_at(p, &c, &at);
    while (at < n && kind_at(p + at, &c, &len).flags & NFC_ATTACHES)
        at += len;
    return at;
}

static int put_part(struct buf *out, struct units *u, const unsigned char *p, size_t n, struct err *e)
{
    u->n = 0;
    for (size_t at = 0, len; at < n; at += len) {
        if (put_decomposed(u, utf8_char(p + at, &len), e))
            return -1;
    }
    if (sort_units(u, e))
        return -1;
    compose_units(u);
    if (buf_reserve(out, 4 * u->n, e))
        return -1;
    for (size_t i = 0; i < u->n; i++)
        out->len += utf8_put(out->p + out->len, u->at[i].c);
    return 0;
}

/* Appends the prefix of p that is in normal form: as many characters as fit in `room` bytes. */
static ptrdiff_t put_checked(struct buf *out, const unsigned char *p, size_t n, size_t room, struct err *e)
{
    enum { AHEAD = 256 };
    size_t near = n, len;
    if (n > AHEAD && room < n - AHEAD) /* checks no more than is needed */
        for (near = room + AHEAD; (p[near] & 0xC0) == 0x80; near--)
            ;
    len = nfc_checked_len(p, near);
    if (len == near && near < n)
        len = nfc_settled_len(p, near);
    if (len > room) {
        for (len = room; len > 0 && (p[len] & 0xC0) == 0x80; len--)
            ;
    }
    return buf_put(out, p, len, e) ? -1 : (ptrdiff_t)len;
}

ptrdiff_t nfc_put(struct buf *out, const unsigned char *p, size_t n, size_t max, struct err *e)
{
    struct units u = {0};
    size_t start = out->len, at = 0;
    ptrdiff_t same = 0;
    while (at < n && out->len - start < max) {
        same = put_checked(out, p + at, n - at, max - (out->len - start), e);
        if (same < 0)
            break;
        at += (size_t)same;
        size_t before_part = out->len, len = at < n ? part_len(p + at, n - at) : 0;
        if (len && put_part(out, &u, p + at, len, e)) {
            same = -1;
            break;
        }
        if (out->len - start > max) {
            out->len = before_part;
            break;
        }
        at += len;
    }
    free(u.at);
    free(u.spare);
    return same < 0 ? -1 : (ptrdiff_t)at;
}
