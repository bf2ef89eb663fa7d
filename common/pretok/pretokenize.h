/* pretokenize.h - splits text into pretokens: finds special tokens, handles invalid UTF-8 and runs the scanner. The
 * pretokens go to a sink: bpe-count counts them, bpe-encode encodes them. A pretokenizer is for one set of rules.
 *
 * Pretokens are parts of the text, or of a copy of it where a prefix is added (struct rules), or where a normalizer or
 * the handling of invalid UTF-8 changes the text.
 *
 * As in Hugging Face, special tokens are first found in the text itself. Then the text between them is normalized, and
 * the tokens with SPECIAL_NORMALIZED are found in the result, by their own normal forms.
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

/* Both functions return 0, or -1 with an error, which stops pretokenizing. */
struct pretoken_sink {
    /* If set and the pattern is bytes, the sink also accepts parts of pretokens: see char_pairs.h. Borrowed. */
    const struct char_pairs *pairs;
    /* The n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; SCAN_PAD bytes past them are
     * readable. */
    int (*words)(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e);
    /* A special token: its index in the rules, and the offset in the window where it ends, including the white space
     * that belongs to it. NULL: special tokens are skipped. */
    int (*special)(void *ctx, size_t token, size_t end, struct err *e);
    void *ctx;
};

/* Text derived from other text, by cleaning or normalizing it. */
struct made_text {
    const unsigned char *p; /* the original text; NULL: the text is the original */
    size_t n;
    bool normal;    /* derived by the normalizer */
    size_t skip;    /* bytes of the derived text that were passed on with the previous window */
    size_t in, out; /* the first `in` bytes of the original became the first `out` bytes */
};

struct pretokenizer {
    struct scanner *scanner;
    struct special_set special, late; /* late: tokens that are found in normalized text */
    enum invalid_policy invalid;
    bool valid;  /* set by the caller: the next text is valid UTF-8 and ends at a character boundary */
    bool inside; /* the next text continues text whose prefix is settled (added or left out) */
    bool later;  /* the next text is not at the start of a source or document, or follows a special token */
    struct special_place place, late_place; /* how far the caller's text, and the text made from it, are searched */
    bool special_valid; /* all special tokens are valid UTF-8, so what is between them in valid text is valid, too */
    struct pretoken_sink sink;
    enum normalizer normalizer;
    size_t skip;                /* bytes of the next text's normal form that were passed on with the previous text */
    struct str prefix;          /* from the rules; borrowed */
    struct metaspace metaspace; /* from the rules */
    struct buf clean, normal, spaced, prefixed, traced, late_text;
    /* Where the text that is searched for late tokens begins: `stretch` in the window, and `segment` in the text
     * between two special tokens. */
    size_t stretch, segment;
    struct made_text cleaned, normalized;
    /* For pretokenizer_origin: the window, the texts that were copied to `prefixed`, after so many bytes, and to
     * `spaced`; of the latter, the first bytes that were traced; and where the last special token begins. */
    const unsigned char *window, *prefixed_from, *spaced_from;
    size_t n_prefixed, spaced_in, spaced_out, special_begin;
};

/* The rules' prefix and the strings of special tokens are borrowed until pretokenizer_close; the sink is copied. -1:
 * EX_DATAERR if the pattern is unknown, the prefix is not one character, or a normalized special token is not
 * supported; EX_USAGE if a regex does not compile; or out of memory. */
int pretokenizer_open(struct pretokenizer *w, const struct rules *rules, enum invalid_policy invalid,
                      const struct pretoken_sink *sink, struct err *e);
void pretokenizer_close(struct pretokenizer *w); /* a zeroed one is fine */

/* Call this before text that does not start a document, or that starts one although the previous text did not end with
 * TEXT_DOC. inside: the text continues a document, and no special token ends right before it. later: it is not at the
 * start of a source or document. */
void pretokenizer_begin(struct pretokenizer *w, bool inside, bool later);

/* Splits p[0 .. n), a window of a source that begins where the previous call stopped; p[n .. n + SCAN_PAD) must be
 * readable. `end` is how the window ends, as for scanner_scan: TEXT_LETTER if the source was cut there (cut.h). Returns
 * the number of bytes used: all of them, unless TEXT_MORE. -1: out of memory, an error of the sink, or EX_DATAERR
 * (invalid UTF-8, a regex that takes too long, a cut that the pattern does not allow). For EX_DATAERR, *where is the
 * offset in p, which the message does not have. */
ptrdiff_t pretokenize_text(struct pretokenizer *w, const unsigned char *p, size_t n, enum window_end end, size_t *where,
                           struct err *e);

/* Whether p, text that sink.words was just called with, lies in the window itself. */
bool pretokenizer_is_window(const struct pretokenizer *w, const unsigned char *p);

/* Inside a call of sink.words: the part of the window from which text p[0 .. n), some of the pretokens passed, was
 * made. It is empty for a prefix. A part that a normalizer or the handling of invalid UTF-8 replaced as a whole counts
 * as a whole. Ask for the pretokens in order. *begin and *end: offsets in the window. -1: out of memory. Inside a call
 * of sink.special, `special_begin` is where the special token begins, with the white space that belongs to it. */
int pretokenizer_origin(struct pretokenizer *w, const unsigned char *p, size_t n, size_t *begin, size_t *end,
                        struct err *e);

#endif
