/* tokenize.h - from text to ids: a pretokenizer whose pretokens go to an encoder, special tokens as ids where they
 * stand, and one separator for each document.
 *
 * A document ends at a separator, and where its source does. What stands between two of them and is empty is no
 * document, unless it was given as one (JSON Lines).
 */
#ifndef BPE_ENCODE_TOKENIZE_H
#define BPE_ENCODE_TOKENIZE_H

#include "encode/encoder.h"
#include "text/pretokenize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tokenize_eot {
    EOT_NONE,   /* separators are special tokens as others are */
    EOT_BEFORE, /* one before each document, and no other */
    EOT_AFTER,  /* one after each */
};

struct tokenize {
    struct pretokenizer pretokenizer; /* text goes through tokenize_text */
    struct encoder *encoder;          /* borrowed */
    uint32_t *special_id;             /* of each special token, in the order given */
    size_t separator; /* which of them ends a document; n_special: one that is not found in text; SIZE_MAX: none, or
                         (EOT_NONE) any */
    uint32_t eot_id;  /* what is written as the separator */
    enum tokenize_eot eot;
    bool no_special;  /* a special token is an error */
    bool documents;   /* each text that ends is a document, also an empty one */
    bool in_document; /* part of a document was seen, and not its end */
    bool some;        /* a document has begun in this text */
    struct ids ids;   /* the ids so far; flush takes them and sets n to 0 */
    size_t *end;      /* documents ended after so many of these ids; flush sets n_ends to 0 */
    size_t n_ends, cap_ends;
    int (*flush)(void *ctx, struct err *e); /* called when there are many ids; see above */
    void *ctx;
};

/* Opens t->pretokenizer; all else is set before, and t stays where it is. Arguments as pretokenizer_open's. */
int tokenize_open(struct tokenize *t, const struct rules *rules, enum invalid_policy invalid, struct err *e);
void tokenize_close(struct tokenize *t); /* a zeroed one is fine; the encoder stays */

/* Where text begins: inside a document, or at the start of one. */
void tokenize_begin(struct tokenize *t, bool inside);

/* As pretokenize_text. TEXT_DOC ends the document. */
ptrdiff_t tokenize_text(struct tokenize *t, const unsigned char *p, size_t n, enum text_end end, size_t *where,
                        struct err *e);

#endif
