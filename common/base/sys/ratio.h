/* ratio.h - exact positive rational numbers, for the weights of counts.
 */
#ifndef BPE_BASE_SYS_RATIO_H
#define BPE_BASE_SYS_RATIO_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In lowest terms; num > 0. Zeroed: 1, as it is if no weight is given. */
struct ratio {
    uint64_t num, den;
};

/* Reads N, N/N or a decimal number, such as 2, 1/3, 0.3 or 3e-1. `option` names it in the error (EX_USAGE): not such a
 * number, not greater than 0, or a numerator or denominator of more than 2^64 - 1. */
int ratio_parse(const char *s, struct ratio *v, const char *option, struct err *e);

/* Formats it as "2/3" or "2". Returns `text`. */
enum { RATIO_TEXT = 48 };
const char *ratio_text(struct ratio v, char text[RATIO_TEXT]);

/* Whether both numbers are in lowest terms, as in records. */
bool ratio_is_reduced(uint64_t num, uint64_t den);

/* The value of a struct that may be zeroed. */
struct ratio ratio_of(struct ratio v);
bool ratio_is_one(struct ratio v);
bool ratio_equal(struct ratio a, struct ratio b);

/* -1, 0 or 1: by numerator, then by denominator. */
int ratio_order(struct ratio a, struct ratio b);

/* Set *product to a * b, and *multiple to the least common multiple. false: it does not fit. */
bool ratio_multiply(struct ratio a, struct ratio b, struct ratio *product);
bool ratio_common(uint64_t a, uint64_t b, uint64_t *multiple);

/* Set *product to n * by. */
enum ratio_scaled { RATIO_SCALED, RATIO_TOO_LARGE /* more than 2^64 - 1 */, RATIO_NOT_WHOLE /* not an integer */ };
enum ratio_scaled ratio_scale(uint64_t n, struct ratio by, uint64_t *product);

#endif
