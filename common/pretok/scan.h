/* scan.h - pretokenizing: splits a document into pretokens, before any merging.
 *
 * A scanner gets a window of valid UTF-8 from one document and returns the ends of its pretokens. Every byte belongs to
 * exactly one pretoken. (A regex may leave gaps between its matches: a gap is a pretoken, too, as in Hugging Face's
 * Split with behavior "isolated".) With several regexes, the first splits the document, and each other one splits the
 * pieces of the previous one, each as a document of its own, like Hugging Face's Sequence of Splits. Built-in patterns
 * give the same pretokens as Hugging Face and tiktoken (which differ in cl100k at the end of a document: scan_tail.c).
 * Classes are those of Unicode 16 (uclass.h).
 *
 * A document longer than memory is scanned window by window. With TEXT_MORE, only pretokens that no further text can
 * change are returned; the caller moves the rest to the front, appends more text and calls again.
 */
#ifndef BPE_PRETOK_SCAN_H
#define BPE_PRETOK_SCAN_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_PAD 64                         /* bytes past the window that must be readable (any content) */
#define SCAN_WINDOW_MAX (UINT32_MAX - 4096) /* longest window, in bytes */

/* How a window of text ends: what is known of the text after it. */
enum window_end {
    TEXT_MORE,   /* the document continues with text not read yet: the caller passes the unused rest again, followed
                    by more */
    TEXT_DOC,    /* the document ends here */
    TEXT_LETTER, /* the document continues with a letter (a cut between 0x0A and \p{L}); nothing else is known of the
                    text after it */
};

struct scanner; /* opaque */

/* Opens a scanner for a built-in pattern or, if pattern is NULL, for n_regex >= 1 regexes (pretok/regex.h). split: how
 * each of them splits (pretok/split.h); NULL: SPLIT_ISOLATED. The strings are not used after this call. NULL with
 * EX_USAGE if a regex has an unsupported construct; the message has its byte offset and, if there are several regexes,
 * the number of the regex. */
struct scanner *scanner_open(const struct pattern *pattern, const struct str *regex, size_t n_regex, struct err *e);
struct scanner *scanner_open_split(const struct str *regex, const unsigned char *split, size_t n_regex, struct err *e);
void scanner_close(struct scanner *s); /* NULL is fine */

/* Opens a scanner that splits what is one pretoken into pieces that become the same tokens (char_pairs.h); pairs is
 * borrowed. NULL: out of memory. */
struct char_pairs;
struct scanner *scanner_open_pairs(const struct char_pairs *pairs, struct err *e);

/* Whether the scanner can use windows that end with TEXT_MORE. A user's regex cannot, because it may look ahead any
 * distance: such a scanner returns nothing until the window ends with TEXT_DOC, so the caller need not try. */
bool scanner_streams(const struct scanner *s);

/* Scans text[*pos .. len), valid UTF-8 that starts at a character; text[len .. len + SCAN_PAD) must be readable. Writes
 * at most max ends of pretokens, as offsets from `text`, to ends[] and moves *pos to the last of them. Returns their
 * number; 0 means that *pos == len or, with TEXT_MORE, that the rest needs more text. Fewer than max does not mean the
 * end: call until 0. For a user's regex, text[0] must be the start of the document (\A and lookbehind see it) and max
 * at least 2; several regexes are fast only if *pos is where the last call left it. -1 with EX_DATAERR if a user's
 * regex takes too many steps; the caller adds the name of the input to the message. */
ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum window_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e);

/* For each end that the last scanner_scan returned: whether its piece is dropped instead of being a pretoken
 * (SPLIT_GAPS, SPLIT_MATCHES). NULL: this scanner drops nothing. */
const unsigned char *scanner_dropped(const struct scanner *s);

/* Writes the versions that pretokens depend on besides this code, such as "Unicode 16.0.0; PCRE2 10.42", to buf of n
 * bytes. Returns buf. */
const char *scanner_versions(char *buf, size_t n);

#endif
