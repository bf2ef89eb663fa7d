/* pretokenize.h - through a text from pretoken to pretoken: special tokens, invalid UTF-8, scanner. What becomes of the
 * pretokens is up to a sink: bpe-count counts them, bpe-encode encodes them. One walk for one set of rules.
 */
#ifndef BPE_TEXT_PRETOKENIZE_H
#define BPE_TEXT_PRETOKENIZE_H

#include "core/rules.h"
#include "scan/scan.h"
#include "sys/buf.h"
#include "sys/str.h"
#include "text/special.h"
#include "unicode/utf8.h"

#include <stddef.h>
#include <stdint.h>

/* Both return 0, or -1 with an error, which ends the walk. */
struct pretoken_sink {
    /* The n pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; SCAN_PAD bytes past them may be read.
     */
    int (*words)(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n, struct err *e);
    /* A special token, by its place in the rules. NULL: they are passed over. */
    int (*special)(void *ctx, size_t token, struct err *e);
    void *ctx;
};

struct pretokenizer {
    struct scanner *scanner;
    struct special_set special;
    enum invalid_policy invalid;
    struct pretoken_sink sink;
    struct buf clean;
};

/* The rules' strings for special tokens are borrowed until pretokenizer_close, the sink is copied. -1: EX_DATAERR if
 * there is no such pattern, EX_USAGE if a regex does not compile, or out of memory. */
int pretokenizer_open(struct pretokenizer *w, const struct rules *rules, enum invalid_policy invalid,
                      const struct pretoken_sink *sink, struct err *e);
void pretokenizer_close(struct pretokenizer *w); /* a zeroed walk is fine */

/* Goes through p[0 .. n), a window of a source that begins where the last one was used up; p[n .. n + SCAN_PAD) must be
 * readable. How it ends is said as for scanner_scan: TEXT_LETTER where the source was cut (cut.h). Returns how many
 * bytes were used: all of them, unless TEXT_MORE. -1: *where is the offset in p of what is wrong (EX_DATAERR: invalid
 * UTF-8, a regex that takes too long, no such cut; message without a place), out of memory, or what the sink says. */
ptrdiff_t pretokenize_text(struct pretokenizer *w, const unsigned char *p, size_t n, enum text_end end, size_t *where,
                           struct err *e);

#endif
