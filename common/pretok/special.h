/* special.h - finds special tokens: the separators of documents, and the added tokens of a model.
 *
 * Tokens are matched in the raw bytes, left to right, without overlap; of several that begin at one position, the
 * longest wins. Then flags decide what becomes of a match, as in Hugging Face's find_matches (added_vocabulary.rs):
 *
 *   - a token that must be a single word does not count next to a word character; but the search resumes after it, so
 *     that no match begins inside it;
 *   - adjacent white space becomes part of the match: on the left back to the previous match, on the right up to the
 *     next match that counts.
 *
 * White space is \s, and word characters are \w, as in Rust's regex with Unicode 16: White_Space; and Alphabetic, M,
 * Nd, Pc, U+200C and U+200D. Invalid UTF-8 is neither. Before the beginning and after the end of a text, there is no
 * character.
 */
#ifndef BPE_PRETOK_SPECIAL_H
#define BPE_PRETOK_SPECIAL_H

#include "base/sys/err.h"
#include "base/sys/str.h"
#include "pretok/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a token is found next to other text; the names are Hugging Face's. */
enum special_flag {
    SPECIAL_LSTRIP = 1 << 0,      /* with the white space before it */
    SPECIAL_RSTRIP = 1 << 1,      /* with the white space after it */
    SPECIAL_SINGLE_WORD = 1 << 2, /* only if no word character is adjacent */
    SPECIAL_NORMALIZED = 1 << 3,  /* in the normalized text; 0 if that is the same */
    SPECIAL_INSIDE = 1 << 4,      /* the text continues with it: a prefix goes before it, and none after it */
    SPECIAL_FLAGS = (1 << 5) - 1,
};

enum { SPECIAL_N_FLAGS = 5 };
extern const char *const special_flag_name[SPECIAL_N_FLAGS]; /* by bit number */

struct special_token {
    struct str text; /* not empty */
    unsigned flags;  /* of enum special_flag */
};

struct special_entry {
    const unsigned char *p;
    size_t len;
    size_t index; /* its index in the caller's list */
    unsigned flags;
    bool ends_piece; /* text may be cut after a match: see special_cut_after */
};

/* Which values the first eight bytes of the tokens can have: if a token has b at byte k, or any token is shorter, bit
 * 0x80 >> k of both low[b & 15] and high[b >> 4] is set. (A few other values have it, too.) */
struct special_classes {
    unsigned char low[16], high[16];
};

struct special_set {
    struct special_entry *token; /* owned array, bytes borrowed; sorted by their bytes */
    size_t n;
    size_t first[257];                   /* tokens with first byte b: token[first[b] .. first[b + 1]) */
    const struct special_entry **ending; /* owned; all tokens, sorted by their last byte */
    size_t last[257];                    /* those with last byte b: ending[last[b] .. last[b + 1]) */
    int only_first;                      /* the first byte if it is the same in all tokens, else -1 */
    int only_second; /* the second byte if only_first is set and it is the same in all tokens, else -1 */
    /* By first byte b: a mask of the first eight bytes (little-endian) that every token with b has; no such token:
     * all. */
    uint64_t mask[256];
    uint64_t *filter;      /* owned; bits for the hashes of the masked bytes of all tokens */
    unsigned filter_shift; /* 64 - log2 of its number of words */
    size_t stride;         /* positions tested at a time, by five bytes at the last of them */
    uint64_t *grams;       /* owned; bits for the hashes of five bytes at each of a token's first `stride` offsets */
    struct special_classes classes;
    size_t min_len;       /* of the shortest; 0 if there is none */
    size_t max_len;       /* of the longest; 0 if there is none */
    unsigned flags;       /* those of all tokens, combined */
    bool space_first;     /* one begins with white space */
    bool hides_lines;     /* a token that must be a single word has a 0x0A that a letter may follow: a cut there would
                             be inside an occurrence, even one that does not count */
    size_t before, after; /* the bytes before and after a position that decide whether text may be cut there */
    bool local; /* each occurrence is a match, whatever precedes it: no two can overlap, and no token has a 0x0A that
                   a letter may follow. Otherwise matches are found only by scanning from the start of a document or
                   piece. */
};

