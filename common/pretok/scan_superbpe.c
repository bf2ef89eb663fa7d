/* scan_superbpe.c - the plain scanner, one character at a time, for the second stage of SuperBPE (Liu et al.,
 * "SuperBPE: Space Travel for Language Models", 2025), where a pretoken may hold many words.
 *
 *   \p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)
 *
 * Most text is between matches: such a gap is a pretoken, too, and ends where the next match begins. Three kinds of
 * matches begin at a character that decides which one it can be:
 *   - a number: it and up to two more. Nothing else matches numbers, so they count from the start of their run.
 *   - another character that is neither a letter nor white space, if a second one follows: all that follow, then CR,
 *     LF and slashes. The slashes may be the beginning of a run of others, whose rest is then searched like any text.
 *   - 0x20: before two others, it belongs to them. Otherwise a run of 0x20 is a match, without its last character if no
 *     white space follows. A single 0x20 before such a character is no match.
 *
 * Why streaming is exact: a search that begins where a match or a gap ended sees nothing before that place, as the
 * regex has no lookbehind. An end is returned only if a character inside the window follows what decides it: for a
 * match, the character that ends it; for a gap, the match that follows it. So a gap is as long as the text has no
 * match, and is searched again from its start with each new window. The caller doubles its windows as long as nothing
 * is returned, so all searches together read at most a small multiple of the text.
 *
 * Why there is no cut inside a document: a gap continues from 0x0A to a letter. A match certainly ends between them
 * only after two others and newlines; but there a special token may end, whose characters are not others of this text.
 * TEXT_LETTER is obeyed all the same: it says that no white space follows.
 */
#include "pretok/scan_internal.h"
#include "unicode/uclass.h"

#define NO_MATCH SIZE_MAX

/* The end of the match that begins with the others at p, NO_MATCH, or SCAN_UNDECIDED. */
static size_t others_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    size_t n;
    (void)uclass_at(text + p, &n);
    p += n;
    if (p == len)
        return end == TEXT_MORE ? SCAN_UNDECIDED : NO_MATCH;
    if (uclass_at(text + p, &n) != UCLASS_OTHER)
        return NO_MATCH;
    p = uclass_run(text, p + n, len, UCLASS_OTHER);
    while (p < len && (is_newline(text[p]) || text[p] == '/'))
        p++;
    return p == len && end == TEXT_MORE ? SCAN_UNDECIDED : p;
}

/* The same for the spaces at p. */
static size_t spaces_match_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    size_t q = p + 1, n;
    while (q < len && text[q] == ' ')
        q++;
    if (q == len && end == TEXT_MORE)
        return SCAN_UNDECIDED;
    enum uclass next = q < len ? uclass_at(text + q, &n) : end == TEXT_DOC ? UCLASS_SPACE : UCLASS_LETTER;
    if (next == UCLASS_SPACE)
        return q;
    if (q > p + 1)
        return q - 1;
    return next == UCLASS_OTHER ? others_end(text, q, len, end) : NO_MATCH;
}

/* The same for any character at p. *n: its length. */
static size_t match_end(const unsigned char *text, size_t p, size_t len, enum window_end end, size_t *n)
{
    enum uclass class = uclass_at(text + p, n);
    if (class == UCLASS_NUMBER)
        return numbers_end(text, p, len, end, 3);
    if (class == UCLASS_OTHER)
        return others_end(text, p, len, end);
    return text[p] == ' ' ? spaces_match_end(text, p, len, end) : NO_MATCH;
}

static size_t pretoken_end(const unsigned char *text, size_t p, size_t len, enum window_end end)
{
    size_t q = p, to, n;
    while ((to = match_end(text, q, len, end, &n)) == NO_MATCH) {
        q += n;
        if (q == len)
            return end == TEXT_MORE ? SCAN_UNDECIDED : len;
    }
    return to == SCAN_UNDECIDED || q == p ? to : q;
}

size_t scan_superbpe(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                     size_t max)
{
    return scan_each(text, len, end, pos, ends, max, pretoken_end);
}
