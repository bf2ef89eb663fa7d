/* scan_internal.h - the scanners that scan.c chooses from, one file each, and what they share. For scan*.c only; others
 * include scan.h.
 *
 * All work like scanner_scan: they scan text[*pos .. len), write at most max ends, advance *pos and return the number
 * of ends.
 */
#ifndef BPE_PRETOK_SCAN_INTERNAL_H
#define BPE_PRETOK_SCAN_INTERNAL_H

#include "pretok/scan.h"
#include "unicode/ucat.h"
#include "unicode/uclass.h"

/* Returned by a pretoken_end_fn if the end of the pretoken at p depends on text past the window. No pretoken ends at
 * offset 0. */
#define SCAN_UNDECIDED 0

typedef size_t scan_fn(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                       size_t max);

/* The plain scanners. */
scan_fn scan_gpt2, scan_gpt2_digits, scan_cl100k, scan_nanochat, scan_qwen2, scan_qwen35, scan_o200k, scan_tekken,
    scan_kimi, scan_deepseek, scan_superbpe;

/* The same with vector instructions (scan_masks_impl.h), by enum pattern_id; NULL if there is no vector version or the
 * compiler does not support it. */
extern scan_fn *const scan_neon[PATTERN_N], *const scan_sse2[PATTERN_N], *const scan_avx2[PATTERN_N],
                                                                             *const scan_avx512[PATTERN_N];

/* The pretokens of `scan`, a scanner of cl100k, except that white space at the end of a document is not split. */
size_t scan_tail(scan_fn *scan, const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                 size_t max);

/* The pretokens of `scan` in each line, with its 0x0A, as a document of its own. */
size_t scan_lines(scan_fn *scan, const unsigned char *text, size_t len, enum window_end end, size_t *pos,
                  uint32_t *ends, size_t max);

/* ---- By regexes ---- */

/* Scans with a regex from a user or a model (pretok/regex.h), using PCRE2. No other module uses PCRE2.
 *
 * Matches and the gaps between them are pretokens. Matches are found as in Hugging Face's Split (behavior "isolated",
 * the regex engine's find_iter): each search starts where the last match ended; an empty match is a boundary, and the
 * search continues one character further.
 *
 * Classes such as \p{L} are those of Unicode 16, whatever version PCRE2 has. The steps that a document may take are
 * limited, by a number that is the same on every machine.
 */
struct scan_regex;

/* Compiles a regex. NULL with EX_USAGE ("regex, byte 7: missing closing parenthesis"; with nth not 0,
 * "regex 2, byte 7: ...") or EX_OSERR. */
struct scan_regex *scan_regex_open(struct str regex, size_t nth, struct err *e);
void scan_regex_close(struct scan_regex *s); /* NULL is fine */

/* Like scanner_scan with TEXT_DOC: text[0 .. len) is the whole document, so that lookbehind and \A see the text before
 * *pos. is_match, unless NULL: for each end, whether it ends a match rather than a gap. max must be at least 2 (a gap
 * and the match after it come together). base is added to offsets in messages. */
ptrdiff_t scan_regex(struct scan_regex *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                     unsigned char *is_match, size_t max, size_t base, struct err *e);

/* Writes "PCRE2 10.42" (with the actual version) to buf, truncated to n bytes including the NUL. Returns buf. */
const char *scan_regex_version(char *buf, size_t n);

/* Scans with several regexes, one after the other (Hugging Face's Sequence of Splits): the first splits the document,
 * and each other one splits every piece of the previous one as a document of its own, so that anchors, lookahead and
 * lookbehind stop at the ends of the piece. */
struct scan_sequence;

/* split: a byte for each (pretok/split.h); NULL: all are SPLIT_ISOLATED. NULL with EX_USAGE when one does not
 * compile ("regex 2, byte 7: ..."). */
struct scan_sequence *scan_sequence_open(const struct str *regex, const unsigned char *split, size_t n_regex,
                                         struct err *e);
void scan_sequence_close(struct scan_sequence *s); /* NULL is fine */

/* Like scan_regex. dropped, unless NULL: for each end, whether its piece is dropped. Scan a document in order, from
 * start to end: if *pos is not where the last call left it, the document is scanned again from its start. */
ptrdiff_t scan_sequence(struct scan_sequence *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                        unsigned char *dropped, size_t max, struct err *e);

/* ---- Shared by the plain scanners ---- */

/* The length of gpt2's contraction at p, which is an apostrophe, or 0. room: the bytes of the document from p on. */
static inline size_t gpt2_contraction(const unsigned char *p, size_t room)
{
    if (room >= 2 && (p[1] == 's' || p[1] == 't' || p[1] == 'm' || p[1] == 'd'))
        return 2;
    if (room >= 3 && ((p[2] == 'e' && (p[1] == 'r' || p[1] == 'v')) || (p[1] == 'l' && p[2] == 'l')))
        return 3;
    return 0;
}

/* The same for cl100k's contractions, in either case. */
static inline size_t cl100k_contraction(const unsigned char *p, size_t room)
{
    unsigned char a = room >= 2 ? p[1] | 0x20 : 0; /* only the two cases of a letter become that letter */
    unsigned char b = room >= 3 ? p[2] | 0x20 : 0;
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    if ((b == 'e' && (a == 'r' || a == 'v')) || (a == 'l' && b == 'l'))
        return 3;
    if (room >= 3 && p[1] == 0xC5 && p[2] == 0xBF) /* U+017F */
        return 3;
    return 0;
}

