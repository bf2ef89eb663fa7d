/* format_hf_config.h - the files beside the vocabulary in a directory for AutoTokenizer.from_pretrained: special tokens
 * with their ids and roles. Read as by Hugging Face transformers 5 (tokenization_utils_base.py):
 *
 *   - tokenizer_config.json: eos_token, pad_token and so on; the names of more special tokens; tokens with their ids,
 *     added_tokens_decoder; the class; split_special_tokens, which must not be true;
 *   - only without added_tokens_decoder: special_tokens_map.json, whose tokens replace those of tokenizer_config.json
 *     (except strings with a role that is not in enum hf_role), and added_tokens.json, a map from tokens to ids.
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

/* A class of tokenizers whose settings are all known. */
struct hf_class {
    const char *name;
    enum pattern_id pattern;
    enum normalizer normalizer;
    const char *role[HF_ROLES]; /* its tokens, unless the files name others */
};

struct hf_config {
    bool found;                   /* at least one of the files exists */
    char *name;                   /* the name of tokenizer_config.json, for messages; owned */
    struct hf_word class;         /* without the suffix "Fast"; "": none */
    const struct hf_class *known; /* NULL: the class is unknown */
    bool add_prefix_space;
    bool has_decoder;               /* ids are from added_tokens_decoder */
    struct hf_tokens with_id;       /* sorted by id */
    struct hf_added role[HF_ROLES]; /* p NULL: none */
    bool said[HF_ROLES];            /* a file sets the role (null: to no token), not the class */
    struct hf_tokens named;         /* tokens with other roles, one per role; p NULL: null */
    struct hf_tokens fixed;         /* tokens with other roles that special_tokens_map.json does not replace */
    struct hf_tokens more;          /* tokens without a role */
    bool has_more;                  /* `more` is final */
};

/* Reads the files in the directory at from->path, or beside the file. Strings live as long as b's model; call
 * hf_config_free in any case. -1: EX_DATAERR, EX_IOERR, EX_OSERR. */
int hf_config_read(struct hf_config *c, struct build *b, const struct model_source *from);
void hf_config_free(struct hf_config *c);

/* Adds all tokens, each once: first tokens with ids, then those with only a role or name. -1: out of memory. */
int hf_config_tokens(const struct hf_config *c, struct hf_tokens *to, struct err *e);

/* Sets the model's eos and pad. Its special tokens must be complete. -1 with EX_DATAERR: not among them. */
int hf_config_roles(const struct hf_config *c, struct model *m, struct err *e);

#endif
