/* rules_options.h - the options that determine the pretokens (struct rules): the pattern and the special tokens.
 *
 *     static const struct option_row rows[] = {
 *         RULES_OPTIONS(struct settings, rules, check_special),
 *         {0},
 *     };
 */
#ifndef BPE_USAGE_RULES_OPTIONS_H
#define BPE_USAGE_RULES_OPTIONS_H

#include "base/cli/options.h"
#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/pattern.h"
#include "pretok/rules.h"

#include <stdbool.h>

/* The special token if no option names one. */
#define RULES_SPECIAL "<|endoftext|>"

struct rules_options { /* zeroed: no option was given */
    const char *pattern, *regex, *model;
    struct option_texts special;
    bool no_special;
    unsigned normalizer; /* of enum normalizer */
};

/* Rows of a table of options. o: a field of the struct `owner`, of type struct rules_options. check_special: a function
 * for struct option_row that calls shared_options_special for o.special. */
/* clang-format off */
#define RULES_OPTIONS(owner, o, check_special) \
    {'p', "pattern", "NAME", \
     "how text splits into pretokens: gpt2 (default), cl100k (llama3),\n" \
     "cl100k-tiktoken, nanochat, qwen2 (qwen3), o200k, deepseek-v3, tekken,\n" \
     "qwen3.5, kimi-k2 (kimi), gpt2-digits (starcoder2, command-r), superbpe,\n" \
     "superbpe-lines, bytes", \
     OPTION_TO(TEXT, owner, o.pattern), .get_words = pattern_names}, \
    {'e', "regex", "REGEX", "split text by this regex instead", OPTION_TO(TEXT, owner, o.regex)}, \
    {'m', "model", "MODEL", "use the pattern and the special tokens of a model, for bpe-encode", \
     OPTION_TO(TEXT, owner, o.model)}, \
    {'s', "special-token", "TOKEN", \
     "a special token, which ends a document (default <|endoftext|>);\n" \
     "repeat for several", \
     OPTION_TO(TEXTS, owner, o.special), .check = (check_special)}, \
    {0, "no-special", NULL, "no special token: each file is one document", \
     OPTION_TO(FLAG, owner, o.no_special)}, \
    {0, "normalize", "FORM", "normalize the text between special tokens first: none (default) or nfc", \
     OPTION_TO(CHOICE, owner, o.normalizer), .words = normalizer_names}
/* clang-format on */

/* The name of an option that was given; NULL: none. Call it before rules_options_check. */
const char *rules_options_given(const struct rules_options *o);

/* Checks that these options can be combined, and sets the defaults. -1 with EX_USAGE. */
int rules_options_check(struct rules_options *o, struct err *e);

/* Sets *r (zeroed) to the rules, after rules_options_check. Reads the model, if one is given, into *m (zeroed), without
 * its vocabulary. Strings are borrowed from both; call rules_free and model_free in any case. -1: an error of
 * model_read; EX_USAGE; out of memory. */
int rules_options_get(const struct rules_options *o, struct model *m, struct rules *r, struct err *e);

#endif
