/* file_signature.h - recognizes files that are not text by their first bytes: archives, columnar files, databases,
 * images, other encodings.
 *
 * Each signature has bytes that no text begins with (a text may well begin with "PK", "BZh" or "%PDF"), so such a file
 * is refused for any value of --invalid.
 */
#ifndef BPE_INPUT_FILE_SIGNATURE_H
#define BPE_INPUT_FILE_SIGNATURE_H

#include "base/sys/err.h"
#include "input/input_form.h"

#include <stddef.h>

enum { FILE_SIGNATURE_LEN = 512 }; /* enough bytes of a source's start to recognize it */

/* Checks the start p[0 .. n) of a source, after decompression: FILE_SIGNATURE_LEN bytes, or all if it has fewer. -1
 * with EX_DATAERR, naming the source, if it is not text; the message states what it is, and what to do. Where documents
 * end with NUL bytes, one-letter documents look like UTF-16, so UTF-16 without a byte order mark is not refused there.
 */
int file_signature_check(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                         struct err *e);

#endif
