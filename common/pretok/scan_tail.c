/* scan_tail.c - tiktoken's form of cl100k: the white space at the end of a document is not split.
 *
 * tiktoken's regex tries \s++$ before \s*[\r\n]. If only white space is left at the start of a pretoken, the rest of
 * the document is one pretoken: no alternative before \s++$ can match there, as each needs a character that is not a
 * space. Anywhere else, \s++$ does not match, and the pretokens are those of the form without it. So the first end of
 * that form in the final white space is kept (or the start of this white space, if a pretoken ends there), and the rest
 * is one pretoken.
 *
 * The length of the final white space need not be stored: an end is in it if only white space follows. Few pretokens
 * begin or end inside a run of white space, so each run is scanned only a few times.
 *
 * With TEXT_MORE, the window may end in the final white space of the document, so ends in it are held back, except the
 * first. With TEXT_LETTER, the document does not end here, and all of its final white space is after the cut.
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
