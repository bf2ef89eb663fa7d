/* scan.h - pretokenizing: where a document splits into pretokens, before any merging.
 *
 * A scanner gets a window of valid UTF-8 from one document and gives the ends of its pretokens. Every byte belongs to
 * exactly one pretoken. (A regex given by a user may leave gaps between its matches: a gap is a pretoken too, as in
 * Hugging Face's Split with behavior "isolated".) Built-in patterns equal Hugging Face and
 * tiktoken (one exception, at the end of a document: scan_cl100k.c); classes are Unicode 16 (uclass.h).
 *
 * A document longer than memory is scanned window by window: with SCAN_MORE only pretokens that no further text can
 * change are given; the caller moves what is left to the front, appends more text and calls again.
 */
#ifndef BPE_BPE_SCAN_H
#define BPE_BPE_SCAN_H

#include "sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_end {
    SCAN_MORE,   /* the document goes on, with text the scanner has not seen */
    SCAN_DOC,    /* the document ends here */
    SCAN_LETTER, /* the document goes on with a letter (a cut between 0x0A and \p{L}): that much is known of what
                    follows */
};

#define SCAN_PAD 64                         /* bytes past the window that must be readable (any content) */
#define SCAN_MAX_WINDOW (UINT32_MAX - 4096) /* longest window, in bytes */

/* A pattern by name. */
struct pattern {
    const char *name; /* "gpt2", "cl100k", "bytes" */
    const char
        *regex; /* the regex that defines it, as Hugging Face tokenizers reads it; NULL for bytes (no split at all) */
    bool cut_inside; /* a document may be cut between 0x0A and a letter (with SCAN_LETTER for the left part) */
};

/* The pattern of that name, or NULL. Static. */
const struct pattern *pattern_find(const char *name);

/* The i-th built-in pattern, or NULL past the last: for messages that list them. */
const struct pattern *pattern_at(size_t i);

struct scanner; /* opaque */

/* A scanner for a built-in pattern, or (pattern NULL) for a PCRE2 regex of regex_len bytes (UTF and UCP, JIT).
 * NULL with EX_USAGE when the regex does not compile; the message has PCRE2's reason and the byte offset in the regex.
 */
struct scanner *scanner_open(const struct pattern *pattern, const char *regex, size_t regex_len, struct err *e);
void scanner_close(struct scanner *s); /* NULL is fine */

/* Whether the scanner makes use of windows that end with SCAN_MORE. A regex by a user does not (it may look ahead as
 * far as it likes): such a scanner gives nothing until the window ends with SCAN_DOC, so the caller need not try. */
bool scanner_streams(const struct scanner *s);

/* Scans text[*pos .. len), valid UTF-8 that starts at a character; text[len .. len + SCAN_PAD) must be readable. Puts
 * at most max ends of pretokens, offsets from `text`, into ends[] and moves *pos to the last of them. Returns how many;
 * 0 means that *pos == len or that (SCAN_MORE) the rest needs more text. Fewer than max does not mean that it is done:
 * call until 0. For a regex by a user text[0] must be the start of the document (^ and lookbehind see it) and max at
 * least 2. -1 with EX_DATAERR when a user's regex exceeds its match limit (the message has no input name: the caller
 * adds it). */
ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum scan_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e);

/* Puts "PROGRAM (Unicode 16.0.0; -e: PCRE2 10.42, Unicode 14.0.0)" and a newline, the versions as they are, into buf of
 * n bytes; for --version. Returns buf. */
const char *scanner_version(char *buf, size_t n, const char *program);

#endif
