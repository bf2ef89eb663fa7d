/* scan_cl100k.c - the plain scanner, one character at a time, for GPT-4's cl100k_base (and Llama 3); for nanochat and
 * Qwen 2, which put fewer numbers in a pretoken; and for Qwen 3.5, where marks count as letters.
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
 *   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * The class of the first character (letter, number, space, other; CR and LF differ from other spaces) and that of the
 * next decide which alternative matches:
 *
 *   letter            a run of letters
 *   number            up to three numbers (nanochat: two; qwen2: one)
 *   space or other    followed by a letter: with the run of letters (except CR and LF)
 *   0x20              followed by an other: with it, as below
 *   other             a run of others, then all CR and LF that follow
 *   space             a run of spaces: up to its last CR or LF if it has one (\s* takes the whole run and backtracks
 *                     until [\r\n]+ matches, which is at the last one); else all but its last space if something
 *                     follows (\s+(?!\S) backtracks by one); else all of it
 *
 * This is Hugging Face's form of the regex. tiktoken's form has \s++$ before \s*[\r\n], so all spaces at the end of a
 * document are one pretoken there: "\n " is one pretoken for tiktoken and two here. Nothing else differs: tiktoken's
 * repetitions are possessive only where backtracking would help no alternative; its \s*[\r\n] equals \s*[\r\n]+,
 * because \s* leaves the last newline of the run to [\r\n]; and its last \s equals \s+, because it is only tried on a
 * single space before something else. scan_tail.c converts the pretokens of this form to those of tiktoken's form.
 *
 * Ignoring case, contractions match one letter that is not ASCII: U+017F (long s) folds to s. No other character folds
 * to one of d, e, l, m, r, s, t, v.
 *
 * Qwen 3.5 has [\p{L}\p{M}]+ for \p{L}+ and [^\s\p{L}\p{M}\p{N}]+ for others, but keeps [^\r\n\p{L}\p{N}]? before a
 * word. A mark there may as well begin the word: the pretoken is the same. So marks are treated as letters.
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER), reading [\p{L}\p{M}]+ for \p{L}+ in Qwen 3.5:
 *   1. No match contains 0x0A followed by a letter: the character before \p{L}+ cannot be LF, and after an LF,
 *      [\r\n]* and \s can only match more spaces. So the uncut document has a boundary there.
 *   2. The right part gives the same pretokens: the search resumes at the boundary, the regex has no lookbehind, and
 *      everything it looks at from there is in the right part.
 *   3. The left part gives the same pretokens if the scanner knows that a letter follows: the run of spaces that ends
 *      with the 0x0A is one match of \s*[\r\n]+, or of [\r\n]* after others, and ends there unless a space follows. The
 *      other constructs that look past a match ((?!\S), runs, contractions) do not reach the boundary, because the left
 *      part ends with 0x0A.
 */
#include "pretok/scan_internal.h"
#include "unicode/ucat.h"
#include "unicode/uclass.h"

/* The class of the character at p. marks: they count as letters. */
INLINE enum uclass class_at(const unsigned char *p, size_t *n, bool marks)
{
    return marks ? uclass_with_marks(ucat_at(p, n)) : uclass_at(p, n);
}

/* The end of the run of letters or of others at p. */
INLINE size_t run_end(const unsigned char *text, size_t p, size_t len, enum uclass class, bool marks)
{
    size_t n;
    if (!marks)
        return uclass_run(text, p, len, class);
    while (p < len && class_at(text + p, &n, marks) == class)
        p += n;
    return p;
}

/* The end of the others at p, if any, and of the newlines after them. */
INLINE size_t others_end(const unsigned char *text, size_t p, size_t len, bool marks)
{
    p = run_end(text, p, len, UCLASS_OTHER, marks);
    while (p < len && is_newline(text[p]))
        p++;
    return p;
}

INLINE size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end, int numbers,
                           bool marks)
{
    size_t n, n_next, q;
    enum uclass class = class_at(text + p, &n, marks);
    if (class == UCLASS_NUMBER)
        return numbers_end(text, p, len, end, numbers);
    if (text[p] == '\'') { /* one cut off by the window is undecided below, because its letters run up to the end */
        size_t contraction = cl100k_contraction(text + p, len - p);
        if (contraction > 0)
            return p + contraction;
    }

    enum uclass next = UCLASS_SPACE; /* at the end of the text: neither letter nor other */
    if (p + n < len)
        next = class_at(text + p + n, &n_next, marks);
    if (class == UCLASS_LETTER || (next == UCLASS_LETTER && !is_newline(text[p])))
        q = run_end(text, p + n, len, UCLASS_LETTER, marks);
    else if (class == UCLASS_OTHER || (next == UCLASS_OTHER && text[p] == ' '))
        q = others_end(text, p + n, len, marks);
    else
        return spaces_end(text, p, len, end);
    return q == len && end == TEXT_MORE ? SCAN_UNDECIDED : q;
}

static size_t cl100k_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, 3, false);
}

size_t scan_cl100k(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, cl100k_end);
}

static size_t nanochat_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, 2, false);
}

size_t scan_nanochat(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                     size_t max)
{
    return scan_each(text, len, end, pos, ends, max, nanochat_end);
}

static size_t qwen2_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, 1, false);
}

size_t scan_qwen2(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, qwen2_end);
}

static size_t qwen35_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    return pretoken_end(text, p, len, end, 1, true);
}

size_t scan_qwen35(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends, size_t max)
{
    return scan_each(text, len, end, pos, ends, max, qwen35_end);
}
