/* special.h - finding special tokens: the boundaries of documents.
 *
 * Matched in the raw bytes, left to right, without overlap; where several begin at one place, the longest.
 */
#ifndef BPE_TEXT_SPECIAL_H
#define BPE_TEXT_SPECIAL_H

#include "sys/err.h"
#include "sys/str.h"

#include <stdbool.h>
#include <stddef.h>

struct special_token {
    const unsigned char *p; /* not empty */
    size_t len;
    size_t index; /* in the list it was given in */
};

struct special_set {
    struct special_token *token; /* owned array, bytes borrowed; by first byte, then the longest first */
    size_t n;
    size_t first[257]; /* tokens with first byte b: token[first[b] .. first[b + 1]) */
    int only_first;    /* the one byte all begin with, or -1 */
    int only_second;   /* if there is one: the one byte all go on with, or -1 */
    size_t max_len;    /* of the longest; 0 if there is none */
    bool local; /* an occurrence is a match whatever stands before it: no two can overlap, and none has a 0x0A that a
                 * letter may follow. Else matches are known only by scanning from a document's start. */
};

/* The tokens' bytes are borrowed until special_free. */
int special_init(struct special_set *s, const struct str *token, size_t n, struct err *e);
void special_free(struct special_set *s);

enum special_hit {
    SPECIAL_NONE,  /* none begins in p[from .. n) */
    SPECIAL_FOUND, /* one at *pos, *len bytes long */
    SPECIAL_MAYBE, /* one may begin at *pos: what follows p[n) decides (only if !final) */
};

/* The first special token that begins at or after `from`; final: nothing follows p[n). */
enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, size_t from, bool final,
                              size_t *pos, size_t *len);

/* The longest special token that begins at p, by its length; 0: none. *more is set if a longer one could, were there
 * more text. */
size_t special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more);

/* The index of the special token p[0 .. len), which special_next has found. */
size_t special_index(const struct special_set *s, const unsigned char *p, size_t len);

/* Whether some special token ends at p + at (p[0 .. at) is looked at): its length, the longest; else 0. */
size_t special_ending(const struct special_set *s, const unsigned char *p, size_t at);

/* The special token that ends right before a place where text is cut (no match goes over it), by its index plus 1; 0:
 * there is none. p[0 .. n) are the bytes before the place. begins: a piece or a source begins at p, so that no match
 * goes over p either. If not, *more may be set: the bytes before p decide, come back with twice as many. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more);

#endif