/* Whether the character at p, valid UTF-8, is one of those in PATTERN_DIGIT that are not in \p{N}: U+11DE0 to U+11DE9,
 * U+16FF4 to U+16FF6. */
static inline bool is_new_number(const unsigned char *p)
{
    return p[0] == 0xF0 &&
           ((p[1] == 0x91 && p[2] == 0xB7 && p[3] - 0xA0U < 10) || (p[1] == 0x96 && p[2] == 0xBF && p[3] - 0xB4U < 3));
}

/* The class in uclass.h of a category in ucat.h, by cat & 7; marks count as letters. */
static inline enum uclass uclass_with_marks(unsigned cat)
{
    static const uint8_t class[8] = {
        [UCAT_REST] = UCLASS_OTHER,    [UCAT_PUNCT] = UCLASS_OTHER,   [UCAT_MARK] = UCLASS_LETTER,
        [UCAT_NUMBER] = UCLASS_NUMBER, [UCAT_SPACE] = UCLASS_SPACE,   [UCAT_UPPER] = UCLASS_LETTER,
        [UCAT_LOWER] = UCLASS_LETTER,  [UCAT_LETTER] = UCLASS_LETTER,
    };
    return (enum uclass) class[cat & 7];
}

/* The end of the pretoken at p < len, or SCAN_UNDECIDED. */
typedef size_t pretoken_end_fn(const unsigned char *text, size_t p, size_t len, enum window_end end);

/* A scanner that finds one pretoken at a time. */
static inline __attribute__((always_inline)) size_t scan_each(const unsigned char *text, size_t len,
                                                              enum window_end end, size_t *pos, uint32_t *ends,
                                                              size_t max, pretoken_end_fn *next)
{
    size_t p = *pos, n = 0;
    while (p < len && n < max) {
        size_t q = next(text, p, len, end);
        if (q == SCAN_UNDECIDED)
            break;
        ends[n++] = (uint32_t)q;
        p = q;
    }
    *pos = p;
    return n;
}

static inline bool is_newline(unsigned char c)
{
    return c == '\r' || c == '\n';
}

/* The end of the first pretoken in the run of spaces at p, by \s*[\r\n]+|\s+(?!\S)|\s+. */
static inline size_t spaces_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    size_t q = p, last = p, after_newline = 0, n;
    while (q < len && uclass_at(text + q, &n) == UCLASS_SPACE) {
        last = q;
        q += n;
        if (is_newline(text[last]))
            after_newline = q;
    }
    if (q == len && end == TEXT_MORE)
        return SCAN_UNDECIDED;
    if (after_newline > 0)
        return after_newline;
    if (q == len || last == p)
        return q;
    return last;
}

/* The end of up to max numbers, the first of which is at p. */
static inline size_t numbers_end(const unsigned char *text, size_t p, size_t len, enum window_end end, int max)
{
    int found = 0;
    size_t n;
    while (found < max && p < len && uclass_at(text + p, &n) == UCLASS_NUMBER) {
        p += n;
        found++;
    }
    return found < max && p == len && end == TEXT_MORE ? SCAN_UNDECIDED : p;
}

/* ---- For scan_masks_impl.h and the instruction sets ---- */

/* 64 bytes as bit masks: the ASCII characters of each class, and the bytes that are not ASCII. */
struct raw {
    uint64_t letter, number;
    uint64_t white;   /* white space: 0x09 to 0x0D and 0x20 */
    uint64_t space;   /* 0x20 */
    uint64_t newline; /* CR and LF */
    uint64_t quote;   /* apostrophes */
    uint64_t high;    /* 0x80 and up */
    uint64_t tail;    /* 0x80 to 0xBF: all bytes of a sequence except the first */
    uint64_t upper;   /* letters in upper case */
    uint64_t slash;
    uint64_t punct; /* all printable ASCII characters that are neither letters nor numbers */
};

#define INLINE static inline __attribute__((always_inline))

/* Writes the number at + i for each bit i of starts, four at a time, which mispredicts fewer branches than one at a
 * time. Up to 64 items are written; those from the returned number on are undefined. */
INLINE size_t put_ends_by_four(uint32_t *ends, uint64_t starts, uint32_t at)
{
    size_t n = (size_t)__builtin_popcountll(starts), i = 0;
    do {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++) {
            ends[i + k] = at + (uint32_t)__builtin_ctzll(starts | (uint64_t)1 << 63);
            starts &= starts - 1;
        }
        i += 4;
    } while (i < n);
    return n;
}

/* Lead bytes that begin only letters; a unit test compares them with uclass.h. Two bytes: U+0100 to U+02BF, U+0400 to
 * U+047F. Three bytes: U+5000 to U+9FFF, U+B000 to U+CFFF. And 0xE4 before 0xB8 to 0xBF: U+4E00 to U+4FFF. */
enum {
    LETTERS_C4 = 0xC4,
    LETTERS_C4_N = 7,
    LETTERS_D0 = 0xD0,
    LETTERS_D0_N = 2,
    LETTERS_E5 = 0xE5,
    LETTERS_E5_N = 5,
    LETTERS_EB = 0xEB,
    LETTERS_EB_N = 2,
};

#endif
