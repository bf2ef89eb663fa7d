/* special.c - see special.h. */
#include "pretok/special.h"

#include "base/sys/simd.h"
#include "unicode/uclass.h"
#include "unicode/ugc.h"
#include "unicode/utf8.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

const char *const special_flag_name[SPECIAL_N_FLAGS] = {"lstrip", "rstrip", "single_word", "normalized", "inside"};

/* ---- The characters beside a match ---- */

enum {
    NO_CHAR = -1,  /* the text begins or ends here, or has invalid UTF-8 */
    UNDECIDED = -2 /* more text decides */
};

/* The character at p + at, and its length. */
static int32_t char_at(const unsigned char *p, size_t n, size_t at, bool final, size_t *len)
{
    bool cut = false;
    *len = 1;
    if (at == n)
        return final ? NO_CHAR : UNDECIDED;
    if (p[at] < 0x80)
        return p[at];
    if (utf8_plain_valid_len(p + at, n - at < 4 ? n - at : utf8_char_len(p[at]), &cut) == 0)
        return cut && !final && n - at < utf8_char_len(p[at]) ? UNDECIDED : NO_CHAR;
    return (int32_t)utf8_char(p + at, len);
}

/* The character that ends at p + at, and its length. */
static int32_t char_before(const unsigned char *p, size_t at, size_t *len)
{
    bool cut;
    *len = 1;
    if (at == 0)
        return NO_CHAR;
    while (*len < 4 && *len < at && (p[at - *len] & 0xC0) == 0x80)
        ++*len;
    if (utf8_plain_valid_len(p + at - *len, *len, &cut) == *len)
        return (int32_t)utf8_char(p + at - *len, len);
    *len = 1;
    return NO_CHAR;
}

static bool is_space(int32_t c)
{
    return c >= 0 && uclass_of((uint32_t)c) == UCLASS_SPACE;
}

static bool is_word(int32_t c)
{
    static const int32_t circled[][2] = {{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    static const char category[][3] = {"L", "M", "Nd", "Nl", "Pc"}; /* with the circled letters, all of Alphabetic */
    uint32_t mask = 0;
    if (c < 0x80)
        return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    for (size_t i = 0; i < sizeof category / sizeof *category; i++)
        mask |= ugc_mask(category[i], strlen(category[i]));
    for (size_t i = 0; i < sizeof circled / sizeof *circled; i++) {
        if (circled[i][0] <= c && c <= circled[i][1])
            return true;
    }
    return mask >> ugc_of((uint32_t)c) & 1 || c == 0x200C || c == 0x200D;
}

/* The start of the white space that ends at p + at, but not before `from`. */
static size_t space_before(const unsigned char *p, size_t from, size_t at)
{
    size_t len;
    while (at > from && is_space(char_before(p + from, at - from, &len)))
        at -= len;
    return at;
}

bool special_begins_with_space(struct str token)
{
    size_t len;
    return is_space(char_at(token.p, token.len, 0, true, &len));
}

bool special_ends_with_space(struct str token)
{
    size_t len;
    return is_space(char_before(token.p, token.len, &len));
}

bool special_has_word_edge(struct str token)
{
    size_t len;
    return is_word(char_at(token.p, token.len, 0, true, &len)) || is_word(char_before(token.p, token.len, &len));
}

/* ---- The set ---- */

enum { FILTER_LEN = 8, GRAM = 5, STRIDE_MAX = 4 };

static int by_bytes(const void *x, const void *y)
{
    const struct special_entry *a = x, *b = y;
    int c = str_compare((struct str){a->p, a->len}, (struct str){b->p, b->len});
    return c ? c : (a->index > b->index) - (a->index < b->index);
}

/* Whether a letter may begin with this byte. */
static bool may_be_letter(unsigned char b)
{
    return b >= 0x80 || (b | 0x20) - 'a' + 0u < 26u;
}

/* Whether a letter may follow a 0x0A at byte `at` of a token. */
static bool is_line_start(const struct special_entry *t, size_t at)
{
    return t->p[at - 1] == '\n' && may_be_letter(t->p[at]);
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
            if (is_line_start(t, at))
                return false;
        }
    }
    return true;
}

