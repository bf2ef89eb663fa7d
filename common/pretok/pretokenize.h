/* pretokenize.h - splits text into pretokens: special tokens, invalid UTF-8, scanner. The pretokens go to a sink:
 * bpe-count counts them, bpe-encode encodes them. One pretokenizer for one set of rules.
 *
 * Pretokens are parts of the text, but for a prefix (struct rules): with it the first ones are in a copy; and for a
 * normalizer: text that it changes is in a copy.
 *
 * As Hugging Face does: special tokens are found in the text, and what is between them is normalized; then those that
 * are SPECIAL_NORMALIZED are found in that, by their own normal forms.
 */
#ifndef BPE_PRETOK_PRETOKENIZE_H
#define BPE_PRETOK_PRETOKENIZE_H

#include "base/sys/buf.h"
#include "base/sys/str.h"
#include "pretok/rules.h"
#include "pretok/scan.h"
#include "pretok/special.h"
#include "unicode/utf8.h"

#include <stddef.h>
#include <stdint.h>

/* Both return 0, or -1 with an error, which stops pretokenizing. */
struct pretoken_sink {
    /* If set, and the pattern is bytes, the sink takes pieces of pretokens as well: see char_pairs.h. Borrowed. */
    const struct char_pairs *pairs;
    /* The n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; SCAN_PAD bytes past them may be
     * read.
     */
    int (*words)(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e);
    /* A special token, by its index in the rules, that ends at this offset of the window, with the white space that
     * belongs to it. NULL: they are skipped. */
    int (*special)(void *ctx, size_t token, size_t end, struct err *e);
    void *ctx;
};

/* Text that was made of other text. */
struct made_text {
    const unsigned char *p; /* the other text; NULL: it is that itself */
    size_t n;
    size_t skip;    /* so many bytes of it were passed on before */
    size_t in, out; /* what is made of the first `in` bytes has `out` bytes */
};

struct pretokenizer {
    struct scanner *scanner;
    struct special_set special, late; /* late: those that are found in normalized text */
    enum invalid_policy invalid;
    bool valid;  /* set by the caller: the text that is passed next is valid UTF-8, and no character is cut */
    bool inside; /* text goes on in which a prefix was put, or is left out */
    bool later;  /* a special token was before it in the same text, or it begins inside of one */
    struct special_place place, late_place; /* in the text that is passed, and in what it becomes */
    bool special_valid; /* the special tokens are valid UTF-8: so is what lies between them in such a text */
    struct pretoken_sink sink;
    enum normalizer normalizer;
    size_t skip; /* so many bytes of what the text becomes by the normalizer were passed on with the text before it */
    struct str prefix;          /* of the rules; borrowed */
    struct metaspace metaspace; /* of the rules */
    struct buf clean, normal, spaced, prefixed, traced, late_text;
    /* Where the text is that is searched for late ones: in the window, and in what is between two special tokens. */
    size_t stretch, segment;
    struct made_text cleaned, normalized;
};

/* The rules' prefix and strings for special tokens are borrowed until pretokenizer_close, the sink is copied. -1:
 * EX_DATAERR if there is no such pattern, or the prefix is not one character, EX_USAGE if a regex does not compile, or
 * out of memory. */
int pretokenizer_open(struct pretokenizer *w, const struct rules *rules, enum invalid_policy invalid,
                      const struct pretoken_sink *sink, struct err *e);
void pretokenizer_close(struct pretokenizer *w); /* a zeroed one is fine */

/* To be called before text that is not the start of a document, or is one though the text before it had no end
 * (TEXT_DOC). inside: it goes on inside a document, and no special token ends right before it; later: it is not the
 * start of a source, or of a document. */
void pretokenizer_begin(struct pretokenizer *w, bool inside, bool later);

/* Splits p[0 .. n), a window of a source that begins where the last one was used up; p[n .. n + SCAN_PAD) must be
 * readable. `end` says how the window ends, as for scanner_scan: TEXT_LETTER if the source was cut there (cut.h).
 * Returns how many bytes were used: all of them, unless TEXT_MORE. -1: out of memory, an error of the sink, or
 * EX_DATAERR, message without a place, with *where the offset in p: invalid UTF-8, a regex that takes too long, or a
 * cut that the pattern does not allow. */
ptrdiff_t pretokenize_text(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end, size_t *where,
                           struct err *e);

#endif
