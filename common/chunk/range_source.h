/* range_source.h - opens the file that a range record names; it must not have changed since bpe-chunk read it. */
#ifndef BPE_CHUNK_RANGE_SOURCE_H
#define BPE_CHUNK_RANGE_SOURCE_H

#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "pretok/special.h"
#include "wire/payload.h"

#include <stdint.h>

struct range_source {
    char name[4096 + 1];
    int fd;              /* owned; -1: closed */
    struct fd_stamp was; /* its state when bpe-chunk read it */
};

/* Opens the file and checks that it has not changed. A source by value is read from its file only if that is a regular,
 * uncompressed file. program: the program that reads it, for messages. -1: EX_NOINPUT, EX_DATAERR (changed, or
 * compressed), EX_IOERR; f is then closed. */
int range_source_open(struct range_source *f, const struct source_facts *r, const char *program, struct err *e);
void range_source_close(struct range_source *f);

/* Checks again, after reading, that the file has not changed. */
int range_source_check(const struct range_source *f, struct err *e);

/* Sets *before to the special token that ends right before byte `at` of the file, as in struct chunk. `space` holds the
 * bytes before it.
 */
int range_source_before(const struct range_source *f, const struct special_set *special, uint64_t at, struct buf *space,
                        uint64_t *before, struct err *e);

#endif
