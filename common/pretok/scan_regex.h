/* scan_regex.h - pretokens by a regex of a user or a model (pretok/regex.h), by PCRE2; no other module uses PCRE2.
 *
 * Matches and the gaps between them are pretokens. Matches are searched as in Hugging Face's Split (behavior
 * "isolated", the regex engine's find_iter): each search starts where the last match ended; an empty match is a
 * boundary, and the search continues one character further.
 *
 * Classes such as \p{L} are those of Unicode 16, whatever version PCRE2 has. The steps that a document may take are
 * limited, by a number that is the same on every machine.
 */
#ifndef BPE_PRETOK_SCAN_REGEX_H
#define BPE_PRETOK_SCAN_REGEX_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stddef.h>
#include <stdint.h>

struct scan_regex;

/* Compiles a regex. NULL with EX_USAGE ("regex, byte 7: missing closing parenthesis"; with nth not 0,
 * "regex 2, byte 7: ...") or EX_OSERR. */
struct scan_regex *scan_regex_open(struct str regex, size_t nth, struct err *e);
void scan_regex_close(struct scan_regex *s); /* NULL is fine */

/* Like scanner_scan with TEXT_DOC: text[0 .. len) is the whole document, so that lookbehind and \b see what is before
 * *pos. max must be at least 2 (a gap and the match after it come together). base is added to offsets in messages.
 */
ptrdiff_t scan_regex(struct scan_regex *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                     size_t max, size_t base, struct err *e);

/* Writes "PCRE2 10.42" (with the actual version) to buf, cut to n bytes with the NUL. Returns buf. */
const char *scan_regex_version(char *buf, size_t n);

#endif
