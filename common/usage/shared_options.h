/* shared_options.h - options that several programs share. */
#ifndef BPE_USAGE_SHARED_OPTIONS_H
#define BPE_USAGE_SHARED_OPTIONS_H

#include "base/cli/options.h"
#include "pretok/pattern.h"

/* -d: the width of ids. */
enum model_dtype { DTYPE_BY_VOCABULARY, DTYPE_2_BYTES, DTYPE_4_BYTES };

/* Rows of a table of options for fields of the struct `owner`. */
/* clang-format off */
#define MODEL_OPTION(owner, field) \
    {'m', "model", "MODEL", "tokenizer.json, a directory with vocab.json and merges.txt, or .tiktoken", \
     OPTION_TO(TEXT, owner, field)}
#define DTYPE_OPTION(owner, field) \
    {'d', "dtype", "TYPE", "u16 (default if all ids fit) or u32", \
     OPTION_TO(CHOICE, owner, field), .words = shared_options_dtypes, .first = DTYPE_2_BYTES}
#define MODELS_RULES_OPTIONS(owner, the_pattern, the_special) \
    {'p', "pattern", "NAME", "the pattern, for .tiktoken files without PATH.json beside them", \
     OPTION_TO(TEXT, owner, the_pattern), .get_words = pattern_names}, \
    {'s', "special-token", "TOKEN[=ID]", "a special token of such models; repeat for several", \
     OPTION_TO(TEXTS, owner, the_special)}
#define OUTPUT_OPTION(owner, field) \
    {'o', "output", "PATH", "write to PATH (default standard output)", OPTION_TO(OUTPUT, owner, field)}
/* clang-format on */

extern const char *const shared_options_dtypes[], *const shared_options_merges[]; /* the values of -d and of --merges */

/* The width of an id in bytes. by_vocabulary: the width that the vocabulary needs. */
unsigned shared_options_width(enum model_dtype d, unsigned by_vocabulary);

/* Checks the special token that was added last to the list of an option (`-s`): it must be UTF-8 text. Removes it if it
 * is a repetition. -1 with EX_USAGE. */
int shared_options_special(struct option_texts *list, const char *option, struct err *e);

/* Checks special tokens for training: none may be a list of tokens, or have an id (`<|pad|>=5`). -1 with EX_USAGE. */
int shared_options_new_special(const struct option_texts *list, const char *option, struct err *e);

/* Checks that a model (-m) was given. -1 with EX_USAGE. */
int shared_options_model(const char *model, struct err *e);

/* Checks that standard input is not both the model and one of n other inputs, which messages call `what`. -1 with
 * EX_USAGE. */
int shared_options_stdin(const char *model, char *const *files, int n, const char *what, struct err *e);

#endif
