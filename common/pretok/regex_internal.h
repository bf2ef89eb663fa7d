/* regex_internal.h - the classes of a regex as PCRE2 must read them, to be those of Unicode 16: for regex.c.
 *
 * form: a mask of enum regex_form. in_class: it stands between brackets already. All append to *out; -1: out of memory.
 */
#ifndef BPE_PRETOK_REGEX_INTERNAL_H
#define BPE_PRETOK_REGEX_INTERNAL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A member of a class in brackets, or with first == last a character: code points first to last, included. */
int regex_put_range(struct buf *out, uint32_t first, uint32_t last, struct err *e);

/* \p{name}, or with `negated` what is not in it; name: a general category, or the first letter of several. (Outside of
 * brackets, [^\p{Lo}] rather than \P{Lo}: PCRE2 10.42 takes \P{Lo}*\P{Nd} for two disjoint classes, and makes the
 * repetition possessive.) */
int regex_put_category(struct buf *out, unsigned form, const char *name, bool negated, bool in_class, struct err *e);

/* White_Space, or all other characters. */
int regex_put_space(struct buf *out, unsigned form, bool negated, bool in_class, struct err *e);

#endif