static uint64_t eight_bytes(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return le64toh(w);
}

/* Hashes as many of the bytes at p as every token with this first byte has, up to eight. Returns the index of a word of
 * the filter, and sets *bits to the bits that a token with these bytes has in that word. */
static inline size_t filter_word(const struct special_set *s, const unsigned char *p, uint64_t *bits)
{
    uint64_t h = (eight_bytes(p) & s->mask[*p]) * 0x9E3779B97F4A7C15U;
    *bits = (uint64_t)1 << (h >> 40 & 63) | (uint64_t)1 << (h >> 34 & 63);
    return (size_t)(h >> s->filter_shift);
}

/* False: no token begins at p, which has at least FILTER_LEN bytes. */
static inline bool may_begin(const struct special_set *s, const unsigned char *p)
{
    uint64_t bits;
    size_t word = filter_word(s, p, &bits);
    return (s->filter[word] & bits) == bits;
}

/* Makes the filter. A word of 64 bits has the bits of at most two tokens, on average. Text unlike any token passes at
 * one in hundreds of positions. */
static int set_filter(struct special_set *s, struct err *e)
{
    unsigned log2 = 4;
    while (log2 < 13 && (size_t)2 << log2 < s->n)
        log2++;
    s->filter_shift = 64 - log2;
    s->filter = calloc((size_t)1 << log2, sizeof *s->filter);
    if (!s->filter)
        return err_mem(e, "special tokens", sizeof *s->filter << log2);
    for (size_t i = 0; i < s->n; i++) {
        const struct special_entry *t = &s->token[i];
        uint64_t mask = t->len < FILTER_LEN ? ((uint64_t)1 << 8 * t->len) - 1 : UINT64_MAX;
        s->mask[*t->p] = s->mask[*t->p] ? s->mask[*t->p] & mask : mask;
    }
    for (size_t b = 0; b < 256; b++) /* no token begins with b: hash all bytes, so that few texts pass */
        s->mask[b] = s->mask[b] ? s->mask[b] : UINT64_MAX;
    for (size_t i = 0; i < s->n; i++) {
        unsigned char start[FILTER_LEN] = {0};
        uint64_t bits;
        memcpy(start, s->token[i].p, s->token[i].len < FILTER_LEN ? s->token[i].len : FILTER_LEN);
        size_t word = filter_word(s, start, &bits);
        s->filter[word] |= bits;
    }
    return 0;
}

/* The same for the GRAM bytes at p, which may be any part of a token; eight bytes at p are read. */
static inline size_t gram_word(const struct special_set *s, const unsigned char *p, uint64_t *bits)
{
    uint64_t h = (eight_bytes(p) << (64 - 8 * GRAM)) * 0x9E3779B97F4A7C15U;
    *bits = (uint64_t)1 << (h >> 40 & 63) | (uint64_t)1 << (h >> 34 & 63);
    return (size_t)(h >> s->filter_shift);
}

/* A token of at least stride + GRAM - 1 bytes that begins at one of `stride` positions contains the GRAM bytes at the
 * last of these positions. */
static int set_grams(struct special_set *s, struct err *e)
{
    s->stride = s->min_len < GRAM ? 1 : s->min_len - GRAM + 1 < STRIDE_MAX ? s->min_len - GRAM + 1 : STRIDE_MAX;
    s->grams = calloc((size_t)1 << (64 - s->filter_shift), sizeof *s->grams);
    if (!s->grams)
        return err_mem(e, "special tokens", sizeof *s->grams << (64 - s->filter_shift));
    for (size_t i = 0; i < s->n && s->stride > 1; i++) {
        for (size_t at = 0; at < s->stride; at++) {
            unsigned char gram[8] = {0};
            uint64_t bits;
            memcpy(gram, s->token[i].p + at, GRAM);
            size_t word = gram_word(s, gram, &bits);
            s->grams[word] |= bits;
        }
    }
    return 0;
}

static void set_classes(struct special_set *s)
{
    struct special_classes *c = &s->classes;
    size_t n = s->min_len < FILTER_LEN ? s->min_len : FILTER_LEN;
    memset(c, 0xFF >> n, sizeof *c);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < n; k++) {
            unsigned char b = s->token[i].p[k], bit = (unsigned char)(0x80 >> k);
            c->low[b & 0x0F] |= bit;
            c->high[b >> 4] |= bit;
        }
    }
}

