/* superword_limits.h - which superwords may be made, as in SuperBPE's trainer: of at most four words, which spaces
 * separate, and without a colon before a space. A string that contains one that is not allowed is not allowed either.
 */
#ifndef BPE_TRAIN_SUPERWORD_LIMITS_H
#define BPE_TRAIN_SUPERWORD_LIMITS_H

#include "base/sys/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { SUPERWORD_WORDS_MAX = 4, SUPERWORD_NEVER = SUPERWORD_WORDS_MAX + 1 };

/* What matters of a string that is not empty. */
struct superword {
    uint8_t words;      /* SUPERWORD_NEVER: it is not allowed */
    bool begins_word;   /* its first byte is not a space */
    unsigned char last; /* its last byte */
};

struct superword superword_of(struct str s);

/* That of two strings, one after the other. */
static inline struct superword superword_join(struct superword left, struct superword right)
{
    const int words = left.words + right.words - (left.last != ' ' && right.begins_word);
    const bool colon = left.last == ':' && !right.begins_word;
    const bool never =
        words > SUPERWORD_WORDS_MAX || colon || left.words == SUPERWORD_NEVER || right.words == SUPERWORD_NEVER;
    return (struct superword){never ? SUPERWORD_NEVER : (uint8_t)words, left.begins_word, right.last};
}

static inline bool superword_allowed(struct superword s)
{
    return s.words != SUPERWORD_NEVER;
}

#endif
