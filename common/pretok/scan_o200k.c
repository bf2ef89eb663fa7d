/* scan_o200k.c - the plain scanner, one character at a time, for GPT-4o's o200k_base, Mistral's Tekken and Kimi K2.
 *
 *   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *   |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *   |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * For the characters of words, write U for upper case (Lu, Lt), l for lower case (Ll), and b for those in both classes
 * (Lm, Lo, M). The first two alternatives match a word: an optional character before it (not CR, LF, letter or number),
 * its characters, an optional contraction. Let the word's characters begin at q and let the run of U and b from q on
 * end at u.
 *
 *   l at u             the first alternative, which takes all of the run, then the run of l and b from u on
 *   a b in [q, u)      the first, which backtracks until [..]+ matches: at the last b of the run, and only that b,
 *                      because U or the end of the run follows it
 *   only U in [q, u)   the second: up to u
 *   q == u             no word
 *
 * The character before a word is taken only if a word follows it. If it is a mark, the word may as well begin with it,
 * and the result is the same: if only U follows it, the first alternative matches without a character before it and
 * ends after the mark, as it does if the word begins there; otherwise the last b or the l found is the same. So a mark
 * is taken as the first character of the word.
 *
 * Everything else is as in cl100k (scan_cl100k.c), except that others also take slashes among the newlines after them.
 * A single other before a mark is the character before a word; within a run of others, marks are others.
 *
 * Tekken has no contractions, and each number is a pretoken of its own.
 *
 * Kimi K2's regex begins with [\p{Han}]+|, its words contain no Han (&&[^\p{Han}] in both classes), and its others take
 * no slashes. So a run of Han at the start of a pretoken is one pretoken, whatever else its characters are (U+3007 is a
 * number, radicals are symbols, U+16FF0 is a mark). After a number or others, Han characters that are numbers or others
 * belong to those. The character before a word is not Han, as Han there would have begun a run.
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER): as in cl100k.
 *   1. No match contains 0x0A followed by a letter: the character before a word cannot be LF, no letter can follow in
 *      [\r\n/]* or \s, and a run of Han has no LF. So the uncut document has a boundary there.
 *   2. The right part gives the same pretokens: the search resumes at the boundary, the regex has no lookbehind, and
 *      everything it looks at from there is in the right part.
 *   3. The left part gives the same pretokens if the scanner knows that a letter follows: it ends with 0x0A, the end of
 *      one match of \s*[\r\n]+ or of [\r\n/]* after others, unless a space or slash follows. Contractions, which
 *      contain no 0x0A, and (?!\S) do not reach the boundary.
 */
#include "pretok/scan_internal.h"
#include "unicode/ucat.h"

enum {
    BOTH = 1 << UCAT_MARK | 1 << UCAT_LETTER,
    UPPER = 1 << UCAT_UPPER | BOTH,
    LOWER = 1 << UCAT_LOWER | BOTH,
    OTHER = 1 << UCAT_REST | 1 << UCAT_PUNCT | 1 << UCAT_MARK,
    HAN = 1 << 8,
};

/* How the three patterns differ. */
struct variant {
    int numbers; /* in a pretoken, at most */
    bool contractions, slash, han;
};

/* The class of the character at p as one bit. Han that is neither letter nor number has two: HAN and one of others. */
INLINE unsigned class_at(const unsigned char *p, size_t *n, struct variant v)
{
    unsigned class = 1u << (ucat_at(p, n) & 7);
    if (v.han && ucat_is_han(p))
        return HAN | (class & OTHER ? 1 << UCAT_REST : 0);
    return class;
}

INLINE size_t run_end(const unsigned char *text, size_t p, size_t len, unsigned classes, struct variant v)
{
    size_t n;
    while (p < len && (class_at(text + p, &n, v) & classes))
        p += n;
    return p;
}

/* The end of the word whose characters begin at q, with its contraction. */
INLINE size_t word_end(const unsigned char *text, size_t q, size_t len, enum window_end end, struct variant v)
{
    size_t after_both = 0, n;
    unsigned class = 0;
    while (q < len && ((class = class_at(text + q, &n, v)) & UPPER)) {
        q += n;
        if (class & BOTH)
            after_both = q;
    }
    if (q < len && class == 1 << UCAT_LOWER)
        q = run_end(text, q + n, len, LOWER, v);
    else if (q == len && end == TEXT_MORE)
        return SCAN_UNDECIDED;
    else if (after_both)
        q = after_both;
    if (len - q < 3 && end == TEXT_MORE && (q == len || (text[q] == '\'' && v.contractions)))
        return SCAN_UNDECIDED;
    return v.contractions && q < len && text[q] == '\'' ? q + cl100k_contraction(text + q, len - q) : q;
}

INLINE size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end, struct variant v)
{
    size_t n, n_next, q;
    unsigned class = class_at(text + p, &n, v);
    if (class & (UPPER | LOWER))
        return word_end(text, p, len, end, v);
    if (class == 1 << UCAT_NUMBER)
        return numbers_end(text, p, len, end, v.numbers);
    if (class & HAN) {
        q = run_end(text, p + n, len, HAN, v);
        return q == len && end == TEXT_MORE ? SCAN_UNDECIDED : q;
    }

    unsigned next = 0; /* at the end of the text: neither a word nor an other */
    if (p + n < len)
        next = class_at(text + p + n, &n_next, v);
    if ((next & (UPPER | LOWER)) && !is_newline(text[p]))
        return word_end(text, p + n, len, end, v);
    if (!(class & OTHER) && !((next & OTHER) && text[p] == ' '))
        return spaces_end(text, p, len, end);
    q = run_end(text, p + n, len, OTHER, v);
    while (q < len && (is_newline(text[q]) || (v.slash && text[q] == '/')))
        q++;
    return q == len && end == TEXT_MORE ? SCAN_UNDECIDED : q;
}

static size_t o200k_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, (struct variant){.numbers = 3, .contractions = true, .slash = true});
}

size_t scan_o200k(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, o200k_end);
}

static size_t tekken_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, (struct variant){.numbers = 1, .slash = true});
}

size_t scan_tekken(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, tekken_end);
}

static size_t kimi_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, (struct variant){.numbers = 3, .contractions = true, .han = true});
}

size_t scan_kimi(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, kimi_end);
}
