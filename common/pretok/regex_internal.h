/* regex_internal.h - writes the classes of a regex for PCRE2 so that they are those of Unicode 16. For regex.c only.
 *
 * form: a mask of enum regex_form. in_class: already between brackets. All functions append to *out; -1: out of memory.
 */
#ifndef BPE_PRETOK_REGEX_INTERNAL_H
#define BPE_PRETOK_REGEX_INTERNAL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends the code points first to last, inclusive, as a member of a class in brackets; if first == last, it is also a
 * character outside brackets. */
int regex_put_range(struct buf *out, uint32_t first, uint32_t last, struct err *e);

/* Appends \p{name} or, if negated, its complement. name: a general category, or the first letter of several. (Outside
 * brackets, [^\p{Lo}] rather than \P{Lo}: PCRE2 10.42 takes the classes in \P{Lo}*\P{Nd} to be disjoint, and makes the
 * repetition possessive.) */
int regex_put_category(struct buf *out, unsigned form, const char *name, bool negated, bool in_class, struct err *e);

/* Appends White_Space or, if negated, its complement. */
int regex_put_space(struct buf *out, unsigned form, bool negated, bool in_class, struct err *e);

#endif
