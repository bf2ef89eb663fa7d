/* output.c - see output.h. */
#include "driver/output.h"

#include "base/io/fd.h"

int output_open(struct output *o, const char *path, struct err *e)
{
    *o = (struct output){.fd = 1, .name = path ? path : "standard output"};
    if (path && outfile_open(&o->file, path, e))
        return -1;
    if (path)
        o->fd = o->file.fd;
    return 0;
}

void output_drop(struct output *o)
{
    if (o->file.path)
        outfile_drop(&o->file);
    *o = (struct output){.fd = -1};
}

int output_close(struct output *o, struct err *e)
{
    o->fd = -1;
    return o->file.path ? outfile_commit(&o->file, 1, e) : fd_close_stdout(e);
}
