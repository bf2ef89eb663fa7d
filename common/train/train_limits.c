/* train_limits.c - see train_limits.h.
 *
 * Vetoed strings are found by the automaton of Aho and Corasick (1975). Its state after some text is the longest suffix
 * of the text that begins a vetoed string. For each symbol the state after its bytes is kept. Two symbols that contain
 * no vetoed string, put together, contain one only across the border. So the automaton reads the bytes of the right one
 * from the state of the left one, but only while its state still begins in the left one: usually no byte or one.
 */
#include "train/train_limits.h"

#include "base/sys/hash.h"
#include "base/sys/hash_index.h"
#include "train/superword_limits.h"
#include "unicode/utf8.h"

#include <stdlib.h>
#include <string.h>

#define VETOED UINT32_MAX /* a state: the symbol contains a vetoed string */
enum { CHARACTER = 4 };   /* maximum number of bytes */

/* What a symbol consists of: other bytes; a part of a character; whole characters. */
enum content { NEITHER, PART, WHOLE };

/* A state: a prefix of a vetoed string. Number 0 is the empty one. */
struct prefix {
    uint32_t before; /* the prefix without its last byte */
    uint32_t suffix; /* the longest proper suffix that is a state */
    uint32_t len;
    unsigned char byte; /* the last one */
    bool vetoed;        /* a vetoed string ends here */
};

struct train_limits {
    struct superword *superword; /* by symbol; NULL: no such limits */
    unsigned char *content;      /* by symbol: enum content; NULL: tokens are not limited to characters */
    uint32_t *state;             /* by symbol; NULL: nothing is vetoed */
    struct prefix *prefix;       /* owned */
    uint32_t n_prefixes;
    struct hash_index next; /* finds a prefix by the one before and the last byte */
    uint64_t secret;
};

/* ---- Vetoed strings ---- */

static struct hash_slot *slot_of(const struct train_limits *l, uint32_t before, unsigned char byte, uint32_t *hash)
{
    uint64_t h = (((uint64_t)before << 8 | byte) ^ l->secret) * 0x9E3779B97F4A7C15u;
    *hash = (uint32_t)(h >> 32);
    struct hash_slot *s = hash_index_first(&l->next, *hash);
    while (s->n1 && !(s->hash == *hash && l->prefix[s->n1 - 1].before == before && l->prefix[s->n1 - 1].byte == byte))
        s = hash_index_next(&l->next, s);
    return s;
}

/* The prefix that is one byte longer; 0: none. */
static uint32_t longer(const struct train_limits *l, uint32_t before, unsigned char byte)
{
    uint32_t hash, n1 = slot_of(l, before, byte, &hash)->n1;
    return n1 ? n1 - 1 : 0;
}

static void add_veto(struct train_limits *l, struct str veto)
{
    uint32_t at = 0, hash;
    for (size_t i = 0; i < veto.len; i++) {
        struct hash_slot *s = slot_of(l, at, veto.p[i], &hash);
        if (!s->n1) {
            l->prefix[l->n_prefixes] = (struct prefix){.before = at, .byte = veto.p[i], .len = (uint32_t)i + 1};
            *s = (struct hash_slot){hash, ++l->n_prefixes};
        }
        at = s->n1 - 1;
    }
    l->prefix[at].vetoed = true;
}

/* Sets the suffix of a prefix, when those of all shorter ones are set. */
static void set_suffix(struct train_limits *l, struct prefix *p)
{
    uint32_t from = p->before, found = 0;
    while (from && !found) {
        from = l->prefix[from].suffix;
        found = longer(l, from, p->byte);
    }
    p->suffix = found;
    p->vetoed |= l->prefix[found].vetoed;
}

