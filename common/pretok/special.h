/* special.h - finding special tokens: the boundaries of documents.
 *
 * Matched in the raw bytes, left to right, without overlap; of several that begin at one place, the longest.
 */
#ifndef BPE_PRETOK_SPECIAL_H
#define BPE_PRETOK_SPECIAL_H

#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { SPECIAL_FIRST = 4 }; /* so many bytes are looked at before tokens are compared */

/* How a token is found beside other text; the names are Hugging Face's. */
enum special_flag {
    SPECIAL_LSTRIP = 1 << 0,      /* with the white space before it */
    SPECIAL_RSTRIP = 1 << 1,      /* with the white space after it */
    SPECIAL_SINGLE_WORD = 1 << 2, /* only where no word character is beside it */
    SPECIAL_NORMALIZED = 1 << 3,  /* in the text that a normalizer has made; 0 where that is the same */
    SPECIAL_FLAGS = (1 << 4) - 1,
};

enum { SPECIAL_N_FLAGS = 4 };
extern const char *const special_flag_name[SPECIAL_N_FLAGS]; /* by the number of the bit */

struct special_token {
    struct str text; /* not empty */
    unsigned flags;  /* of enum special_flag */
};

struct special_entry {
    const unsigned char *p;
    size_t len;
    size_t index; /* its index in the caller's list */
};

struct special_set {
    struct special_entry *token; /* owned array, bytes borrowed; sorted by their bytes */
    size_t n;
    size_t first[257];     /* tokens with first byte b: token[first[b] .. first[b + 1]) */
    int only_first;        /* the first byte if it is the same in all tokens, else -1 */
    int only_second;       /* the second byte if only_first is set and it is the same in all tokens, else -1 */
    unsigned char at[256]; /* by byte: bit k is set if it is byte k of a token, k < SPECIAL_FIRST, or one is shorter */
    size_t max_len;        /* of the longest; 0 if there is none */
    bool local; /* each occurrence is a match, whatever stands before it: no two can overlap, and no token has a 0x0A
                 * that a letter may follow. Otherwise matches are found only by scanning from where a document or a
                 * piece begins. */
};

/* The tokens' bytes are borrowed until special_free. */
int special_init(struct special_set *s, const struct special_token *token, size_t n, struct err *e);
void special_free(struct special_set *s);

enum special_hit {
    SPECIAL_NONE,  /* none begins in p[from .. n) */
    SPECIAL_FOUND, /* one at *pos, *len bytes long */
    SPECIAL_MAYBE, /* one may begin at *pos: the text after p[n) decides (only if !final) */
};

/* The first special token that begins at or after `from`; final: nothing follows p[n). */
enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, size_t from, bool final,
                              size_t *pos, size_t *len);

/* The length of the longest special token that begins at p; 0: none. *more is set if more text could make it a longer
 * one. */
size_t special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more);

/* The index of the special token p[0 .. len), which special_next has returned. */
size_t special_index(const struct special_set *s, const unsigned char *p, size_t len);

/* The length of the longest special token that ends at p + at (p[0 .. at) is searched); 0 if there is none. */
size_t special_ending(const struct special_set *s, const unsigned char *p, size_t at);

/* The special token that ends right before a cut (no match crosses it): its index plus 1; 0: there is none. p[0 .. n)
 * are the bytes before the cut. begins: a piece or a source begins at p, so that no match crosses p either. If not,
 * *more may be set: the bytes before p decide, and the caller should pass twice as many. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more);

#endif
