/* scan.h - pretokenizing: where a document splits into pretokens, before any merging.
 *
 * A scanner gets a window of valid UTF-8 from one document and gives the ends of its pretokens. Every byte belongs to
 * exactly one pretoken. (A regex may leave gaps between its matches: a gap is a pretoken too, as in Hugging Face's
 * Split with behavior "isolated".) Of several regexes the first splits the document and each other one the pieces of
 * the one before, each as a document of its own, as Hugging Face's Sequence of Splits. Built-in patterns equal Hugging
 * Face and tiktoken (cl100k differs between the two, at the end of a document: scan_tail.c); classes are Unicode 16
 * (uclass.h).
 *
 * A document longer than memory is scanned window by window: with TEXT_MORE only pretokens that no further text can
 * change are given; the caller moves what is left to the front, appends more text and calls again.
 */
#ifndef BPE_BPE_SCAN_H
#define BPE_BPE_SCAN_H

#include "sys/err.h"
#include "sys/text_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_PAD 64                         /* bytes past the window that must be readable (any content) */
#define SCAN_MAX_WINDOW (UINT32_MAX - 4096) /* longest window, in bytes */

struct scan_text { /* borrowed */
    const char *p;
    size_t len;
};

/* A pattern by name. */
struct pattern {
    const char *name;  /* "gpt2" */
    const char *alias; /* another name that pattern_find knows, or NULL */
    const char *regex; /* the regex that defines it, as Hugging Face tokenizers and PCRE2 read it; NULL for bytes (no
                          split at all) and where there are several */
    const struct scan_text *regexes; /* the same, or the several, to be applied in this order */
    size_t n_regexes;
    bool cut_inside; /* a document may be cut between 0x0A and a letter (with TEXT_LETTER for the left part) */
};

/* What a regex was written for. They differ in what a count with + behind it is, as in x{1,3}+. */
enum scan_dialect {
    SCAN_ONIGURUMA, /* Hugging Face's tokenizer.json: x{1,3} again and again */
    SCAN_PCRE,      /* PCRE2, and tiktoken's fancy-regex: possessive */
};

/* The pattern of that name (or alias), or NULL. Static. Its own name is what should travel. */
const struct pattern *pattern_find(const char *name);

/* The same; NULL with EX_USAGE and the names that there are. */
const struct pattern *pattern_named(const char *name, struct err *e);

/* The i-th built-in pattern, or NULL past the last: for messages that list them. */
const struct pattern *pattern_at(size_t i);

/* The built-in pattern that these n regexes, applied one after the other, define; NULL if none is known by heart. A CR
 * or LF in a regex is as good as \r or \n. */
const struct pattern *pattern_by_regex(const struct scan_text *regex, size_t n, enum scan_dialect dialect);

/* The i-th text besides the patterns' own that pattern_by_regex knows, or false past the last. For tests: each is to
 * give the pattern's pretokens. */
struct spelling {
    const char *pattern, *regex;
    bool pcre_only; /* it is another regex in Oniguruma */
};
bool pattern_spelling(size_t i, struct spelling *out);

struct scanner; /* opaque */

/* A scanner for a built-in pattern, or (pattern NULL) for n_regex PCRE2 regexes (UTF and UCP, JIT), one or more; their
 * text is not needed any more then. NULL with EX_USAGE when a regex does not compile; the message has PCRE2's reason,
 * the byte offset in the regex and, of several, which it is. */
struct scanner *scanner_open(const struct pattern *pattern, const struct scan_text *regex, size_t n_regex,
                             struct err *e);
void scanner_close(struct scanner *s); /* NULL is fine */

/* The built-in pattern it is for, or NULL. */
const struct pattern *scanner_pattern(const struct scanner *s);

/* Whether the scanner makes use of windows that end with TEXT_MORE. A regex by a user does not (it may look ahead as
 * far as it likes): such a scanner gives nothing until the window ends with TEXT_DOC, so the caller need not try. */
bool scanner_streams(const struct scanner *s);

/* Scans text[*pos .. len), valid UTF-8 that starts at a character; text[len .. len + SCAN_PAD) must be readable. Puts
 * at most max ends of pretokens, offsets from `text`, into ends[] and moves *pos to the last of them. Returns how many;
 * 0 means that *pos == len or that (TEXT_MORE) the rest needs more text. Fewer than max does not mean that it is done:
 * call until 0. For a regex by a user text[0] must be the start of the document (^ and lookbehind see it) and max at
 * least 2; and several of them are quick only if *pos is where the last call left it. -1 with EX_DATAERR when a user's
 * regex exceeds its match limit (the message has no input name: the caller adds it). */
ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum text_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e);

/* Puts "PROGRAM (Unicode 16.0.0; -e: PCRE2 10.42, Unicode 14.0.0)" and a newline, the versions as they are, into buf of
 * n bytes; for --version. Returns buf. */
const char *scanner_version(char *buf, size_t n, const char *program);

#endif
