/* show.h - shared by the files of bpe show: show.c reads the text, show_put.c writes its tokens. */
#ifndef BPE_CMD_SHOW_H
#define BPE_CMD_SHOW_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "encode/token_spans.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum show_offsets { OFFSETS_NONE, OFFSETS_TSV, OFFSETS_JSON };

/* How tokens are written, and what was written. */
struct show_style {
    bool color, ids;
    enum show_offsets offsets;
    uint64_t n;   /* tokens so far, which alternate their colors */
    bool in_line; /* a token is before this one in the same line */
};

/* Appends a token, after its border. */
int show_put(struct show_style *s, const struct token_span *t, struct buf *out, struct err *e);

/* Ends the last line, if it has not ended. */
int show_end_line(struct show_style *s, struct buf *out, struct err *e);

/* ---- The same text by two models ---- */

/* A token that is kept; its bytes are in the `text` of its side. */
struct show_token {
    struct token_span span;
    size_t at;
};

struct show_side {
    struct show_token *token; /* owned: those not yet written */
    size_t first, n, cap;     /* those before the first were written */
    size_t taken;             /* from there on, those in the current group */
    struct buf text;          /* their bytes */
    uint64_t n_all;           /* tokens so far */
};

/* The tokens of two models are written in groups, each the shortest stretch of text at whose ends both have a border.
 */
struct show_diff {
    struct show_side side[2];
    uint64_t n_differ; /* groups in which they differ */
};

int show_diff_add(struct show_side *s, const struct token_span *t, struct err *e); /* keeps a copy */

/* Writes all groups that later tokens cannot change, or (last) all. */
int show_diff_put(struct show_diff *d, struct show_style *s, bool last, struct buf *out, struct err *e);
void show_diff_free(struct show_diff *d);

#endif
