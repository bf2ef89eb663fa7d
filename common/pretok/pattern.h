/* pattern.h - the built-in patterns as data: their names, and the regexes that define them.
 *
 * A pattern defines where a document splits into pretokens. The scanner chooses the code that does it (pretok/scan.c
 * has a row for each pattern). Built-in patterns give the same pretokens as Hugging Face and tiktoken. These two differ
 * in cl100k at the end of a document, so there are two versions of it.
 */
#ifndef BPE_PRETOK_PATTERN_H
#define BPE_PRETOK_PATTERN_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>

enum pattern_id {
    PATTERN_GPT2,
    PATTERN_CL100K,
    PATTERN_CL100K_TIKTOKEN,
    PATTERN_NANOCHAT,
    PATTERN_QWEN2,
    PATTERN_O200K,
    PATTERN_DEEPSEEK_V3,
    PATTERN_TEKKEN,
    PATTERN_QWEN35,
    PATTERN_KIMI_K2,
    PATTERN_GPT2_DIGITS,
    PATTERN_SUPERBPE,
    PATTERN_SUPERBPE_LINES,
    PATTERN_BYTES, /* no split at all */
    PATTERN_N,
};

/* A digit according to Hugging Face's Digits, as a regex: Rust's char::is_numeric, which follows Unicode 17 in
 * tokenizers 0.23.3. Unicode 17 has 13 more numbers than \p{N} of Unicode 16. */
#define PATTERN_DIGIT "[\\p{N}\\x{11DE0}-\\x{11DE9}\\x{16FF4}-\\x{16FF6}]"

enum { PATTERN_ALIASES = 2 };

struct pattern {
    enum pattern_id id;
    const char *name;                   /* "gpt2" */
    const char *alias[PATTERN_ALIASES]; /* other names that pattern_find knows; NULL after the last */
    const struct str *regex;            /* its definition, in the syntax of Hugging Face tokenizers (and of PCRE2,
                                           except kimi-k2); each splits the pieces of the previous one. Each ends
                                           with a NUL, which len does not count */
    size_t n_regex;                     /* 0 for bytes */
    bool cut_inside;                    /* a document may be cut between 0x0A and a letter (scan.h: TEXT_LETTER) */
    bool gaps;                          /* text between the matches is a pretoken, too; else its matches leave none */
};

/* The regex engine a regex was written for. Engines differ in the meaning of a count followed by +, as in x{1,3}+. */
enum pattern_dialect {
    PATTERN_PCRE,      /* PCRE2, and tiktoken's fancy-regex: the count is possessive */
    PATTERN_ONIGURUMA, /* Hugging Face's tokenizer.json: x{1,3} is repeated */
};

/* The i-th built-in pattern, or NULL past the last. Static. */
const struct pattern *pattern_at(size_t i);

/* All names and aliases; ends with NULL. Static. */
const char *const *pattern_names(void);

/* The pattern of that name (or alias), or NULL. Records must use its `name`. */
const struct pattern *pattern_find(struct str name);

/* The same. NULL with EX_USAGE if the name is unknown; the message lists the known ones. */
const struct pattern *pattern_named(const char *name, struct err *e);

/* The built-in pattern that these n regexes define when applied one after the other, or NULL. A literal CR or LF in a
 * regex is the same as \r or \n. */
const struct pattern *pattern_by_regex(const struct str *regex, size_t n, enum pattern_dialect dialect);

/* Another spelling of a pattern's regex that pattern_by_regex knows. */
struct pattern_variant {
    enum pattern_id pattern;
    const char *regex;
    bool pcre_only; /* it means something else in Oniguruma */
};

/* The i-th variant, or NULL past the last. For tests: each must give the pattern's pretokens. */
const struct pattern_variant *pattern_variant_at(size_t i);

#endif
