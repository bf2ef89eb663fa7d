/* id_text.h - ids in decimal, as bpe-encode -f text writes them: with spaces between, a line for each document. */
#ifndef BPE_ENCODE_ID_TEXT_H
#define BPE_ENCODE_ID_TEXT_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends to `ids` the ids in text[0 .. n), 4 bytes each, little-endian. A word that may go on is left, unless the text
 * has ended: it is short. *line: the number of the line in which the text begins; set to that of what is left. Returns
 * how many bytes were read. -1: out of memory, or EX_DATAERR for a word that is no id, with its line, but without the
 * name of the input; the ids before it are appended. */
ptrdiff_t id_text_read(const unsigned char *text, size_t n, bool ended, struct buf *ids, uint64_t *line, struct err *e);

/* The line of the ith id, from 0, in a text that was read, which begins in `line`. */
uint64_t id_text_line(const unsigned char *text, size_t i, uint64_t line);

#endif
