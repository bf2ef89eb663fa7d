/* scan_cl100k.c - the pretokens of GPT-4's cl100k_base (and Llama 3), of nanochat and Qwen 2, which differ in how many
 * numbers stand together, and of Qwen 3.5, where marks are as letters: scanned by hand, one character at a time, the
 * plain version.
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
 *   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * The first character's class (letter, number, space, other; CR and LF apart from the other spaces) and that of the
 * next decide which alternative matches:
 *
 *   letter            a run of letters
 *   number            up to three numbers (nanochat: two; qwen2: one)
 *   space or other    followed by a letter: with the run of letters (CR and LF excepted)
 *   0x20              followed by an other: with it, as below
 *   other             a run of others, then all CR and LF that follow
 *   space             a run of spaces: up to its last CR or LF if it has one (\s* takes the whole run and gives back
 *                     until [\r\n]+ matches, which is at the last one); else all but its last space if something
 *                     follows (\s+(?!\S) gives back one); else all of it
 *
 * This is the regex as Hugging Face tokenizers have it. tiktoken's form of it has \s++$ before \s*[\r\n], so there all
 * spaces at the end of a document are one pretoken: "\n " is one, and two here. Nothing else differs: possessive
 * repetitions give nothing back where giving back would help no alternative; \s*[\r\n] is \s*[\r\n]+, as \s* leaves
 * to [\r\n] the last newline of the run; the last \s is \s+, as it comes to one space alone, before something else.
 * scan_tail.c turns the result of this form into that of the other.
 *
 * Ignoring case, the contractions have one letter that is not ASCII: U+017F (long s) folds to s. No other character
 * folds to one of d, e, l, m, r, s, t, v.
 *
 * Qwen 3.5 has [\p{L}\p{M}]+ for \p{L}+, and [^\s\p{L}\p{M}\p{N}]+ for others, but leaves [^\r\n\p{L}\p{N}]? before
 * a word as it is: a mark there may as well begin the word, which is the same pretoken. So marks are letters in it.
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER), \p{L}+ being [\p{L}\p{M}]+ in Qwen 3.5:
 *   1. No match holds 0x0A and then a letter: the character before \p{L}+ may be no LF, and after [\r\n]* or in \s
 *      nothing but spaces can follow. So the uncut document has a boundary there.
 *   2. The right part is the same: the search goes on at the boundary, the regex looks back at nothing, and what it
 *      looks at from there on is all in the right part.
 *   3. The left part is the same if it is told of the letter: a run of spaces that ends with the 0x0A before it is one
 *      match of \s*[\r\n]+, or of [\r\n]* after others, and ends there, whatever follows that is no space. The other
 *      constructs that look past a match ((?!\S), runs, contractions) do not come to the boundary: the left part ends
 *      with 0x0A.
 */
#include "pretok/scan_internal.h"
#include "unicode/ucat.h"
#include "unicode/uclass.h"

/* The class of the character at p. marks: they are letters. */
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

/* The end of others and newlines, the first other being at p. */
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
    if (text[p] == '\'') { /* one cut short by the window is undecided below: its letters are a run up to the end */
        size_t contraction = cl100k_contraction(text + p, len - p);
        if (contraction > 0)
            return p + contraction;
    }

    enum uclass next = UCLASS_SPACE; /* after the end of the text: neither letter nor other */
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
