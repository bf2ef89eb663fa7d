/* num.h - numbers as people write and read them. */
#ifndef BPE_BASE_SYS_NUM_H
#define BPE_BASE_SYS_NUM_H

#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

/* A size in bytes: digits and an optional K, M, G, T (powers of 1024). `option` names it in the error (EX_USAGE). */
int num_size(const char *s, uint64_t *v, const char *option, struct err *e);

/* An amount of data, as people have it in mind: a decimal number, and K, M, G, T or P for powers of 1024 (KiB and so on
 * are the same), or kB, MB, GB, TB or PB for powers of 1000; B, or nothing, for bytes. EX_USAGE. */
int num_data(const char *s, uint64_t *v, const char *option, struct err *e);

/* As num_size, or, as sort -S has it, a share of `whole` up to 100%: a decimal number, of which hundredths count,
 * and `%`. */
int num_share(const char *s, uint64_t whole, uint64_t *v, const char *option, struct err *e);

/* A count: digits and an optional k, M, G (powers of 1000). */
int num_count(const char *s, uint64_t *v, const char *option, struct err *e);

/* Digits that say how many there are, from 1 to max, without zeros before them. 0: it is something else. */
uint64_t num_whole(const char *s, uint64_t max);

/* "1.2 GB": decimal units, three digits. Returns s. */
const char *num_bytes(char *s, size_t n, double bytes);

#endif
