/* num.h - numbers in human-readable form. */
#ifndef BPE_BASE_SYS_NUM_H
#define BPE_BASE_SYS_NUM_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* A size in bytes: digits and an optional K, M, G, T (powers of 1024). `option` names it in the error (EX_USAGE). */
int num_size(const char *s, uint64_t *v, const char *option, struct err *e);

/* An amount of data: a decimal number, and K, M, G, T or P for powers of 1024 (also KiB and so on), or kB, MB, GB, TB
 * or PB for powers of 1000; B or no unit for bytes. EX_USAGE. */
int num_data(const char *s, uint64_t *v, const char *option, struct err *e);

/* As num_size, or, as in sort -S, a percentage of `whole`, up to 100%: a decimal number, rounded to hundredths, and
 * `%`.
 */
int num_share(const char *s, uint64_t whole, uint64_t *v, const char *option, struct err *e);

/* A count: digits and an optional k, M, G (powers of 1000). */
int num_count(const char *s, uint64_t *v, const char *option, struct err *e);

/* A decimal number from 1 to max, without leading zeros. 0: not such a number. */
uint64_t num_whole(const char *s, uint64_t max);

/* Formats bytes as "1.2 GB": decimal units, up to three digits. Returns s. */
const char *num_bytes(char *s, size_t n, double bytes);

#endif
