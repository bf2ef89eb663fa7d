/* text_make - makes natural-looking text of any size, at several hundred MB/s: for measuring how the work grows.
 *
 *     text_make SIZE [SEED [BETA]]
 *
 * Writes about SIZE bytes (1G is 2^30; the last document is complete), the same for the same seed; a longer text begins
 * with the shorter one. Documents of 5 KB on average end with <|endoftext|>. They consist of paragraphs of sentences,
 * lines of lists and of code, with capitals, punctuation, numbers, some typographic and some Cyrillic characters.
 *
 * Words are drawn from an infinite distribution, so a text of any length has new ones. A word is a rank, and T(r) is
 * the share of all words beyond rank r: straight lines between KNOTS on logarithmic axes, flat where words are frequent
 * and then steeper, as in real text (Zipf's law with two exponents), and at the end a power, r^-((1-BETA)/BETA). With
 * this tail, the number of distinct words in n words grows as n^BETA (Heaps' law). To draw a rank, take the r with
 * T(r) = u for a uniform u. The spelling of a word depends only on its rank, whose digits are syllables, so earlier
 * words need no memory.
 *
 * It is not a language: adjacent words are independent, except that a document repeats some of its words.
 */
#include "base/sys/err.h"
#include "base/sys/num.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOT_BITS = 17,  /* the first bits of the uniform number select a slot; most slots determine the rank */
    WORDS = 1 << 14, /* words whose spelling is stored */
    WORD = 64,       /* maximum length of a word */
    RECENT = 64,     /* words that a document repeats */
    OUT = 1 << 20,   /* minimum bytes per write */
    LINE = 16384,    /* maximum length of a paragraph or line */
    DOCUMENT = 26,   /* paragraphs and lines of a document, on average */
};

/* T(rank); the tail begins at the last one. */
static const struct knot {
    double rank, beyond;
} KNOTS[] = {{1, 1}, {8, 0.74}, {64, 0.52}, {512, 0.315}, {4096, 0.138}, {32768, 0.041}, {262144, 0.0095}};
enum { LAST = sizeof KNOTS / sizeof *KNOTS - 1 };

static const char ONSET[16][4] = {"t", "n", "s", "r", "l", "d", "m", "c", "p", "b", "st", "f", "g", "v", "tr", "k"};
static const char NUCLEUS[8][4] = {"e", "a", "i", "o", "u", "io", "ea", "y"};
static const char CODA[8][4] = {"", "n", "", "s", "r", "", "t", "ng"};
static const char *const MARK[16] = {
    ",", ",", ",", ",", ",", ",", ";", ":", " (", ")", " \xe2\x80\x93", "\xe2\x80\x99s", "'s", "'t", " **", "/"};
static const char *const END[8] = {".", ".", ".", ".", ".", "?", "!", "\xe2\x80\xa6"};

struct spelled {
    unsigned char len;
    char letters[15];
};

struct maker {
    uint64_t state;         /* of the random number generator */
    double power[LAST + 1]; /* r ~ T^power after each knot */
    uint16_t *slot;         /* the rank that a slot determines; 0: none */
    struct spelled *words, syllable[128], coda[8];
    uint64_t recent[RECENT];
    char *out;
    size_t len;
    uint64_t written;
};

