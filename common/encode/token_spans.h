/* token_spans.h - tokens with their places: encodes text like tokenize.h, and says for each token which bytes of the
 * source it was made from. For looking at tokens; encoding alone is faster.
 */
#ifndef BPE_ENCODE_TOKEN_SPANS_H
#define BPE_ENCODE_TOKEN_SPANS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/encode_rules.h"
#include "encode/encoder.h"
#include "encode/ids.h"
#include "model/model.h"
#include "pretok/pretokenize.h"
#include "pretok/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_span {
    uint32_t id;
    bool special;
    /* The bytes of text that became this token, as they were encoded; borrowed during the call. */
    const unsigned char *p;
    size_t n;
    uint64_t begin, end; /* the bytes of the source they were made from: see pretokenizer_origin; with a special token,
                            the white space that belongs to it. Ascending, though a part that was replaced as a whole
                            may belong to several tokens */
};

struct span_part;

struct token_spans {
    struct pretokenizer pretokenizer;
    struct encoder encoder;
    const struct model *model; /* borrowed */
    uint32_t *special_id;      /* owned: by index in the rules */
    bool *is_byte; /* owned: of a model of characters, by id: whether the token is one byte of a character */
    int (*take)(void *ctx, const struct token_span *s, struct err *e); /* -1 with an error, which ends all */
    void *ctx;
    uint64_t offset;        /* set by the caller: the offset in the source of the text that is passed next */
    struct ids ids;         /* wide; tokens not yet passed on */
    struct buf text;        /* what became tokens that are not yet passed on */
    struct span_part *part; /* owned: where it comes from */
    size_t n_parts, cap_parts, parts_passed;
};

/* rules: for splitting text, from encode_rules_for_text of *how. They and the model, which must have an index if it is
 * one of characters, are borrowed until token_spans_close, and *s must not be moved. -1: as encoder_init and
 * pretokenizer_open. */
int token_spans_open(struct token_spans *s, const struct encode_rules *how, const struct rules *rules,
                     enum invalid_policy invalid, int (*take)(void *ctx, const struct token_span *s, struct err *e),
                     void *ctx, struct err *e);
void token_spans_close(struct token_spans *s); /* a zeroed struct is fine */

/* Like pretokenize_text. */
ptrdiff_t token_spans_text(struct token_spans *s, const unsigned char *p, size_t n, enum window_end end, size_t *where,
                           struct err *e);

#endif
