/* scan_sequence.h - pretokens by several regexes, one after the other (Hugging Face's Sequence of Splits): the first
 * splits the document, each other one splits every piece of the one before as if it were a document of its own, so
 * that its ^, $, lookahead and lookbehind end where the piece does.
 */
#ifndef BPE_PRETOK_SCAN_SEQUENCE_H
#define BPE_PRETOK_SCAN_SEQUENCE_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stddef.h>
#include <stdint.h>

struct scan_sequence;

/* For two regexes or more. NULL with EX_USAGE when one does not compile ("regex 2, byte 7: ..."). */
struct scan_sequence *scan_sequence_open(const struct str *regex, size_t n_regex, struct err *e);
void scan_sequence_close(struct scan_sequence *s); /* NULL is fine */

/* Like scan_regex. A document is best scanned from its start to its end, call by call: if *pos is not where the last
 * call left it, the document is scanned again from its start. */
ptrdiff_t scan_sequence(struct scan_sequence *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                        size_t max, struct err *e);

#endif
