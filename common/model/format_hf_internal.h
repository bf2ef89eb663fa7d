/* format_hf_internal.h - the parts of tokenizer.json, shared by the format_hf_*.c. */
#ifndef BPE_MODEL_FORMAT_HF_INTERNAL_H
#define BPE_MODEL_FORMAT_HF_INTERNAL_H

#include "model/formats.h"
#include "model/model_build.h"
#include "json/json_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HF_NEXT_ID UINT64_MAX

/* An added token. p lives as long as the model. */
struct hf_added {
    const unsigned char *p;
    size_t len;
    uint64_t id;    /* HF_NEXT_ID: not in the file; it gets the id that Hugging Face assigns */
    unsigned flags; /* of enum special_flag, without SPECIAL_NORMALIZED */
    bool normalized, special;
    struct str key; /* in files beside a vocabulary: the name of its role, if not in enum hf_role; lives as long as p */
};

/* The owner frees p. */
struct hf_tokens {
    struct hf_added *p;
    size_t n, cap;
};

/* A short string, for messages and comparisons. */
struct hf_word {
    char s[64];
};

/* The steps of a decoder come in this order, each at most once. */
enum hf_decoder_stage {
    HF_DECODES_NOTHING,
    HF_DECODES_SPACES,
    HF_DECODES_BYTES,
    HF_DECODES_FUSED,
    HF_DECODES_STRIPPED
};

/* How spaces become U+2581 and one is put before text: by normalizers, or by the pre_tokenizer Metaspace. */
struct hf_metaspace {
    bool replace;         /* Replace " " by U+2581 */
    bool prepend;         /* Prepend of U+2581 */
    bool space_prepended; /* Prepend of a space, before any Replace */
    bool pretokenizer;    /* Metaspace, with the settings below */
    bool split;
    struct hf_word scheme;
};

struct hf_reader {
    struct json_reader r;
    struct build b;
    struct model *m; /* borrowed */
    struct hf_tokens added;
    size_t n_vocab;  /* keys of the vocabulary */
    bool byte_level; /* has a pre_tokenizer ByteLevel */
    bool ordered;    /* normalizer or pre_tokenizer came before the model, so its spelling is known */
    struct hf_metaspace metaspace;
    struct hf_word unk_token;
    bool has_decoder;
    enum hf_decoder_stage decoder_stage;
    struct hf_word decoder_other; /* a step of the decoder that is not supported for characters */
    bool rules_only;              /* the vocabulary and the merges are skipped */
};

/* Reads a string, truncated if it is long, or null, which gives "". */
static inline int hf_read_word(struct json_reader *r, struct hf_word *w)
{
    struct str s;
    int null = json_read_null(r);
    w->s[0] = '\0';
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_string(r, &s))
        return -1;
    if (s.len && memchr(s.p, '\0', s.len))
        return json_read_fail(r, "U+0000 in this string: not supported");
    size_t n = s.len < sizeof w->s ? s.len : sizeof w->s - 1;
    memcpy(w->s, s.p, n);
    w->s[n] = '\0';
    return 0;
}

/* Reads true or false, or null, which leaves *v unchanged. 1: null; -1: error. */
static inline int hf_read_flag(struct json_reader *r, bool *v)
{
    int null = json_read_null(r);
    return null ? null : json_read_bool(r, v);
}

/* Each reads the value of one key, which must come next. -1: error. */
int hf_read_pre_tokenizer(struct hf_reader *in); /* format_hf_pretok.c; not null */
int hf_read_added_tokens(struct hf_reader *in);  /* format_hf_added.c */
int hf_read_model(struct hf_reader *in);         /* format_hf_model.c */

/* Reads an added token, which is an object. In tokenizer.json all members are required; in other files (in_config)
 * there is no id, flags have defaults, and the text may be empty. -1: error. */
int hf_read_added(struct json_reader *r, struct build *b, struct hf_added *a, bool in_config);
/* Reads its text, which is a string; sets p and len. -1: error. */
int hf_read_content(struct json_reader *r, struct build *b, struct hf_added *a);
int hf_tokens_add(struct hf_tokens *to, struct hf_added a, struct err *e);

/* format_hf_characters.c, for models of characters. */
struct hf_normalizer {
    struct hf_word type, prepend, content;
    struct buf pattern; /* owned; a regex as hf_read_pattern gives it */
};
int hf_take_normalizer(struct hf_reader *in, const struct hf_normalizer *n); /* one step: Prepend or Replace */
int hf_read_decoder(struct hf_reader *in);                                   /* not null */
int hf_take_characters(struct hf_reader *in); /* after the model was read: how unknown characters are encoded */
int hf_take_decoding(struct hf_reader *in);   /* after everything was read */

/* format_hf_pretok.c: reads {"Regex": "..."} or {"String": "..."} as a regex. */
int hf_read_pattern(struct json_reader *r, struct buf *regex);
/* Whether such a regex matches this string, of one character, and nothing else. */
bool hf_pattern_is(const struct buf *regex, const char *s);

/* Adds the added tokens to the model, after everything was read; sets the ids that are HF_NEXT_ID. */
int hf_take_added(struct hf_reader *in);

/* format_hf_write.c */
int hf_write_tokenizer(struct buf *out, const struct model *m, struct err *e); /* appends tokenizer.json */

#endif
