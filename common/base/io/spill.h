/* spill.h - data moved from memory to disk: one unlinked temporary file of compressed blocks. */
#ifndef BPE_BASE_IO_SPILL_H
#define BPE_BASE_IO_SPILL_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct spill {
    const char *dir; /* borrowed */
    int fd;          /* -1: nothing has been spilled yet */
    uint64_t end;    /* length of the file */
    struct buf packed;
};

/* One block in the file. */
struct spill_block {
    uint64_t offset;
    uint32_t len, raw_len; /* lengths: compressed, as in the file, and uncompressed */
};

/* dir NULL: $TMPDIR or, if that is not set, /tmp. No file is created before the first write. */
void spill_init(struct spill *s, const char *dir);
void spill_free(struct spill *s);

/* Writes n < 2^31 bytes as one block. -1 with EX_CANTCREAT or EX_IOERR; the message names the directory and how to
 * choose another. */
int spill_write(struct spill *s, const void *p, size_t n, struct spill_block *b, struct err *e);

/* Appends the bytes of a block to *out. */
int spill_read(const struct spill *s, const struct spill_block *b, struct buf *out, struct err *e);

#endif
