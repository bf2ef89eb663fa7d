/* ugc.h - the general categories of code points, as ranges, which regexes use to expand their classes.
 *
 * The tables are generated (gen-uclass.py) for the Unicode version in uclass_version.
 */
#ifndef BPE_UNICODE_UGC_H
#define BPE_UNICODE_UGC_H

#include <stddef.h>
#include <stdint.h>

/* A category is a number: its index in the sorted names, "Cc" to "Zs". A set of categories is a mask of the bits
 * 1U << category. */

/* For each sequence of code points of one category, in order: first << 5 | category. It ends where the next begins. */
extern const uint32_t ugc_starts[];
extern const size_t ugc_n_starts;

/* The code points from first to last, inclusive, whose category differs from the one in Unicode 14, `was`. Nearly all
 * were unassigned there. In order. */
struct ugc_changed {
    uint32_t first, last, was;
};

extern const struct ugc_changed ugc_since_14[];
extern const size_t ugc_n_since_14;

/* The mask of the category with this name ("Lu"), or of the group of categories with this letter ("L"). 0: none. */
uint32_t ugc_mask(const char *name, size_t len);

/* The category of a code point. */
unsigned ugc_of(uint32_t code_point);

/* The same; sets *last to the last code point of its sequence. */
unsigned ugc_run(uint32_t code_point, uint32_t *last);

#endif
