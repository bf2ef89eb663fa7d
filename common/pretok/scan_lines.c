/* scan_lines.c - each line of a text, with its 0x0A, scanned as a document of its own: the pretokens of the pattern
 * superbpe-lines are those of superbpe in each line.
 *
 * So a document may be cut between 0x0A and a letter, or anything else: a pretoken ends there. A line is scanned again
 * from its last known end if the window does not hold all of it.
 */
#include "pretok/scan_internal.h"

#include <string.h>

size_t scan_lines(scan_fn *scan, const unsigned char *text, size_t len, enum window_end end, size_t *pos,
                  uint32_t *ends, size_t max)
{
    size_t n = 0;
    while (n < max && *pos < len) {
        const unsigned char *newline = memchr(text + *pos, '\n', len - *pos);
        const size_t line_end = newline ? (size_t)(newline - text) + 1 : len;
        const size_t got = scan(text, line_end, newline ? TEXT_DOC : end, pos, ends + n, max - n);
        if (got == 0)
            break;
        n += got;
    }
    return n;
}