/* Sets all suffixes, by length: at[len] is where the prefixes of this length begin in `order`. */
static int set_suffixes(struct train_limits *l, size_t longest, struct err *e)
{
    size_t *at = calloc(longest + 2, sizeof *at);
    uint32_t *order = malloc(l->n_prefixes * sizeof *order);
    for (uint32_t i = 0; at && i < l->n_prefixes; i++)
        at[l->prefix[i].len + 1]++;
    for (size_t len = 1; at && len <= longest; len++)
        at[len] += at[len - 1];
    for (uint32_t i = 0; at && order && i < l->n_prefixes; i++)
        order[at[l->prefix[i].len]++] = i;
    for (uint32_t i = 1; at && order && i < l->n_prefixes; i++) /* order[0]: the empty one */
        set_suffix(l, &l->prefix[order[i]]);
    int rc = at && order ? 0 : err_mem(e, "the vetoed tokens", longest * sizeof *at);
    free(at);
    free(order);
    return rc;
}

static int add_vetoes(struct train_limits *l, const struct str *veto, size_t n, struct err *e)
{
    size_t total = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(total, veto[i].len, &total) || total >= INT32_MAX)
            return err_set(e, EX_DATAERR, "the vetoed tokens have 2^31 bytes or more");
        longest = veto[i].len > longest ? veto[i].len : longest;
    }
    l->prefix = calloc(total + 1, sizeof *l->prefix);
    if (!l->prefix)
        return err_mem(e, "the vetoed tokens", (total + 1) * sizeof *l->prefix);
    l->n_prefixes = 1;
    if (hash_index_grow(&l->next, total + 1, "the vetoed tokens", e))
        return -1;
    for (size_t i = 0; i < n; i++)
        add_veto(l, veto[i]);
    return set_suffixes(l, longest, e);
}

/* The state after the bytes s, from a state. VETOED: a vetoed string ended. 0: at some byte, no state is left that
 * begins before s. */
static uint32_t read_on(const struct train_limits *l, uint32_t state, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        uint32_t next = 0;
        while (l->prefix[state].len > i && !(next = longer(l, state, s.p[i])))
            state = l->prefix[state].suffix;
        if (!next)
            return 0;
        if (l->prefix[next].vetoed)
            return VETOED;
        state = next;
    }
    return state;
}

/* The same from the empty state. */
static uint32_t read_all(const struct train_limits *l, struct str s)
{
    uint32_t state = 0, next;
    for (size_t i = 0; i < s.len; i++) {
        while (!(next = longer(l, state, s.p[i])) && state)
            state = l->prefix[state].suffix;
        state = next;
        if (l->prefix[state].vetoed)
            return VETOED;
    }
    return state;
}

static bool avoids_vetoes(const struct train_limits *l, struct limited left, struct limited right)
{
    const uint32_t from = l->state[left.symbol];
    if (from == VETOED || l->state[right.symbol] == VETOED)
        return false;
    return !from || read_on(l, from, right.s) != VETOED;
}

/* ---- Characters ---- */

static bool is_text(struct str s)
{
    bool cut;
    return utf8_valid_len(s.p, s.len, &cut) == s.len;
}

/* Whether the bytes are some of a character, or all. */
static bool is_part(struct str s)
{
    bool cut;
    size_t valid = utf8_valid_len(s.p, s.len, &cut), n = 0;
    while (n < s.len && n < CHARACTER && (s.p[n] & 0xC0) == 0x80)
        n++;
    if (n == s.len)
        return n < CHARACTER; /* any three later bytes may follow F1 */
    return valid == 0 ? cut : valid == s.len && s.len == utf8_char_len(s.p[0]);
}

/* Whether two strings together are text. */
static bool is_text_together(struct str left, struct str right)
{
    unsigned char character[CHARACTER];
    bool cut;
    const size_t valid = utf8_valid_len(left.p, left.len, &cut), begun = left.len - valid;
    if (begun == 0)
        return is_text(right);
    const size_t len = cut ? utf8_char_len(left.p[valid]) : 0; /* of the character at the border */
    if (len <= begun || len - begun > right.len)
        return false;
    memcpy(character, left.p + valid, begun);
    memcpy(character + begun, right.p, len - begun);
    return is_text((struct str){character, len}) &&
           is_text((struct str){right.p + (len - begun), right.len - (len - begun)});
}

