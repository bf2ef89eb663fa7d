/* regex.h - the regexes of users and models: their syntax, and their translation for PCRE2.
 *
 * A model's regex is run by PCRE2 here, by Oniguruma in Hugging Face tokenizers and by fancy-regex in tiktoken. These
 * differ in syntax, in the members of classes and in their versions of Unicode. So a regex may only use what means the
 * same in all of them; anything else is an error that names the construct and its offset. This syntax was found by
 * comparison with Hugging Face (tests/oracle/regex_peers.py); bpe-chunk(1), REGEXES, describes it:
 *
 *   regex      = branch { "|" branch }
 *   branch     = [ "(?i)" | "(?-i)", at the start of the regex or of a group ] { item }
 *   item       = ( char | class | group | look | "\A" | "\z" ) [ repetition ]
 *   repetition = ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" | "+" ]   not of an empty item; no {n}?
 *   group      = "(" regex ")" | "(?:" regex ")" | "(?i:" | "(?-i:" | "(?>" | "(?<name>"
 *   look       = "(?=" regex ")" | "(?!" regex ")" | "(?<=" regex ")" | "(?<!" regex ")"   branches of fixed length
 *   class      = "." | "\d" | "\D" | "\s" | "\S" | "\p{X}" | "\P{X}" | "\p{^X}" | set
 *   set        = "[" [ "^" ] member { member } { "&&" member { member } } "]"
 *   member     = char | char "-" char | "\d" | "\D" | "\s" | "\S" | "\p{X}" | "\P{X}" | "\p{^X}" | set
 *   char       = any but a metacharacter | "\" punctuation | "\t" "\n" "\r" "\f" "\a" "\e" | "\xHH", ASCII | "\x{H...}"
 *   X          = a general category: L, Lu, N, Nd, ...; or the script Han
 *
 * Classes are those of Unicode 16: \p{X} by general category, \d is \p{Nd}, \s is White_Space. Under (?i), letters must
 * be ASCII; no two adjacent ones may be the case folding of one character (ss, ff, fi, fl, st), which only Oniguruma
 * matches with them; and a set may not contain another set or &&.
 */
#ifndef BPE_PRETOK_REGEX_H
#define BPE_PRETOK_REGEX_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a regex is translated for PCRE2 (UTF and UCP): a mask. */
enum regex_form {
    REGEX_PLAIN = 0,   /* with PCRE2's own \p{X} and \s: fastest, and exact except for what regex_uses reports */
    REGEX_EXACT = 1,   /* exact if PCRE2 has Unicode 14, 15 or 16: ranges where these differ */
    REGEX_RANGES = 2,  /* exact with any version of PCRE2: only ranges */
    REGEX_COUNTED = 4, /* with callouts, which allow the work of a match to be bounded: see regex_steps */
};

#define REGEX_EVERYWHERE (1U << PATTERN_PCRE | 1U << PATTERN_ONIGURUMA) /* all dialects */

/* What a regex uses. */
struct regex_uses {
    uint32_t categories; /* general categories (unicode/ugc.h) in its \p{X} */
    bool space;          /* \s or \S */
    bool atomic;         /* an atomic or possessive group: PCRE2's JIT (10.42) and interpreter match it differently */
};

/* Appends the regex as PCRE2 must read it, without a NUL. dialects: a mask of 1U << enum pattern_dialect: those in
 * which it must mean the same as in PCRE2. nth: the number of the regex in messages, from 1; 0: it is the only one.
 * *uses may be NULL. -1 with EX_USAGE ("regex, byte 7: ...") or EX_OSERR. */
int regex_put(struct buf *out, struct str regex, unsigned form, unsigned dialects, size_t nth, struct regex_uses *uses,
              struct err *e);

/* Checks that a regex means the same in these dialects. 0, or -1 as above. */
int regex_check(struct str regex, unsigned dialects, size_t nth, struct err *e);

/* Appends the regex of a tokenizer.json, with the constructs that are specific to Oniguruma (\w, \W, \h, \H, \b, \B, ^,
 * $, {,n} and some [:names:]) written out for all engines. Other constructs that not all engines support remain as they
 * are. -1: out of memory. */
int regex_from_oniguruma(struct buf *out, struct str regex, struct err *e);

/* For a regex translated with REGEX_COUNTED: the number of steps that a callout with this number stands for, about one
 * for each character that a repetition goes through. A repetition of characters goes through at most 64 without a
 * callout each time it is entered, and {n,} through the first n. */
unsigned regex_steps(unsigned callout);

#endif
