/* cut.h - finds split points: where a source may be cut into pieces so that counting them separately gives the same
 * result:
 *
 *   - in plain text, right after a special token; else after the byte that ends a document (a newline in JSON Lines, a
 *     NUL);
 *   - where the form's last_cut finds a split point (between WARC records). It searches from the start of a piece, so a
 *     file by reference is one piece;
 *   - inside a document, if the pattern allows it (pattern.h: cut_inside): between 0x0A and a letter, where no special
 *     token begins. The left piece is then scanned as if followed by a letter (TEXT_LETTER). scan_*.c prove this for
 *     the plain scanner of each pattern; tests show that the vector scanners are equal to the plain ones.
 *
 * Why: counts are sums over documents, and the pretokens of a document depend only on that document. The first two
 * kinds of cut are between documents, so each document is in one piece. The third divides a document where a pretoken
 * ends in any case; the right part is a text that begins where a pretoken begins, so it may be cut again in the same
 * way, and so on.
 *   - Special tokens: no match crosses a cut. Either no two tokens overlap, so each is recognized from the text around
 *     it, or matches are followed from the start of the piece. There is no cut where a token begins, only after it: the
 *     text before the token ends a document, which TEXT_LETTER would contradict.
 *   - Flags of special tokens: white space that a token takes is in the token's piece. Before a token, there is no cut
 *     between 0x0A and a letter with which a token begins. After a token, there is no cut inside or right before that
 *     space, nor where it is too long to decide (special_takes_space). A cut separates a token that must be a single
 *     word from the text after it only where the token ends with 0x0A and a letter follows. There the token is not
 *     recognized, either in the whole text or in the left piece (TEXT_LETTER). A piece begins like a text, not after a
 *     word character: the character before it is 0x0A, or the last one of a token, which is then not a word character
 *     (ends_piece).
 *   - Normalizers: NFC never acts across a place between 0x0A and a letter, because 0x0A composes with nothing and
 *     letters are not reordered; and the normal form of a letter begins with a letter (nfc_test.c tries all letters).
 *     So a letter still follows the left piece. For tokens found in normalized text, see special_keeps_lines.
 *   - Invalid UTF-8: 0x0A and a whole letter are valid whatever is next to them. So each invalid subpart lies on one
 *     side of a cut, and replacing or removing it gives the same result as in the whole text; where such bytes are
 *     separate pretokens (--invalid=bytes), the text ends at each of them anyway.
 */
#ifndef BPE_INPUT_CUT_H
#define BPE_INPUT_CUT_H

#include "input/input_form.h"
#include "pretok/special.h"

#include <stdbool.h>
#include <stddef.h>

struct cutter {
    const struct input_form *form;
    bool inside;                       /* between 0x0A and a letter */
    const struct special_set *special; /* borrowed */
    unsigned char end[256];            /* the bytes that may be right before a cut, each once */
    size_t n_ends;                     /* 0: there are no cuts, or they are not recognized by such bytes */
};

/* inside: the pattern allows cuts inside a document (text only). */
void cutter_init(struct cutter *c, const struct input_form *form, bool inside, const struct special_set *special);

/* Whether a cut can be recognized from the text around it. It cannot if special tokens may overlap, or if the form has
 * a last_cut; then only cut_last may be used, on text that begins with a piece. */
bool cut_is_local(const struct cutter *c);

/* Whether a file may be given by reference: cuts are recognized from the text around them, or the file is one piece
 * (last_cut). */
bool cut_takes_files(const struct cutter *c);

/* Returns the last split point in p(lo .. hi], or 0 if there is none. p[0] is the first byte of a piece; p[0 .. n) is
 * the text known so far (hi <= n); final: the source ends at n. The end of the source is not a cut. */
size_t cut_last(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi, bool final);

/* Returns the first split point in p[from .. n), from > 0, or 0 if there is none. For local cutters, and for those with
 * a last_cut, where the result is always 0. p[0 .. from) should have special->before bytes, or begin at the source's
 * start: tokens that begin before p are not seen. Text after p[0 .. n) cannot change which positions up to n -
 * special->after are split points. */
size_t cut_first(const struct cutter *c, const unsigned char *p, size_t n, size_t from, bool final);

#endif
