/* scan_parts.h - the scanners behind scan.h, one file each. For scan.c alone; others include scan.h.
 *
 * All have the contract of scanner_scan: text[*pos .. len) in, at most max ends out, *pos moved, how many returned.
 */
#ifndef BPE_BPE_SCAN_PARTS_H
#define BPE_BPE_SCAN_PARTS_H

#include "bpe/scan.h"

/* How a built-in scanner answers "where does the pretoken at p end?" if that depends on text past the window. No
 * pretoken ends at offset 0. */
#define SCAN_UNDECIDED 0

size_t scan_gpt2(const unsigned char *text, size_t len, enum scan_end end, size_t *pos, uint32_t *ends, size_t max);
size_t scan_cl100k(const unsigned char *text, size_t len, enum scan_end end, size_t *pos, uint32_t *ends, size_t max);

#endif
