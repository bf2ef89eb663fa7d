/* scan_tail.c - cl100k as tiktoken has it: the white space that a document ends with is not split.
 *
 * tiktoken's regex tries \s++$ before \s*[\r\n]. At a pretoken's start after which there is only white space up to the
 * document's end, the rest is one pretoken; no alternative before \s++$ can match there, as each needs a character
 * that is no space. Anywhere else \s++$ does not match, and the pretokens are those of the form without it. So: of
 * their ends, the first one in the white space at the document's end is kept (or the start of that white space, if a
 * pretoken ends there), and the rest is one pretoken.
 *
 * The length of that white space need not be remembered: a pretoken's end is in it if only white space follows up to
 * the document's end. Few pretokens begin or end inside a run of white space, so each run is looked at only a few
 * times.
 *
 * A window that continues (TEXT_MORE) may end in the white space that the document ends with: ends in it are held
 * back, except the first. Before a letter (TEXT_LETTER) the document does not end; and a cut there leaves all the
 * white space of its end in the part after the cut.
 */
#include "pretok/scan_internal.h"
#include "unicode/uclass.h"

static bool all_white(const unsigned char *text, size_t from, size_t to)
{
    return uclass_run(text, from, to, UCLASS_SPACE) == to;
}

size_t scan_tail(scan_fn *scan, const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                 size_t max)
{
    if (end == TEXT_LETTER)
        return scan(text, len, end, pos, ends, max);
    if (*pos == len || max == 0)
        return 0;
    size_t from = *pos;
    if (all_white(text, from, len)) {
        if (end == TEXT_MORE)
            return 0;
        ends[0] = (uint32_t)len;
        *pos = len;
        return 1;
    }
    size_t n = scan(text, len, end, pos, ends, max);
    if (n == 0 || !all_white(text, ends[n - 1], len))
        return n;
    while (n > 1 && all_white(text, ends[n - 2], ends[n - 1]))
        n--;
    if (end == TEXT_DOC && n < max && ends[n - 1] < len)
        ends[n++] = (uint32_t)len;
    *pos = ends[n - 1];
    return n;
}