/* The tokens' bytes are borrowed until special_free. Those with SPECIAL_NORMALIZED are left out. */
int special_init(struct special_set *s, const struct special_token *token, size_t n, struct err *e);
/* The same, with only those with SPECIAL_NORMALIZED; their text is already in normal form. */
int special_init_normalized(struct special_set *s, const struct special_token *token, size_t n, struct err *e);
void special_free(struct special_set *s);

/* How far text is searched. Zeroed: not at all, and no character precedes it. */
struct special_place {
    size_t from;     /* the text from here on is in no match so far */
    size_t searched; /* no match begins before this */
    bool after_word; /* a word character precedes the text */
};

struct special_match {
    size_t begin, end; /* with the white space that belongs to it */
    const struct special_entry *token;
};

enum special_hit {
    SPECIAL_NONE,  /* none; m->begin as for SPECIAL_MAYBE, or the end of the text */
    SPECIAL_FOUND, /* it is *m */
    SPECIAL_MAYBE, /* the text after p[n) decides (only with TEXT_MORE); the match, with the white space before it,
                      begins at m->begin or later */
};

/* Finds the next match in p[0 .. n) from *at on and moves *at after it. If there is none, moves at->searched to where
 * the search resumes with more text. end: how the text ends; see scan.h. */
enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, enum window_end end,
                              struct special_place *at, struct special_match *m);

/* Drops the first n bytes of the text, which must be before at->searched and in no later match. */
void special_drop(const struct special_set *s, struct special_place *at, const unsigned char *p, size_t n);

/* The longest special token that begins at p, ignoring flags; NULL: none. *more is set if more text could make it a
 * longer one. */
const struct special_entry *special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more);

/* Whether text may be cut at p + at, which is not its end, because a special token ends there that is a match however
 * the text is cut: it need not be a single word; no white space after it belongs to it; and it does not end with a word
 * character, next to which a single-word token would not count. Only for a local set. final: nothing follows p[n). */
bool special_cut_after(const struct special_set *s, const unsigned char *p, size_t n, size_t at, bool final);

/* Whether text may be cut between 0x0A and a letter wherever the tokens are: none begins with what may be a letter, has
 * a 0x0A, or takes white space after it. For sets of normalized tokens, which are not searched for before text is
 * cut. */
bool special_keeps_lines(const struct special_set *s);

/* Whether the white space that ends at p + at may belong to the special token before it. White space longer than
 * SPECIAL_SPACE bytes always may. Only for a local set. */
bool special_takes_space(const struct special_set *s, const unsigned char *p, size_t at);
enum { SPECIAL_SPACE = 64 };

/* White space and word characters, as above; a token has a word edge if it begins or ends with a word character. */
bool special_begins_with_space(struct str token);
bool special_ends_with_space(struct str token);
bool special_has_word_edge(struct str token);

/* The special token that ends right before a cut that no match crosses, as its index plus 1; 0: there is none. p[0 ..
 * n) are the bytes before the cut. begins: a piece or a source begins at p, so that no match crosses p either.
 * Otherwise *more may be set: the bytes before p decide, and the caller should pass twice as many. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more);

/* For special.c only: finds the first block of SPECIAL_BLOCK bytes, counting from p + at, in which a token may begin.
 * Returns its offset; bit i of *places is set if one may begin at byte i. If there is no such block, returns the offset
 * where less than a block is left, and *places is 0. */
enum { SPECIAL_BLOCK = 64 };
size_t special_skip_avx2(const struct special_classes *c, const unsigned char *p, size_t at, size_t n,
                         uint64_t *places);

#endif
