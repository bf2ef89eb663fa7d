/* scan_gpt2.c - the plain scanner, one character at a time, for GPT-2, and for StarCoder 2 and Command-R, which split
 * off each digit first.
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * Each character has one class (letter, number, space, other), so a pretoken that is not a contraction is a run of one
 * class. A run of letters, numbers or others may have one 0x20 before it. A run of spaces before something else ends
 * before its last space: \s+(?!\S) backtracks by one character. If the run is a single character, \s+ takes it.
 *
 * gpt2-digits applies two regexes: a digit (PATTERN_DIGIT), then the one above to the text between digits. A digit is a
 * pretoken of its own, without the 0x20 before it. A run of spaces before it is one pretoken, as the piece ends there.
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER):
 *   1. No match contains 0x0A followed by a letter: only \s+ can match 0x0A, and it matches no letter. So the uncut
 *      document has a boundary there.
 *   2. The right part gives the same pretokens: the search resumes at the boundary, the regex has no lookbehind, and
 *      everything it looks at from there is in the right part.
 *   3. The left part gives the same pretokens if the scanner knows that a letter follows: matches do not cross the
 *      boundary, and the only construct that looks at the character after a match is (?!\S), which needs to know only
 *      that it is not a space. (Contractions and runs of letters, numbers or others do not end at the boundary, because
 *      the left part ends with 0x0A.)
 * The same holds for gpt2-digits: neither character at the cut is a digit, so the piece around the cut has the same
 * ends as in the uncut document, and the argument above holds in that piece.
 */
#include "pretok/scan_internal.h"
#include "unicode/uclass.h"

/* The class of the character at p. digits: for gpt2-digits. */
INLINE enum uclass class_at(const unsigned char *p, size_t *n, bool digits)
{
    enum uclass class = uclass_at(p, n);
    return digits && class == UCLASS_OTHER && is_new_number(p) ? UCLASS_NUMBER : class;
}

/* The end of the run of spaces at p, without its last space if something follows in the piece. */
INLINE size_t spaces_but_last(const unsigned char *text, size_t p, size_t len, enum window_end end, bool digits)
{
    size_t q = p, last = p, n;
    while (q < len && uclass_at(text + q, &n) == UCLASS_SPACE) {
        last = q;
        q += n;
    }
    if (q == len && end == TEXT_MORE)
        return SCAN_UNDECIDED;
    if ((q == len && end == TEXT_DOC) || last == p)
        return q;
    if (digits && q < len && class_at(text + q, &n, digits) == UCLASS_NUMBER)
        return q;
    return last;
}

/* The end of the run of a class at p. */
INLINE size_t run_end(const unsigned char *text, size_t p, size_t len, enum uclass class, bool digits)
{
    size_t n;
    if (!digits || class != UCLASS_OTHER)
        return uclass_run(text, p, len, class);
    while (p < len && class_at(text + p, &n, digits) == UCLASS_OTHER)
        p += n;
    return p;
}

INLINE size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end, bool digits)
{
    if (text[p] == '\'') {
        if (len - p < 3 && end == TEXT_MORE)
            return SCAN_UNDECIDED;
        size_t n = gpt2_contraction(text + p, len - p);
        if (n > 0)
            return p + n;
    }
    size_t q = p + (text[p] == ' ' && p + 1 < len);
    size_t n;
    enum uclass class = class_at(text + q, &n, digits);
    if (class == UCLASS_SPACE)
        return spaces_but_last(text, p, len, end, digits);
    if (digits && class == UCLASS_NUMBER)
        return q > p ? q : q + n;
    q = run_end(text, q + n, len, class, digits);
    return q == len && end == TEXT_MORE ? SCAN_UNDECIDED : q;
}

static size_t gpt2_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, false);
}

size_t scan_gpt2(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, gpt2_end);
}

static size_t gpt2_digits_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, true);
}

size_t scan_gpt2_digits(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                        size_t max)
{
    return scan_each(text, len, end, pos, ends, max, gpt2_digits_end);
}