/* Makes the list sorted by last bytes. */
static int set_ending(struct special_set *s, struct err *e)
{
    size_t next[256];
    s->ending = malloc((s->n + 1) * sizeof *s->ending);
    if (!s->ending)
        return err_mem(e, "special tokens", s->n * sizeof *s->ending);
    for (size_t i = 0; i < s->n; i++)
        s->last[s->token[i].p[s->token[i].len - 1] + 1]++;
    for (size_t b = 0; b < 256; b++) {
        s->last[b + 1] += s->last[b];
        next[b] = s->last[b];
    }
    for (size_t i = 0; i < s->n; i++)
        s->ending[next[s->token[i].p[s->token[i].len - 1]]++] = &s->token[i];
    return 0;
}

static void set_only(struct special_set *s)
{
    if (s->n && s->token[0].p[0] == s->token[s->n - 1].p[0])
        s->only_first = s->token[0].p[0];
    if (s->only_first >= 0 && s->token[0].len > 1) { /* a token of one byte would be sorted first */
        s->only_second = s->token[0].p[1];
        for (size_t i = 1; i < s->n; i++) {
            if (s->token[i].p[1] != s->only_second)
                s->only_second = -1;
        }
    }
}

/* Derives from the flags what searching and cutting need. */
static void set_flags(struct special_set *s)
{
    size_t len;
    for (size_t i = 0; i < s->n; i++) {
        s->flags |= s->token[i].flags;
        s->space_first = s->space_first || special_begins_with_space((struct str){s->token[i].p, s->token[i].len});
    }
    for (size_t i = 0; i < s->n; i++) {
        struct special_entry *t = &s->token[i];
        bool word_last = s->flags & SPECIAL_SINGLE_WORD && is_word(char_before(t->p, t->len, &len));
        t->ends_piece = !(t->flags & SPECIAL_SINGLE_WORD) && !word_last;
        for (size_t at = 1; at < t->len && t->flags & SPECIAL_SINGLE_WORD; at++)
            s->hides_lines = s->hides_lines || is_line_start(t, at);
    }
    s->before = s->max_len + 1 + (s->flags & SPECIAL_RSTRIP ? SPECIAL_SPACE + 4 : 0);
    s->after = s->max_len + 4;
}

/* Makes a set of those tokens whose flag SPECIAL_NORMALIZED is as in `normalized`. */
static int init(struct special_set *s, const struct special_token *token, size_t n, unsigned normalized, struct err *e)
{
    *s = (struct special_set){.only_first = -1, .only_second = -1};
    s->token = malloc((n + 1) * sizeof *s->token);
    if (!s->token)
        return err_mem(e, "special tokens", (n + 1) * sizeof *s->token);
    for (size_t i = 0; i < n; i++) {
        if ((token[i].flags & SPECIAL_NORMALIZED) == normalized)
            s->token[s->n++] = (struct special_entry){token[i].text.p, token[i].text.len, i, token[i].flags, false};
    }
    n = s->n;
    qsort(s->token, n, sizeof *s->token, by_bytes);
    for (size_t i = 0; i < n; i++) {
        s->first[s->token[i].p[0] + 1]++;
        s->max_len = s->token[i].len > s->max_len ? s->token[i].len : s->max_len;
        s->min_len = s->token[i].len < s->min_len || i == 0 ? s->token[i].len : s->min_len;
    }
    for (size_t b = 0; b < 256; b++)
        s->first[b + 1] += s->first[b];
    if (set_filter(s, e) || set_grams(s, e) || set_ending(s, e)) {
        special_free(s);
        return -1;
    }
    set_only(s);
    set_classes(s);
    set_flags(s);
    s->local = is_local(s);
    return 0;
}

int special_init(struct special_set *s, const struct special_token *token, size_t n, struct err *e)
{
    return init(s, token, n, 0, e);
}

int special_init_normalized(struct special_set *s, const struct special_token *token, size_t n, struct err *e)
{
    return init(s, token, n, SPECIAL_NORMALIZED, e);
}

