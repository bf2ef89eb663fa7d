/* ugc.h - the general categories of code points, as ranges: for regexes, whose classes are written out by them.
 *
 * The tables are generated (gen-uclass.py), of the Unicode version that uclass_version names.
 */
#ifndef BPE_UNICODE_UGC_H
#define BPE_UNICODE_UGC_H

#include <stddef.h>
#include <stdint.h>

/* A category is a number, its place among their names, "Cc" to "Zs"; a set of them is a mask: bit 1U << category. */

/* For each run of code points of one category, in order: its first << 5 | category. It goes up to the next one. */
extern const uint32_t ugc_starts[];
extern const size_t ugc_n_starts;

/* The code points from first to last, included, whose category is another than in Unicode 14, where it was `was`:
 * nearly all were unassigned there. In order. */
struct ugc_changed {
    uint32_t first, last, was;
};

extern const struct ugc_changed ugc_since_14[];
extern const size_t ugc_n_since_14;

/* The mask of the category or, by one letter, of the group of categories that has this name: "Lu", "L". 0: there is
 * none. */
uint32_t ugc_mask(const char *name, size_t len);

/* The category of a code point. */
unsigned ugc_of(uint32_t code_point);

/* The same, and in *last the last code point of the run that it is in. */
unsigned ugc_run(uint32_t code_point, uint32_t *last);

#endif
