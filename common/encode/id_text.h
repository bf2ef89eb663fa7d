/* id_text.h - decimal ids, as bpe-encode -f text writes them: separated by spaces, one line for each document. */
#ifndef BPE_ENCODE_ID_TEXT_H
#define BPE_ENCODE_ID_TEXT_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends the ids in text[0 .. n) to `ids`, 4 bytes each, little-endian. Unless the text has ended, a last word that
 * may continue is not read; it has fewer than 20 digits. *line: the line number where the text begins, updated to that
 * of the remaining text. Returns the number of bytes read. -1: out of memory, or EX_DATAERR for a word that is not an
 * id, with its line but without the name of the input; the ids before it are appended. */
ptrdiff_t id_text_read(const unsigned char *text, size_t n, bool ended, struct buf *ids, uint64_t *line, struct err *e);

/* The line of id i, from 0, in a text that was read and begins in `line`. */
uint64_t id_text_line(const unsigned char *text, size_t i, uint64_t line);

#endif
