/* split.h - how a regex splits text: which of its matches, and of the gaps between them, become pretokens. */
#ifndef BPE_PRETOK_SPLIT_H
#define BPE_PRETOK_SPLIT_H

/* What becomes of the matches of a regex and of the gaps between them, as in Hugging Face's Split. Each of its
 * behaviors with invert set is one of these, too. */
enum split_how {
    SPLIT_ISOLATED,   /* both are pretokens */
    SPLIT_PREVIOUS,   /* a match belongs to the gap right before it (MergedWithPrevious) */
    SPLIT_NEXT,       /* a match belongs to the gap right after it (MergedWithNext) */
    SPLIT_CONTIGUOUS, /* matches without a gap between them are one pretoken */
    SPLIT_GAPS,       /* gaps are pretokens, matches are dropped (Removed) */
    SPLIT_MATCHES,    /* matches are pretokens, gaps are dropped (Removed, invert) */
    SPLIT_N,
};

/* How one of several regexes splits, as a byte: enum split_how, and this flag. */
#define SPLIT_MASK 0x0F
#define SPLIT_BYTE_LEVEL 0x10 /* the regex sees the text in byte-to-unicode form (byte_level.h) */

/* Their names in records and models. */
extern const char *const split_names[SPLIT_N];

#endif
