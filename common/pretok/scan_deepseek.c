/* scan_deepseek.c - the plain scanner, one character at a time, for DeepSeek-V3.
 *
 * Three regexes, each of which splits the pieces of the previous one; gaps between matches are pieces, too:
 *
 *   \p{N}{1,3}
 *   [一-龥぀-ゟ゠-ヿ]+
 *   [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*
 *   |\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * The class of the second regex (U+4E00 to U+9FA5, U+3040 to U+30FF; called CJK here) contains no number. So the third
 * regex gets three kinds of pieces: up to three numbers, in which nothing matches; runs of CJK; and runs of anything
 * else. For the third regex, the text ends where the piece ends: a run of spaces before a number or CJK is one
 * pretoken, and a number or CJK never joins a character before it. At a position in a piece, the third regex matches
 *
 *   ASCII punctuation before an ASCII letter    it and the ASCII letters (the class has all 32 of \p{P} and \p{S})
 *   a letter or mark                            a run of them (a mark may also be the character before the run, which
 *                                               gives the same)
 *   a space except CR and LF, or a character    it and the run of them
 *     in no class, before a letter or mark
 *   punctuation, or 0x20 before it              a run of punctuation, then CR and LF
 *   any other space                             as in cl100k (scan_cl100k.c)
 *   anything else                               nothing: it and more of its kind are a gap, without the last of them
 *                                               if a letter or mark follows
 *
 * Why a cut between 0x0A and a letter is exact (TEXT_LETTER): if the letter is CJK, one piece ends and another begins
 * there, as 0x0A is not CJK, and a piece does not depend on the text around it. Otherwise:
 *   1. No match of the third regex contains 0x0A followed by a letter: the character before [\p{L}\p{M}]+ cannot be LF,
 *      and no letter can follow in [\r\n]* or \s. No gap contains them either, as both characters match. So the uncut
 *      document has a boundary there.
 *   2. The right part gives the same pretokens: its first piece is the rest of the uncut piece, and the regex has no
 *      lookbehind. (The first two regexes match on either side as in the uncut document: none of their matches contains
 *      0x0A or a letter that is not CJK.)
 * In both cases the left part gives the same pretokens: its last run of spaces ends with 0x0A, so \s*[\r\n]+, or
 * [\r\n]* after punctuation, takes the run to its end, unless a space follows.
 */
#include "pretok/scan_internal.h"
#include "unicode/ucat.h"

enum {
    PUNCT = 1 << UCAT_PUNCT,
    SPACE = 1 << UCAT_SPACE,
    REST = 1 << UCAT_REST,
    WORD = 1 << UCAT_MARK | 1 << UCAT_UPPER | 1 << UCAT_LOWER | 1 << UCAT_LETTER,
};

/* The piece of a document that the scanner is in. */
struct place {
    const unsigned char *text;
    size_t len;
    bool more; /* TEXT_MORE: the document continues past len */
    bool cjk;  /* the piece is CJK */
};

/* The class of the character at q as one bit, 0 if it is not in the piece. */
static inline unsigned class_at(const struct place *at, size_t q, size_t *n)
{
    if (q >= at->len)
        return 0;
    unsigned cat = ucat_at(at->text + q, n), class = 1u << (cat & 7);
    return (cat >= UCAT_CJK) == at->cjk && class != 1 << UCAT_NUMBER ? class : 0;
}

static size_t run_end(const struct place *at, size_t q, unsigned classes)
{
    size_t n = 0;
    while (class_at(at, q, &n) & classes)
        q += n;
    return q;
}

/* The end of the ASCII letters at q. */
static size_t ascii_letters_end(const struct place *at, size_t q)
{
    size_t n;
    do {
        n = uclass_ascii_letters(at->text + q);
        q += n;
    } while (n == 8 && q < at->len);
    return q < at->len ? q : at->len;
}

/* The end of a gap that begins with the n bytes at p. */
static size_t gap_end(const struct place *at, size_t p, size_t n)
{
    size_t q = p + n, n_next;
    while (class_at(at, q, &n) == REST) {
        unsigned next = class_at(at, q + n, &n_next);
        if (q + n == at->len && at->more)
            return at->len;
        if (next & WORD)
            return q;
        q += n;
    }
    return q;
}

/* The end of the first pretoken in the run of spaces at p. */
static size_t spaces_in_piece(const struct place *at, size_t p)
{
    size_t q = p, last = p, after_newline = 0, n = 0;
    while (class_at(at, q, &n) == SPACE) {
        last = q;
        q += n;
        if (is_newline(at->text[last]))
            after_newline = q;
    }
    if (q == at->len && at->more)
        return q;
    if (after_newline > 0)
        return after_newline;
    return last == p || class_at(at, q, &n) == 0 ? q : last;
}

static inline size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    size_t n, n_next = 0, q;
    unsigned cat = ucat_at(text + p, &n), class = 1u << (cat & 7);
    if (cat == UCAT_NUMBER)
        return numbers_end(text, p, len, end, 3);
    const struct place piece = {.text = text, .len = len, .more = end == TEXT_MORE, .cjk = cat >= UCAT_CJK},
                       *at = &piece;

    unsigned next = class_at(at, p + n, &n_next);
    if (class == PUNCT && text[p] < 0x80 && p + 1 < at->len && uclass_byte[text[p + 1]] == UCLASS_LETTER) {
        q = ascii_letters_end(at, p + 1);
    } else if ((class & WORD) || ((class & (SPACE | REST)) && (next & WORD) && !is_newline(text[p]))) {
        q = run_end(at, p + n, WORD);
    } else if (class == PUNCT || (text[p] == ' ' && next == PUNCT)) {
        q = run_end(at, p + n, PUNCT);
        while (q < at->len && is_newline(text[q]) && !at->cjk)
            q++;
    } else if (class == SPACE) {
        q = spaces_in_piece(at, p);
    } else {
        q = gap_end(at, p, n);
    }
    return q == at->len && at->more ? SCAN_UNDECIDED : q;
}

size_t scan_deepseek(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                     size_t max)
{
    return scan_each(text, len, end, pos, ends, max, pretoken_end);
}
