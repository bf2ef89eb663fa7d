/* split.h - what a regex makes of a text: which of its matches, and of the gaps between them, are pretokens. */
#ifndef BPE_PRETOK_SPLIT_H
#define BPE_PRETOK_SPLIT_H

/* What becomes of the matches of a regex and of the gaps between them: Hugging Face's Split, where each behavior with
 * invert is one of these, too. */
enum split_how {
    SPLIT_ISOLATED,   /* both are pretokens */
    SPLIT_PREVIOUS,   /* a match belongs to the gap right before it (MergedWithPrevious) */
    SPLIT_NEXT,       /* a match belongs to the gap right after it (MergedWithNext) */
    SPLIT_CONTIGUOUS, /* matches without a gap between them are one pretoken */
    SPLIT_GAPS,       /* gaps are pretokens, matches are dropped (Removed) */
    SPLIT_MATCHES,    /* matches are pretokens, gaps are dropped (Removed, invert) */
    SPLIT_N,
};

/* How one of several regexes splits is a byte: enum split_how, and this flag. */
#define SPLIT_MASK 0x0F
#define SPLIT_BYTE_LEVEL 0x10 /* the regex sees the text in byte-to-unicode form (byte_level.h) */

/* As records and models show them. */
extern const char *const split_names[SPLIT_N];

#endif
