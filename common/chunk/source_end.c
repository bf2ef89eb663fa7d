/* source_end.c - see source_end.h. */
#include "chunk/source_end.h"

#include "base/io/fd.h"

#include <fcntl.h>
#include <stdint.h>

int source_end_check(int status, struct err *e)
{
    return fcntl(status, F_GETFD) < 0 ? err_set(e, EX_USAGE, "--input-status %d: no open descriptor", status) : 0;
}

static int confirm(void *ctx, struct err *e)
{
    unsigned char byte;
    ssize_t got = fd_read((int)(intptr_t)ctx, &byte, 1, "--input-status", e);
    if (got < 0)
        return -1;
    return got == 1 && byte == 0 ? 0
                                 : err_at(e, EX_TEMPFAIL, fd_name("-"), ERR_NO_OFFSET,
                                          "was cut off: what should write it has failed, or was killed");
}

int source_end_watch(struct input *in, int status, struct err *e)
{
    return status ? input_confirm_end(in, confirm, (void *)(intptr_t)status, e) : 0;
}