static bool keeps_characters(const struct train_limits *l, struct limited left, struct limited right)
{
    unsigned char both[2 * CHARACTER];
    const enum content a = l->content[left.symbol], b = l->content[right.symbol];
    if (a == NEITHER || b == NEITHER) /* not in a part of a character */
        return is_text_together(left.s, right.s);
    if (a == WHOLE || b == WHOLE)
        return a == b;
    memcpy(both, left.s.p, left.s.len);
    memcpy(both + left.s.len, right.s.p, right.s.len);
    return is_part((struct str){both, left.s.len + right.s.len});
}

/* ---- The interface ---- */

struct train_limits *train_limits_new(bool characters, bool superwords, const struct str *veto, size_t n,
                                      uint32_t n_symbols, struct err *e)
{
    struct train_limits *l = calloc(1, sizeof *l);
    if (!l) {
        err_mem(e, "the limits of tokens", sizeof *l);
        return NULL;
    }
    l->secret = hash_secret();
    l->superword = superwords ? calloc((size_t)n_symbols + 1, sizeof *l->superword) : NULL;
    l->content = characters ? calloc((size_t)n_symbols + 1, sizeof *l->content) : NULL;
    l->state = n ? calloc((size_t)n_symbols + 1, sizeof *l->state) : NULL;
    const bool room = (l->content || !characters) && (l->state || !n) && (l->superword || !superwords);
    if (!room)
        err_mem(e, "the limits of tokens", (unsigned long long)n_symbols * sizeof *l->state);
    if (!room || (n && add_vetoes(l, veto, n, e))) {
        train_limits_free(l);
        return NULL;
    }
    return l;
}

void train_limits_free(struct train_limits *l)
{
    if (!l)
        return;
    free(l->content);
    free(l->prefix);
    hash_index_free(&l->next);
    free(l->state);
    free(l->superword);
    free(l);
}

void train_limits_symbol(struct train_limits *l, struct limited x)
{
    if (l->content)
        l->content[x.symbol] = is_text(x.s) ? WHOLE : is_part(x.s) ? PART : NEITHER;
    if (l->state)
        l->state[x.symbol] = read_all(l, x.s);
    if (l->superword)
        l->superword[x.symbol] = superword_of(x.s);
}

void train_limits_merge(struct train_limits *l, struct limited left, struct limited right, uint32_t result)
{
    if (l->content) {
        const bool parts = l->content[left.symbol] == PART && l->content[right.symbol] == PART;
        l->content[result] = parts && !is_text_together(left.s, right.s) ? PART : WHOLE;
    }
    if (l->state) {
        const uint32_t from = l->state[left.symbol], state = from ? read_on(l, from, right.s) : 0;
        l->state[result] = state ? state : l->state[right.symbol]; /* the state begins in `right` */
    }
    if (l->superword)
        l->superword[result] = superword_join(l->superword[left.symbol], l->superword[right.symbol]);
}

bool train_limits_allow(const struct train_limits *l, struct limited left, struct limited right)
{
    return (!l->content || keeps_characters(l, left, right)) && (!l->state || avoids_vetoes(l, left, right)) &&
           (!l->superword || superword_allowed(superword_join(l->superword[left.symbol], l->superword[right.symbol])));
}

/* Text without vetoed strings contains no token with one.
 *
 * Characters: in valid UTF-8, take two tokens or more. A token that is a part of a character by its bytes lies within
 * one character here, too, since only its first byte may begin a character, and if none does, it follows within that
 * character. A token of whole characters begins with one here, and so it ends with one. If a character is divided
 * among tokens, two neighbors of them are together a part of it, or all of it, and may be merged. If none is, all
 * tokens consist of whole characters, and any two neighbors may be merged. */
bool train_limits_text(const struct train_limits *l, struct str text)
{
    return (!l->content || is_text(text)) && (!l->state || read_all(l, text) != VETOED);
}
