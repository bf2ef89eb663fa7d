/* tokenize.h - encodes text to ids: pretokens go from a pretokenizer to an encoder, special tokens become ids in their
 * positions, and each document gets one separator.
 *
 * A document ends at a separator and at the end of its source. Empty text between two of these is not a document,
 * unless it is an explicit one (JSON Lines).
 */
#ifndef BPE_ENCODE_TOKENIZE_H
#define BPE_ENCODE_TOKENIZE_H

#include "base/sys/buf.h"
#include "encode/encoder.h"
#include "input/doc_reader.h"
#include "pretok/pretokenize.h"
#include "wire/payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tokenize_eot {
    EOT_NONE,   /* separators are treated as other special tokens */
    EOT_BEFORE, /* one before each document, and no others */
    EOT_AFTER,  /* one after each document, and no others */
};

struct tokenize {
    struct pretokenizer pretokenizer; /* used by tokenize_text */
    struct encoder *encoder;          /* borrowed */
    uint32_t *special_id;             /* the ids of the special tokens, in the order given */
    size_t separator; /* index of the special token that ends a document; n_special: one that is not recognized in text;
                         SIZE_MAX: no token ends a document or, with EOT_NONE, every special token does */
    uint32_t eot_id;  /* the id that is written as the separator */
    enum tokenize_eot eot;
    const struct model *refuse; /* the model whose special tokens are an error; NULL: they are not */
    bool documents;             /* each text, even an empty one, is a document */
    bool decoded;               /* the text passed differs from the source's bytes (JSON strings) */
    bool in_document;           /* inside a document that has begun and not ended */
    bool some;                  /* a document has begun in this text */
    struct ids ids;             /* the ids so far; flush consumes them and sets n to 0 */
    struct document_mark *mark; /* documents that ended; n_ids: where each ends in ids; flush sets n_marks to 0 */
    size_t n_marks, cap_marks;
    struct buf id_text; /* their document ids, one after the other; flush sets the marks' pointers and empties it */
    /* Offsets in the source. */
    const struct text_place *place; /* of the current text; borrowed */
    uint64_t used;                  /* bytes of it used so far */
    uint64_t begin;                 /* where the current document begins, or may begin */
    uint64_t after, line;           /* the end of the previous document, or the piece's beginning; and its line */
    int (*flush)(void *ctx, struct err *e); /* called when there are many ids or documents; see above */
    void *ctx;
};

/* Opens t->pretokenizer. Set all other fields before; t must not be moved. Arguments as in pretokenizer_open. */
int tokenize_open(struct tokenize *t, const struct rules *rules, enum invalid_policy invalid, struct err *e);
void tokenize_close(struct tokenize *t); /* a zeroed struct is fine; the encoder is not closed */

/* Begins a piece whose text begins at this offset, inside a document or at the start of one. */
void tokenize_begin(struct tokenize *t, bool inside, uint64_t offset);

/* Like pretokenize_text; p[0 .. n) is the unused rest of the text at *place. TEXT_DOC ends the document. */
ptrdiff_t tokenize_text(struct tokenize *t, const struct text_place *place, const unsigned char *p, size_t n,
                        enum window_end end, size_t *where, struct err *e);

/* The tail of the piece whose text spans begin .. end, with this number of lines. */
struct piece_tail tokenize_tail(const struct tokenize *t, uint64_t begin, uint64_t end, uint64_t n_lines);

#endif
