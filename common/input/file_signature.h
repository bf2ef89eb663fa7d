/* file_signature.h - what is no text, told by its first bytes: archives, columns, databases, images, other encodings.
 *
 * Each signature has bytes that no text begins with (a text may well begin with "PK", "BZh" or "%PDF"), so it is
 * refused whatever --invalid says.
 */
#ifndef BPE_INPUT_FILE_SIGNATURE_H
#define BPE_INPUT_FILE_SIGNATURE_H

#include "base/sys/err.h"
#include "input/input_form.h"

#include <stddef.h>

enum { FILE_SIGNATURE_LEN = 512 }; /* bytes of a source's start that are enough to tell */

/* p[0 .. n) is the start of a source, after decompression: FILE_SIGNATURE_LEN bytes, or fewer if it has no more. -1
 * with EX_DATAERR, naming the source, if it is something else than text: the message says what, and what to do.
 * Where documents end with NUL bytes, those of one letter look like UTF-16, which passes then without a byte order
 * mark. */
int file_signature_check(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                         struct err *e);

#endif