void special_free(struct special_set *s)
{
    free(s->token);
    free(s->ending);
    free(s->filter);
    free(s->grams);
    *s = (struct special_set){0};
}

/* ---- Occurrences ---- */

/* The first of token[from .. to) whose byte k is not below b. All of these have the same first k bytes, and are
 * longer. */
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

const struct special_entry *special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more)
{
    const struct special_entry *found = NULL;
    *more = false;
    if (n == 0 || (n >= FILTER_LEN && !may_begin(s, p)))
        return NULL;
    size_t from = s->first[p[0]], to = s->first[p[0] + 1];
    for (size_t k = 1; from < to; k++) { /* token[from .. to) begin with p[0 .. k), the shortest first */
        if (s->token[from].len == k)
            found = &s->token[from];
        while (from < to && s->token[from].len == k) /* the caller may have passed it twice */
            from++;
        if (k == n) {
            *more = from < to;
            break;
        }
        if (from < to && s->token[from].p[k] < p[k])
            from = s->token[to - 1].p[k] < p[k] ? to : lower_bound(s, from, to, k, p[k]);
        if (from < to && s->token[to - 1].p[k] > p[k])
            to = lower_bound(s, from, to, k, p[k] + 1U);
    }
    return found;
}

/* The longest token that ends at p + at (p[0 .. at) is searched), or NULL. */
static const struct special_entry *find_ending(const struct special_set *s, const unsigned char *p, size_t at)
{
    const struct special_entry *best = NULL;
    if (at == 0)
        return NULL;
    for (size_t i = s->last[p[at - 1]]; i < s->last[p[at - 1] + 1]; i++) {
        const struct special_entry *t = s->ending[i];
        if (t->len <= at && (!best || t->len > best->len) && memcmp(p + at - t->len, t->p, t->len) == 0)
            best = t;
    }
    return best;
}

/* The first position in p[from .. n) where a is followed by b, or by the end; n if there is none. In text full of `<`
 * this is ten times as fast as checking each `<` for `<|`; in English, those checks took a tenth of the time of
 * counting. */
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

/* Whether a token may begin at one of the `stride` positions from *at on; moves *at there. */
static inline bool may_begin_in_stride(const struct special_set *s, const unsigned char *p, size_t *at)
{
    const size_t end = *at + s->stride;
    uint64_t bits;
    if (s->stride == 1)
        return may_begin(s, p + *at);
    size_t word = gram_word(s, p + end - 1, &bits);
    if ((s->grams[word] & bits) != bits)
        return false;
    while (*at < end && !may_begin(s, p + *at))
        ++*at;
    return *at < end;
}

/* Skips positions where no token begins, several at a time. */
static size_t stride_over(const struct special_set *s, const unsigned char *p, size_t n, size_t from)
{
    for (size_t at; n - from >= s->stride + FILTER_LEN; from += s->stride) {
        at = from;
        if (may_begin_in_stride(s, p, &at))
            return at;
    }
    return from;
}

/* Skips blocks where no token begins: the classes of bytes show where one may, and hashes are looked up only there.
 * Without AVX2, nothing is skipped. */
static size_t skip_blocks(const struct special_set *s, const unsigned char *p, size_t n, size_t from)
{
#ifdef __x86_64__
    const size_t after = STRIDE_MAX + FILTER_LEN; /* bytes that are read after a block */
    const uint64_t together = ((uint64_t)1 << s->stride) - 1;
    uint64_t places;
    if (simd_level() < SIMD_AVX2 || n - from < after)
        return from;
    for (;; from += SPECIAL_BLOCK) {
        from = special_skip_avx2(&s->classes, p, from, n - after, &places);
        if (!places)
            return from;
        do {
            unsigned bit = (unsigned)__builtin_ctzll(places);
            size_t at = from + bit;
            if (may_begin_in_stride(s, p, &at))
                return at;
            places &= s->stride == 1 ? places - 1 : ~(together << bit);
        } while (places);
    }
#else
    (void)s, (void)p, (void)n;
    return from;
#endif
}

