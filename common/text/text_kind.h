/* text_kind.h - what is no text, told by its first bytes: archives, columns, images of other encodings. */
#ifndef BPE_TEXT_TEXT_KIND_H
#define BPE_TEXT_TEXT_KIND_H

#include "sys/err.h"

#include <stddef.h>

enum { TEXT_KIND_LOOK = 512 }; /* bytes of a source's start that are enough to tell */

/* p[0 .. n) is the start of a source, after decompression: TEXT_KIND_LOOK bytes, or fewer if it has no more. -1 with
 * EX_DATAERR, naming the source, if it is something else than text: the message says what, and what to do. */
int text_kind_check(const unsigned char *p, size_t n, const char *name, struct err *e);

#endif
