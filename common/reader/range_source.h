/* range_source.h - the file that a range record names, as it was when bpe-chunk looked at it, or not at all. */
#ifndef BPE_READER_RANGE_SOURCE_H
#define BPE_READER_RANGE_SOURCE_H

#include "records/payload.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "text/special.h"

#include <stdint.h>

struct range_source {
    char name[4096 + 1];
    int fd; /* owned; -1: closed */
    uint64_t size, mtime_s, mtime_ns;
};

/* Opens the file and checks that it has not changed. A source that was read by value is read from its file if that is a
 * plain one, its bytes the text itself. program: who wants to read it, for messages. -1: EX_NOINPUT, EX_DATAERR
 * (changed, or no plain file), EX_IOERR; f is closed then. */
int range_source_open(struct range_source *f, const struct range_file *r, const char *program, struct err *e);
void range_source_close(struct range_source *f);

/* The same check again, after reading. */
int range_source_check(const struct range_source *f, struct err *e);

/* Which special token ends right before a place of the file, as in struct chunk. `space` is for the bytes before it. */
int range_source_before(const struct range_source *f, const struct special_set *special, uint64_t at, struct buf *space,
                        uint64_t *before, struct err *e);

#endif