/* The first position from `from` on where a special token may begin. */
static size_t next_candidate(const struct special_set *s, const unsigned char *p, size_t n, size_t from)
{
    if (s->only_second >= 0)
        return find_pair(p, n, from, (unsigned char)s->only_first, (unsigned char)s->only_second);
    from = skip_blocks(s, p, n, from);
    if (s->only_first >= 0) {
        const unsigned char *hit = memchr(p + from, s->only_first, n - from);
        return hit ? (size_t)(hit - p) : n;
    }
    if (s->stride > 1)
        from = stride_over(s, p, n, from);
    while (n - from >= FILTER_LEN && !may_begin(s, p + from))
        from++;
    while (n - from < FILTER_LEN && from < n && s->first[p[from]] == s->first[p[from] + 1])
        from++;
    return from;
}

/* ---- Matches ---- */

/* Finds the next occurrence from *from on, ignoring flags, and moves *from there. */
static enum special_hit next_occurrence(const struct special_set *s, const unsigned char *p, size_t n, bool final,
                                        size_t *from, const struct special_entry **found)
{
    bool more;
    for (; (*from = next_candidate(s, p, n, *from)) < n; ++*from) {
        *found = special_at(s, p + *from, n - *from, &more);
        if (more && !final)
            return SPECIAL_MAYBE;
        if (*found)
            return SPECIAL_FOUND;
    }
    return SPECIAL_NONE;
}

/* Whether an occurrence counts: SPECIAL_FOUND, or SPECIAL_NONE if it must be a single word and is not. */
static enum special_hit check_word(const struct special_entry *t, const unsigned char *p, size_t n, enum window_end end,
                                   size_t begin, bool after_word)
{
    size_t len, stop = begin + t->len;
    if (!(t->flags & SPECIAL_SINGLE_WORD))
        return SPECIAL_FOUND;
    if (begin ? is_word(char_before(p, begin, &len)) : after_word)
        return SPECIAL_NONE;
    if (stop == n && end == TEXT_LETTER)
        return SPECIAL_NONE;
    int32_t next = char_at(p, n, stop, end != TEXT_MORE, &len);
    return next == UNDECIDED ? SPECIAL_MAYBE : is_word(next) ? SPECIAL_NONE : SPECIAL_FOUND;
}

/* Moves *to past the white space after a match, up to the next match that counts. *searched: no other match begins
 * before it. */
static enum special_hit strip_right(const struct special_set *s, const unsigned char *p, size_t n, enum window_end end,
                                    size_t *to, size_t *searched)
{
    const bool final = end != TEXT_MORE;
    bool more;
    size_t stop = *to, len;
    int32_t c;
    while (is_space(c = char_at(p, n, stop, final, &len)))
        stop += len;
    if (c == UNDECIDED)
        return SPECIAL_MAYBE;
    for (*searched = *to; s->space_first && *searched < stop;) {
        const struct special_entry *t = special_at(s, p + *searched, n - *searched, &more);
        enum special_hit hit = more && !final ? SPECIAL_MAYBE
                               : t            ? check_word(t, p, n, end, *searched, false)
                                              : SPECIAL_NONE;
        if (hit == SPECIAL_MAYBE)
            return hit;
        if (hit == SPECIAL_FOUND)
            stop = *searched;
        else
            *searched += t ? t->len : 1;
    }
    *to = stop;
    return SPECIAL_FOUND;
}

/* The start of the text that may still belong to a match, if one may begin at p + at. */
static size_t undecided_from(const struct special_set *s, const unsigned char *p, size_t n, size_t from, size_t at)
{
    size_t len;
    if (!(s->flags & SPECIAL_LSTRIP))
        return at;
    for (size_t back = 1; at == n && back < 4 && back <= n - from; back++) { /* an incomplete character */
        if (p[n - back] >= 0xC0) {
            if (char_at(p, n, n - back, false, &len) == UNDECIDED)
                at = n - back;
            break;
        }
    }
    return space_before(p, from, at);
}

enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, enum window_end end,
                              struct special_place *at, struct special_match *m)
{
    const struct special_entry *t = NULL;
    enum special_hit hit = SPECIAL_NONE;
    size_t pos = at->searched > at->from ? at->searched : at->from;
    while (s->n && (hit = next_occurrence(s, p, n, end != TEXT_MORE, &pos, &t)) == SPECIAL_FOUND) {
        hit = check_word(t, p, n, end, pos, at->after_word);
        if (hit != SPECIAL_NONE)
            break;
        pos += t->len;
    }
    at->searched = hit == SPECIAL_NONE ? n : pos;
    if (hit == SPECIAL_FOUND) {
        *m = (struct special_match){pos, pos + t->len, t};
        if (t->flags & SPECIAL_LSTRIP)
            m->begin = space_before(p, at->from, pos);
        size_t searched = m->end;
        if (t->flags & SPECIAL_RSTRIP)
            hit = strip_right(s, p, n, end, &m->end, &searched);
        if (hit == SPECIAL_FOUND) {
            at->from = m->end;
            at->searched = searched > m->end ? searched : m->end;
            return hit;
        }
    }
    m->begin = end == TEXT_MORE ? undecided_from(s, p, n, at->from, at->searched) : n;
    return hit;
}

void special_drop(const struct special_set *s, struct special_place *at, const unsigned char *p, size_t n)
{
    size_t len;
    if (n && s->flags & SPECIAL_SINGLE_WORD)
        at->after_word = is_word(char_before(p, n, &len));
    at->from = 0;
    at->searched = at->searched > n ? at->searched - n : 0;
}

/* ---- Cuts ---- */

bool special_keeps_lines(const struct special_set *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct special_entry *t = &s->token[i];
        if (uclass_letter_at(t->p, t->len) || t->flags & SPECIAL_RSTRIP || memchr(t->p, '\n', t->len))
            return false;
    }
    return true;
}

bool special_cut_after(const struct special_set *s, const unsigned char *p, size_t n, size_t at, bool final)
{
    const struct special_entry *t = find_ending(s, p, at);
    bool more;
    size_t len;
    if (!t || !t->ends_piece)
        return false;
    /* "<a>" ends here, but is not a match if "<a>b" begins at the same position. */
    const struct special_entry *longest = special_at(s, p + at - t->len, n - at + t->len, &more);
    if (!longest || longest->len != t->len || (more && !final))
        return false;
    int32_t next = t->flags & SPECIAL_RSTRIP ? char_at(p, n, at, final, &len) : NO_CHAR;
    return !is_space(next) && next != UNDECIDED;
}

/* Going back, the first token found decides: if it counts and does not take the white space after it, no earlier token
 * can take it. So it does not matter how much of the text before that token is known. */
bool special_takes_space(const struct special_set *s, const unsigned char *p, size_t at)
{
    if (!(s->flags & SPECIAL_RSTRIP))
        return false;
    for (size_t back = at, len; at - back <= SPECIAL_SPACE; back -= len) {
        const struct special_entry *t = find_ending(s, p, back);
        if (t)
            return t->flags & (SPECIAL_RSTRIP | SPECIAL_SINGLE_WORD);
        if (!is_space(char_before(p, back, &len)))
            return false;
    }
    return true;
}

/* If special tokens can overlap, an occurrence that ends at the cut need not be a match: an earlier match may have
 * taken its first bytes. So this goes back to a position inside no occurrence, and thus inside no match, and follows
 * the matches from there. The caller promises that no match crosses p + n, so no text after it is needed. Text is not
 * cut after a token that must be a single word, nor after white space that belongs to a token. If it was cut for
 * another reason, a letter follows, so that no single word ends there. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more)
{
    bool longer;
    size_t from = n;
    const struct special_entry *last = find_ending(s, p, n), *t;
    *more = false;
    if (n < s->max_len && !begins) {
        *more = true;
        return 0;
    }
    if (last && !s->local) {
        for (size_t i = n; i-- > 0 && from - i < s->max_len + (from == n);) {
            t = special_at(s, p + i, n - i, &longer);
            if (t && (i + t->len > from || i + t->len == n))
                from = i;
        }
        if (from < s->max_len && !begins) {
            *more = true;
            return 0;
        }
        for (last = NULL; next_occurrence(s, p, n, true, &from, &t) == SPECIAL_FOUND; from += t->len)
            last = from + t->len == n ? t : NULL;
    }
    return last && !(last->flags & SPECIAL_SINGLE_WORD) ? last->index + 1 : 0;
}