static uint64_t next_random(struct maker *m)
{
    uint64_t x = m->state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* True n times in 65536. */
static bool chance(struct maker *m, unsigned n)
{
    return (next_random(m) & 0xFFFF) < n;
}

/* ---- Ranks ---- */

static void set_powers(struct maker *m, double beta)
{
    for (int i = 0; i < LAST; i++)
        m->power[i] = log(KNOTS[i + 1].rank / KNOTS[i].rank) / log(KNOTS[i + 1].beyond / KNOTS[i].beyond);
    m->power[LAST] = -beta / (1 - beta);
}

/* The rank beyond which the share of words is u; 0 < u <= 1. */
static uint64_t rank_at(const struct maker *m, double u)
{
    int i = LAST;
    while (i && u > KNOTS[i].beyond)
        i--;
    double rank = KNOTS[i].rank * pow(u / KNOTS[i].beyond, m->power[i]);
    return rank < 0x1p62 ? (uint64_t)rank : (uint64_t)1 << 62;
}

static double share(uint64_t x)
{
    return ((double)(x >> 11) + 1) * 0x1p-53;
}

static void fill_slots(struct maker *m)
{
    for (uint64_t i = 0; i < 1 << SLOT_BITS; i++) {
        uint64_t low = rank_at(m, share((i + 1) << (64 - SLOT_BITS))), high = rank_at(m, share(i << (64 - SLOT_BITS)));
        m->slot[i] = i && low == high && low < WORDS ? (uint16_t)low : 0;
    }
}

static uint64_t draw_rank(struct maker *m)
{
    uint64_t x = next_random(m), rank = m->slot[x >> (64 - SLOT_BITS)];
    return rank ? rank : rank_at(m, share(x));
}

/* The rank of the next word: one that the document had, or a new draw. */
static uint64_t next_rank(struct maker *m)
{
    uint64_t x = next_random(m);
    uint64_t *one = &m->recent[x % RECENT];
    if (x >> 61 || !*one) /* in seven of eight cases */
        *one = draw_rank(m);
    return *one;
}

/* ---- Spelling ---- */

static char *put(char *p, const char *s)
{
    while (*s)
        *p++ = *s++;
    return p;
}

/* The same with a copy of constant length, for which p must have room. */
static char *put_spelled(char *p, const struct spelled *s)
{
    memcpy(p, s->letters, sizeof s->letters);
    return p + s->len;
}

static struct spelled spelled(const char *first, const char *second)
{
    struct spelled s = {0};
    s.len = (unsigned char)(put(put(s.letters, first), second) - s.letters);
    return s;
}

/* Writes the word of a rank. Different ranks give different words: 1024 of one syllable, then 128 times as many of two,
 * and so on; three bits select the end of the word. Invertible products shuffle the words of each class. */
static char *put_spelling(const struct maker *m, char *p, uint64_t rank)
{
    unsigned bits = 10;
    while (rank >> bits && bits < 59) {
        rank -= (uint64_t)1 << bits;
        bits += 7;
    }
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t digits = rank * 0x9E3779B97F4A7C15u & mask;
    digits = (digits ^ digits >> bits / 2) * 0xD6E8FEB86659FD93u & mask;
    const struct spelled *coda = &m->coda[digits & 7];
    for (digits >>= 3, bits -= 3; bits; bits -= 7, digits >>= 7)
        p = put_spelled(p, &m->syllable[digits & 127]);
    return put_spelled(p, coda);
}

static void spell_frequent(struct maker *m)
{
    for (int i = 0; i < 128; i++)
        m->syllable[i] = spelled(ONSET[i & 15], NUCLEUS[i >> 4]);
    for (int i = 0; i < 8; i++)
        m->coda[i] = spelled(CODA[i], "");
    for (uint64_t rank = 0; rank < WORDS; rank++) {
        char word[WORD];
        *put_spelling(m, word, rank) = 0;
        m->words[rank] = spelled(word, "");
    }
}

static char *put_word(struct maker *m, char *p)
{
    uint64_t rank = next_rank(m);
    return rank < WORDS ? put_spelled(p, &m->words[rank]) : put_spelling(m, p, rank);
}

static char *put_capital(struct maker *m, char *p)
{
    char *end = put_word(m, p);
    *p = (char)(*p - 'a' + 'A');
    return end;
}

/* A word of Cyrillic letters. */
static char *put_foreign(struct maker *m, char *p)
{
    char word[WORD];
    const char *end = put_word(m, word);
    for (const char *c = word; c < end; c++) {
        *p++ = (char)0xD0;
        *p++ = (char)(0xB0 + (*c & 15));
    }
    return p;
}

static char *put_number(struct maker *m, char *p)
{
    uint64_t x = next_random(m), kind = x >> 60;
    uint64_t n = kind < 6 ? 1980 + (x & 63) : kind < 12 ? x & 127 : x % 10000 * (x >> 20 & 1 ? 1 : 97);
    char digits[24];
    int len = 0;
    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len)
        *p++ = digits[--len];
    return p;
}

