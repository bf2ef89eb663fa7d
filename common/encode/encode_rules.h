/* encode_rules.h - the rules of encoding with a model: how text is split, whether chunks were split in the same way,
 * and which special token separates documents.
 */
#ifndef BPE_ENCODE_ENCODE_RULES_H
#define BPE_ENCODE_ENCODE_RULES_H

#include "base/sys/err.h"
#include "model/model.h"
#include "pretok/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A model, and the options for its use. All borrowed. */
struct encode_rules {
    const struct model *model;
    const char *name;      /* of the model, for messages */
    const char *pattern;   /* the name of its pattern; NULL: it has regexes, or neither is known */
    bool special_is_text;  /* special tokens in text are treated as ordinary text */
    const char *separator; /* the special token that separates documents (--eot-token); NULL: the usual one */
};

/* Sets *r (zeroed) to the rules for splitting text. Strings are borrowed from the model; call rules_free in any case.
 * -1: out of memory, or EX_USAGE: it is not known how the model splits text, or special tokens cannot be text. */
int encode_rules_for_text(const struct encode_rules *er, struct rules *r, struct err *e);

/* Checks that chunks made under the rules r have the model's pattern and special tokens, so that they can be encoded.
 * Writes the ids of these special tokens to id[0 .. r->n_special). -1: EX_DATAERR if they differ; out of memory. */
int encode_rules_match(const struct encode_rules *er, const struct rules *r, uint32_t *id, struct err *e);

/* Sets *id to the separator's id and *place to its index in r's special tokens, r->n_special if it is not among them.
 * Without a separator *place is SIZE_MAX; that is an error (-1, EX_USAGE) if one is needed or was requested by name. */
int encode_rules_separator(const struct encode_rules *er, const struct rules *r, bool needed, uint32_t *id,
                           size_t *place, struct err *e);

/* For text in which special tokens are an error: -1 (EX_DATAERR) if the added token with this id, found in the text, is
 * special. */
int encode_rules_refuse(const struct model *m, uint32_t id, struct err *e);

#endif
