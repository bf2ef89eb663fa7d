/* format_hf_config.h - what a directory as AutoTokenizer.from_pretrained has it says beside a vocabulary: special
 * tokens with their ids and roles. Read as Hugging Face transformers 5 does (tokenization_utils_base.py):
 *
 *   - tokenizer_config.json: eos_token, pad_token and so on; the names of more special tokens; tokens with their ids,
 *     added_tokens_decoder; the class; split_special_tokens, which must not be true;
 *   - only without added_tokens_decoder: special_tokens_map.json, whose tokens replace those (but no string whose role
 *     is none of enum hf_role), and added_tokens.json, a map from tokens to ids.
 */
#ifndef BPE_MODEL_FORMAT_HF_CONFIG_H
#define BPE_MODEL_FORMAT_HF_CONFIG_H

#include "base/sys/err.h"
#include "model/format_hf_internal.h"
#include "model/formats.h"
#include "model/model.h"
#include "model/model_build.h"
#include "pretok/pattern.h"
#include "pretok/rules.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order in which transformers adds them. */
enum hf_role { HF_BOS, HF_EOS, HF_UNK, HF_SEP, HF_PAD, HF_CLS, HF_MASK, HF_ROLES };

/* A class of tokenizers of which everything is known. */
struct hf_class {
    const char *name;
    enum pattern_id pattern;
    enum normalizer normalizer;
    const char *role[HF_ROLES]; /* what it has unless the files say something else */
};

struct hf_config {
    bool found;                   /* there is one of the files */
    char *name;                   /* of tokenizer_config.json, for messages; owned */
    struct hf_word class;         /* without "Fast" at its end; "": none */
    const struct hf_class *known; /* NULL: the class is none of those that are known */
    bool add_prefix_space;
    bool has_decoder;               /* ids are from added_tokens_decoder */
    struct hf_tokens with_id;       /* sorted by id */
    struct hf_added role[HF_ROLES]; /* p NULL: none */
    bool said[HF_ROLES];            /* by a file (perhaps that there is none), and not by the class */
    struct hf_tokens named;         /* tokens with other roles, each role once; p NULL: null */
    struct hf_tokens fixed;         /* those of them that special_tokens_map.json does not replace */
    struct hf_tokens more;          /* tokens without a role */
    bool has_more;                  /* `more` is final */
};

/* Reads the files in the directory, or beside the file, at from->path. Strings live as long as b's model; call
 * hf_config_free in any case. -1: EX_DATAERR, EX_IOERR, EX_OSERR. */
int hf_config_read(struct hf_config *c, struct build *b, const struct model_source *from);
void hf_config_free(struct hf_config *c);

/* Adds all tokens, each once: those with ids, then those that only have roles or names. -1: out of memory. */
int hf_config_tokens(const struct hf_config *c, struct hf_tokens *to, struct err *e);

/* Sets the model's eos and pad, among its special tokens, which are complete. -1 with EX_DATAERR: not there. */
int hf_config_roles(const struct hf_config *c, struct model *m, struct err *e);

#endif