/* ---- Text ---- */

static char *put_sentence(struct maker *m, char *p)
{
    uint64_t x = next_random(m);
    p = put_capital(m, p);
    for (uint64_t left = 3 + (x & 15) + (x >> 4 & 7); left; left--) {
        x = next_random(m);
        unsigned kind = x & 0xFFFF;
        if (kind < 7000)
            p = put(p, MARK[x >> 60]);
        *p++ = ' ';
        if (kind < 61000)
            p = put_word(m, p);
        else if (kind < 63600)
            p = put_capital(m, p);
        else if (kind < 65400)
            p = put_number(m, p);
        else
            p = put_foreign(m, p);
    }
    return put(p, END[x >> 57 & 7]);
}

static char *put_paragraph(struct maker *m, char *p)
{
    for (uint64_t left = 1 + next_random(m) % 7; left; left--) {
        p = put_sentence(m, p);
        *p++ = ' ';
    }
    p[-1] = '\n';
    *p++ = '\n';
    return p;
}

/* A line of code: name.name(name, number); */
static char *put_code(struct maker *m, char *p)
{
    uint64_t x = next_random(m);
    p = put(p, x & 1 ? "    " : "        ");
    p = put_word(m, p);
    *p++ = x & 2 ? '.' : '_';
    p = put_capital(m, p);
    *p++ = '(';
    p = put_word(m, p);
    if (x & 4) {
        p = put(p, ", ");
        p = put_number(m, p);
    }
    return put(p, x & 8 ? ");\n" : ") {\n");
}

/* A line of a list or a table. */
static char *put_item(struct maker *m, char *p)
{
    uint64_t x = next_random(m);
    bool table = x & 1;
    p = put(p, table ? "| " : "- ");
    for (uint64_t left = 2 + (x >> 1 & 7); left; left--) {
        p = put_word(m, p);
        p = put(p, table ? " | " : " ");
    }
    p[-1] = '\n';
    return p;
}

static void put_document(struct maker *m, char *p)
{
    char *const begin = p;
    memset(m->recent, 0, sizeof m->recent);
    do {
        uint64_t x = next_random(m) % 10;
        p = x < 6 ? put_paragraph(m, p) : x < 8 ? put_code(m, p) : put_item(m, p);
    } while (p - begin < OUT / 2 && !chance(m, 65536 / DOCUMENT));
    m->len += (size_t)(put(p, "<|endoftext|>\n") - begin);
}

static int flush(struct maker *m)
{
    for (size_t at = 0; at < m->len;) {
        ssize_t n = write(1, m->out + at, m->len - at);
        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    m->written += m->len;
    m->len = 0;
    return 0;
}

static int make(struct maker *m, uint64_t size)
{
    fill_slots(m);
    spell_frequent(m);
    while (m->written + m->len < size) {
        put_document(m, m->out + m->len);
        if (m->len >= OUT && flush(m))
            return -1;
    }
    return flush(m);
}

static int fail(const char *what)
{
    fprintf(stderr, "text_make: %s\n", what);
    return 74;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    uint64_t size = 0;
    char text[ERR_TEXT];
    double beta = argc > 3 ? strtod(argv[3], NULL) : 0.6;
    if (argc < 2 || argc > 4 || !(beta > 0 && beta < 1)) {
        fprintf(stderr, "usage: text_make SIZE [SEED [BETA]]\n");
        return 64;
    }
    if (num_size(argv[1], &size, "SIZE", &e)) {
        fprintf(stderr, "text_make: %s\n", err_text(&e, text));
        return e.code;
    }
    struct maker m = {.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    set_powers(&m, beta);
    m.slot = malloc(sizeof *m.slot << SLOT_BITS);
    m.words = calloc(WORDS, sizeof *m.words);
    m.out = malloc(2 * OUT + LINE);
    int status = !m.slot || !m.words || !m.out ? fail("out of memory") : make(&m, size) ? fail(strerror(errno)) : 0;
    free(m.slot);
    free(m.words);
    free(m.out);
    return status;
}
