/* special.h - finding special tokens: the boundaries of documents, and the added tokens of a model.
 *
 * Matched in the raw bytes, left to right, without overlap; of several that begin at one place, the longest. Then flags
 * say what becomes of a match, as in Hugging Face's find_matches (added_vocabulary.rs):
 *
 *   - one that must be a single word, and has a word character beside it, does not count; but the search goes on after
 *     it, so that no match begins inside it;
 *   - white space beside it becomes a part of it: on the left as far as the match before, on the right as far as the
 *     next match that counts.
 *
 * White space is \s, word characters are \w as Rust's regex reads them: of Unicode 16, White_Space; and Alphabetic, M,
 * Nd, Pc, U+200C and U+200D. Bytes that are not UTF-8 are neither. At the beginning and the end of a text there is no
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

/* How a token is found beside other text; the names are Hugging Face's. */
enum special_flag {
    SPECIAL_LSTRIP = 1 << 0,      /* with the white space before it */
    SPECIAL_RSTRIP = 1 << 1,      /* with the white space after it */
    SPECIAL_SINGLE_WORD = 1 << 2, /* only where no word character is beside it */
    SPECIAL_NORMALIZED = 1 << 3,  /* in the text that a normalizer has made; 0 where that is the same */
    SPECIAL_INSIDE = 1 << 4,      /* a text goes on with it: a prefix is put before it, and not after it */
    SPECIAL_FLAGS = (1 << 5) - 1,
};

enum { SPECIAL_N_FLAGS = 5 };
extern const char *const special_flag_name[SPECIAL_N_FLAGS]; /* by the number of the bit */

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

/* Which bytes the tokens' first eight can be: where a token has b at byte k, or one is shorter, bit 0x80 >> k of both
 * low[b & 15] and high[b >> 4] is set. (So it is for a few other bytes, too.) */
struct special_classes {
    unsigned char low[16], high[16];
};

struct special_set {
    struct special_entry *token; /* owned array, bytes borrowed; sorted by their bytes */
    size_t n;
    size_t first[257];                   /* tokens with first byte b: token[first[b] .. first[b + 1]) */
    const struct special_entry **ending; /* owned; all of them, by their last byte */
    size_t last[257];                    /* those with last byte b: ending[last[b] .. last[b + 1]) */
    int only_first;                      /* the first byte if it is the same in all tokens, else -1 */
    int only_second; /* the second byte if only_first is set and it is the same in all tokens, else -1 */
    /* By first byte: of the eight bytes (little-endian) at a place, those that all tokens have; no token: all. */
    uint64_t mask[256];
    uint64_t *filter;      /* owned; bits for the hashes of the masked bytes of all tokens */
    unsigned filter_shift; /* 64 - log2 of its number of words */
    size_t stride;         /* where no token begins at as many places, the five bytes at the last of them tell */
    uint64_t *grams;       /* owned; bits for the hashes of five bytes at each of a token's first `stride` places */
    struct special_classes classes;
    size_t min_len;       /* of the shortest; 0 if there is none */
    size_t max_len;       /* of the longest; 0 if there is none */
    unsigned flags;       /* of all tokens together */
    bool space_first;     /* one begins with white space */
    bool hides_lines;     /* one that must be a single word has a 0x0A that a letter may follow: a cut there would be
                       * inside an occurrence, also where that does not count */
    size_t before, after; /* so many bytes on both sides decide whether text may be cut at a place */
    bool local; /* each occurrence is a match, whatever stands before it: no two can overlap, and no token has a 0x0A
                 * that a letter may follow. Otherwise matches are found only by scanning from where a document or a
                 * piece begins. */
};

/* The tokens' bytes are borrowed until special_free. Those with SPECIAL_NORMALIZED are left out. */
int special_init(struct special_set *s, const struct special_token *token, size_t n, struct err *e);
/* The same of these alone; their text is already in normal form. */
int special_init_normalized(struct special_set *s, const struct special_token *token, size_t n, struct err *e);
void special_free(struct special_set *s);

/* How far text is searched. Zeroed: not at all, and it begins after no character. */
struct special_place {
    size_t from;     /* the text from here on is in no match so far */
    size_t searched; /* no match begins before this */
    bool after_word; /* a word character is before the text */
};

struct special_match {
    size_t begin, end; /* with the white space that belongs to it */
    const struct special_entry *token;
};

enum special_hit {
    SPECIAL_NONE,  /* there is none; *m: begin as below, or the end of the text */
    SPECIAL_FOUND, /* *m */
    SPECIAL_MAYBE, /* the text after p[n) decides; the match, with the white space before it, begins at m->begin or
                      later (only with TEXT_MORE) */
};

/* The next match in p[0 .. n) from `at` on, which is moved: after the match, or (`searched` only) to where the search
 * goes on with more text. end: how the text ends; see scan.h. */
enum special_hit special_next(const struct special_set *s, const unsigned char *p, size_t n, enum window_end end,
                              struct special_place *at, struct special_match *m);

/* The first n bytes of the text are dropped: they are before at->searched, and in no match that is still to come. */
void special_drop(const struct special_set *s, struct special_place *at, const unsigned char *p, size_t n);

/* The longest special token that begins at p, flags aside; NULL: none. *more is set if more text could make it a longer
 * one. */
const struct special_entry *special_at(const struct special_set *s, const unsigned char *p, size_t n, bool *more);

/* Whether text may be cut at p + at, which is not its end, because a special token ends there: one that is a match
 * whatever the pieces are. It need not be a single word; has no white space after it that belongs to it; and does not
 * end with a word character beside which another would be no single word. Only for a set that is local. final: nothing
 * follows p[n). */
bool special_cut_after(const struct special_set *s, const unsigned char *p, size_t n, size_t at, bool final);

/* Whether text may be cut between 0x0A and a letter wherever the tokens are: none begins with what may be a letter, has
 * a 0x0A, or takes white space after it. This serves a set of normalized tokens, which are not searched for before text
 * is cut. */
bool special_keeps_lines(const struct special_set *s);

/* Whether white space that ends at p + at may belong to the special token before it. If it is longer than
 * SPECIAL_SPACE bytes, it may. Only for a set that is local. */
bool special_takes_space(const struct special_set *s, const unsigned char *p, size_t at);
enum { SPECIAL_SPACE = 64 };

/* White space and word characters, as above; a token has a word edge if it begins or ends with a word character. */
bool special_begins_with_space(struct str token);
bool special_ends_with_space(struct str token);
bool special_has_word_edge(struct str token);

/* The special token that ends right before a cut (no match crosses it): its index plus 1; 0: there is none. p[0 .. n)
 * are the bytes before the cut. begins: a piece or a source begins at p, so that no match crosses p either. If not,
 * *more may be set: the bytes before p decide, and the caller should pass twice as many. */
size_t special_before(const struct special_set *s, const unsigned char *p, size_t n, bool begins, bool *more);

/* For special.c only: the first block of SPECIAL_BLOCK bytes, of those that begin with p[at .. n), in which a token may
 * begin; bit i of *places: at byte i. If there is none: where less than a block is left, and *places is 0. */
enum { SPECIAL_BLOCK = 64 };
size_t special_skip_avx2(const struct special_classes *c, const unsigned char *p, size_t at, size_t n,
                         uint64_t *places);

#endif
