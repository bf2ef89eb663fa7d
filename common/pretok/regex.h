/* regex.h - the regexes of users and models: what they may consist of, and the same written for PCRE2.
 *
 * The regex of a model is read by PCRE2 here, by Oniguruma in Hugging Face tokenizers and by fancy-regex in tiktoken,
 * which differ in syntax, in what a class holds and in their versions of Unicode. So a regex may have only what means
 * the same in all of them; anything else is an error that names it and its place. What that is, is found by comparing
 * with Hugging Face (tests/oracle/regex_peers.py), and described in bpe-chunk(1), REGEXES:
 *
 *   regex      = branch { "|" branch }
 *   branch     = [ "(?i)" | "(?-i)", at the start of the regex or of a group ] { item }
 *   item       = ( char | class | group | look | "\A" | "\z" ) [ repetition ]
 *   repetition = ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" | "+" ]   of what is not empty; {n}? is not
 *   group      = "(" regex ")" | "(?:" regex ")" | "(?i:" | "(?-i:" | "(?>" | "(?<name>"
 *   look       = "(?=" regex ")" | "(?!" regex ")" | "(?<=" regex ")" | "(?<!" regex ")"   branches of fixed length
 *   class      = "." | "\d" | "\D" | "\s" | "\S" | "\p{X}" | "\P{X}" | "\p{^X}" | set
 *   set        = "[" [ "^" ] member { member } { "&&" member { member } } "]"
 *   member     = char | char "-" char | "\d" | "\D" | "\s" | "\S" | "\p{X}" | "\P{X}" | "\p{^X}" | set
 *   char       = any but a metacharacter | "\" punctuation | "\t" "\n" "\r" "\f" "\a" "\e" | "\xHH", ASCII | "\x{H...}"
 *   X          = a general category: L, Lu, N, Nd, ...; or the script Han
 *
 * Classes are those of Unicode 16: \p{X} by general category, \d is \p{Nd}, \s is White_Space. Under (?i) letters are
 * ASCII, and no two that follow each other are the folding of one character (ss, ff, fi, fl, st): Oniguruma alone lets
 * these match it. No set has another in it, or a &&, under (?i).
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

/* How a regex is written for PCRE2 (UTF and UCP): a mask. */
enum regex_form {
    REGEX_PLAIN =
        0, /* by PCRE2's own \p{X} and \s: the fastest, and exact but for the characters that regex_uses tells */
    REGEX_EXACT = 1,   /* exact, if PCRE2 has Unicode 14, 15 or 16: where these differ, by ranges */
    REGEX_RANGES = 2,  /* exact, whatever version PCRE2 has: by ranges alone */
    REGEX_COUNTED = 4, /* with callouts, from which the work of a match can be bounded: see regex_steps */
};

#define REGEX_EVERYWHERE (1U << PATTERN_PCRE | 1U << PATTERN_ONIGURUMA) /* all dialects */

/* What a regex has. */
struct regex_uses {
    uint32_t categories; /* general categories (unicode/ugc.h): those in a \p{X} */
    bool space;          /* \s or \S */
    bool atomic; /* an atomic group, or a possessive one, in which PCRE2's JIT (of 10.42) finds other matches than
                            its interpreter */
};

/* Appends the regex as PCRE2 must read it, without a NUL. dialects: a mask of 1U << enum pattern_dialect, in which it
 * must mean the same, beside PCRE2's. nth: the number of the regex for messages, from 1; 0: there is only one. *uses
 * may be NULL. -1 with EX_USAGE ("regex, byte 7: ...") or EX_OSERR. */
int regex_put(struct buf *out, struct str regex, unsigned form, unsigned dialects, size_t nth, struct regex_uses *uses,
              struct err *e);

/* Whether a regex is one that means the same in these dialects. 0, or -1 as above. */
int regex_check(struct str regex, unsigned dialects, size_t nth, struct err *e);

/* Appends the regex of a tokenizer.json with what only Oniguruma reads so, \w, \W, \h, \H, \b, \B, ^, $, {,n} and
 * some [:names:], written out for all engines. What else is not for all of them stays as it is. -1: out of memory. */
int regex_from_oniguruma(struct buf *out, struct str regex, struct err *e);

/* Of a regex in the form REGEX_COUNTED: characters that a repetition goes through, or the like, for one callout of this
 * number. Between two callouts it goes through fewer than 64 each time that it is begun. */
unsigned regex_steps(unsigned callout);

#endif
