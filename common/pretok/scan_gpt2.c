/* scan_gpt2.c - GPT-2's pretokens, scanned by hand, one character at a time: the plain version.
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 * Each character has one class (letter, number, space, other), so a pretoken that is no contraction is a run of one
 * class. A run of letters, numbers or others may have one 0x20 before it. A run of spaces that something follows
 * leaves its last space for what follows: \s+(?!\S) backtracks by one character. If the run is that one character, \s+
 * takes it.
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER):
 *   1. No match holds 0x0A and then a letter. Only \s+ can match 0x0A, and it matches no letter. So the uncut document
 *      has a boundary there.
 *   2. The right part is the same: the search goes on at the boundary, the regex looks back at nothing, and what it
 *      looks at from there on is all in the right part.
 *   3. The left part is the same if it is told of the letter: matches do not pass the boundary, and the only construct
 *      that looks at the character after a match is (?!\S), which needs to know no more than that it is no space.
 *      (Runs and contractions that end at the boundary do not occur: the left part ends with 0x0A, which is in none of
 *      them.)
 */
#include "pretok/scan_internal.h"
#include "unicode/uclass.h"

/* The end of the run of spaces at p, all but the last of it if something follows. */
static size_t spaces_but_last(const unsigned char *text, size_t p, size_t len, enum window_end end)
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
    return last;
}

static inline size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
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
    enum uclass class = uclass_at(text + q, &n);
    if (class == UCLASS_SPACE)
        return spaces_but_last(text, p, len, end);
    q = uclass_run(text, q + n, len, class);
    return q == len && end == TEXT_MORE ? SCAN_UNDECIDED : q;
}

size_t scan_gpt2(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, pretoken_end);
}
