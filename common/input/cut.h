/* cut.h - where a source may be cut into pieces so that counting them separately gives the same result.
 *
 *   - in plain text, right after a special token; else after the byte that ends a document (a newline in JSON Lines, a
 *   NUL);
 *   - where the form's last_cut finds it (between WARC records): only from the start of a piece, so a file by reference
 *     is one piece;
 *   - inside a document, if the pattern allows it (pattern.h: cut_inside): between 0x0A and a letter, where no special
 *     token begins. The left piece is then scanned as followed by a letter (TEXT_LETTER). scan_*.c prove it for each
 *     pattern, in the plain scanners; those by vectors are tested to be equal to them.
 *
 * Why: counts are sums over documents, and what a document's pretokens are depends on that document alone; nothing
 * reaches across its end. The first two kinds of cut stand between documents, so each document is in one piece, whole.
 * The third divides a document where a pretoken ends in any case; the right part is a text that begins where a pretoken
 * does, so it may be cut again in the same way, and so on.
 *   - Special tokens: no match crosses a cut. Either none of them overlaps another, so each is recognized wherever one
 *     looks; or matches are followed from the start of the piece. Where one begins there is no cut, but after it: what
 *     is before it ends a document, which TEXT_LETTER would deny.
 *   - Their flags. White space that a token takes is in the token's piece. Before one, because there is no cut between
 *     0x0A and a letter with which a token begins; after one, because there is none in it or before it, nor where it
 *     is too long for telling (special_takes_space). A token that must be a single word is not cut off, but where it
 *     ends with 0x0A and a letter follows: it counts neither in the whole text nor in the left piece (TEXT_LETTER).
 *     A piece begins as a text does, after no word character: before it is 0x0A, or the last character of a token, and
 *     that is none then (ends_piece).
 *   - A normalizer: NFC reaches across no place between 0x0A and a letter, because 0x0A composes with nothing and no
 *     letter is sorted past anything; and what a letter becomes begins with a letter (nfc_test.c tries all of them). So
 *     the left piece is still one that a letter follows. Tokens found in normalized text: special_keeps_lines.
 *   - Bad bytes: 0x0A and a whole letter are valid whatever stands beside them. So each invalid subpart lies on one
 *     side of a cut, and replacing or leaving it out gives the same on both sides as in the whole;
 *     where such bytes are pretokens of their own (--invalid=bytes), the text ends at each of them anyway.
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
    unsigned char end[256];            /* the bytes that may stand before a cut, each once */
    size_t n_ends;                     /* 0: no cut can be recognized near it */
};

/* inside: the pattern allows cuts inside a document (text only). */
void cutter_init(struct cutter *c, const struct input_form *form, bool inside, const struct special_set *special);

/* Whether a cut can be recognized from the text around it: not where special tokens may overlap, nor with the form's
 * last_cut. If not, only cut_last may be used, on text that begins with a piece. */
bool cut_is_local(const struct cutter *c);

/* Whether a file may be given by reference: it is cut near places, or is one piece (last_cut). */
bool cut_takes_files(const struct cutter *c);

/* The last place to cut in p(lo .. hi], 0 if there is none. p[0] is the first byte of a piece; p[0 .. n) is the text
 * known so far (hi <= n); final: the source ends at p[n). The end of the source is not a cut. */
size_t cut_last(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi, bool final);

/* The first place to cut in p[from .. n), from > 0, 0 if there is none. Local cutters only, or with last_cut: always 0.
 * p[0 .. from) should have special->before bytes, or begin at the source's start: tokens that begin before p are not
 * seen. Text after p[n) cannot change whether places up to n - special->after are cuts. */
size_t cut_first(const struct cutter *c, const unsigned char *p, size_t n, size_t from, bool final);

#endif
