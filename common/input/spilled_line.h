/* spilled_line.h - makes a line that is too long for memory readable again, from its file or from a temporary file. */
#ifndef BPE_INPUT_SPILLED_LINE_H
#define BPE_INPUT_SPILLED_LINE_H

#include "base/io/spill.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stddef.h>
#include <stdint.h>

struct spilled_line { /* zeroed: nothing to free */
    const char *name; /* of the source, for messages; borrowed */
    uint64_t len;
    size_t part;    /* about how much of it long_line.h keeps in memory */
    int fd;         /* the file that the line is in, borrowed; -1: it is kept in a temporary file */
    uint64_t begin; /* offset of the line in fd */
    struct spill spill;
    struct spill_block *block; /* owned array: the blocks in the temporary file */
    size_t n_blocks, cap_blocks;
    struct buf unpacked; /* one of the blocks */
    size_t which;        /* its index; SIZE_MAX: none yet */
};

/* Begins an empty line at this offset of fd; fd -1: it is not in a file that can be read again. `part`, at least 16, is
 * for long_line.h. */
void spilled_line_begin(struct spilled_line *k, const char *name, int fd, uint64_t begin, size_t part);

/* Appends p[0 .. n) to the line. -1: EX_CANTCREAT, EX_IOERR, or out of memory. */
int spilled_line_add(struct spilled_line *k, const unsigned char *p, size_t n, struct err *e);

/* Reads at most n bytes at an offset of the line. 0: the line ends there. -1: EX_IOERR, or the file has become shorter
 * (EX_DATAERR, with its name). */
ptrdiff_t spilled_line_read(struct spilled_line *k, uint64_t at, unsigned char *p, size_t n, struct err *e);

/* Frees the line and removes its temporary file. */
void spilled_line_free(struct spilled_line *k);

#endif
