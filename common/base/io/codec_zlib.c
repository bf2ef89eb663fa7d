/* codec_zlib.c - zlib: decompresses the data of gzip members (codec_internal.h) and writes gzip files (gzip_writer.h).
 */
#include "base/io/codec_internal.h"
#include "base/io/fd.h"
#include "base/io/gzip_writer.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

enum { STEP_MAX = 1 << 30 }; /* bytes: zlib counts them in an `unsigned` */

struct inflater {
    z_stream z;
    uint32_t crc;
};

static void zlib_close(struct inflater *i)
{
    inflateEnd(&i->z);
    free(i);
}

static struct inflater *zlib_open(void)
{
    struct inflater *i = calloc(1, sizeof *i);
    if (i && inflateInit2(&i->z, -15) != Z_OK) { /* negative: no header, no trailer */
        free(i);
        return NULL;
    }
    return i;
}

static void zlib_reset(struct inflater *i)
{
    inflateReset(&i->z);
    i->crc = 0;
}

static enum inflate_result zlib_step(struct inflater *i, struct inflate_io *io)
{
    unsigned n_in = io->n_in < STEP_MAX ? (unsigned)io->n_in : STEP_MAX;
    unsigned n_out = io->n_out < STEP_MAX ? (unsigned)io->n_out : STEP_MAX;
    i->z.next_in = io->in;
    i->z.avail_in = n_in;
    i->z.next_out = io->out;
    i->z.avail_out = n_out;
    int rc = inflate(&i->z, Z_NO_FLUSH);
    size_t used = n_in - i->z.avail_in, made = n_out - i->z.avail_out;
    i->crc = inflate_crc32(i->crc, io->out, made);
    io->in += used;
    io->n_in -= used;
    io->out += made;
    io->n_out -= made;
    io->crc = i->crc;
    io->n_back = 0; /* zlib never reads past the end of the data */
    io->why = i->z.msg ? i->z.msg : "unknown reason";
    return rc == Z_STREAM_END                ? INFLATE_END
           : rc == Z_OK || rc == Z_BUF_ERROR ? INFLATE_MORE
           : rc == Z_MEM_ERROR               ? INFLATE_NO_MEMORY
                                             : INFLATE_DAMAGED;
}

const struct inflate_library inflate_zlib = {zlib_open, zlib_close, zlib_reset, zlib_step, zlibVersion};

uint32_t inflate_crc32(uint32_t crc, const unsigned char *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}

/* ---- gzip_writer.h ---- */

enum { LEVEL = 6, GZIP_WINDOW = 15 + 16 /* 16: with the header and trailer of gzip */, MEMORY = 8, OUT = 128 << 10 };

struct gzip_writer {
    z_stream z;
    int fd;
    const char *name;
    unsigned char out[OUT];
};

struct gzip_writer *gzip_writer_open(int fd, const char *name, struct err *e)
{
    struct gzip_writer *w = calloc(1, sizeof *w);
    if (!w || deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(w);
        err_mem(e, "compression", OUT + (256 << 10));
        return NULL;
    }
    w->fd = fd;
    w->name = name;
    w->z.next_out = w->out;
    w->z.avail_out = OUT;
    return w;
}

/* Compresses the input at z.next_in. */
static int deflate_all(struct gzip_writer *w, int flush, struct err *e)
{
    for (;;) {
        int rc = deflate(&w->z, flush);
        if (w->z.avail_out && (flush != Z_FINISH || rc == Z_STREAM_END))
            return 0;
        if (fd_write(w->fd, w->out, OUT - w->z.avail_out, w->name, e))
            return -1;
        w->z.next_out = w->out;
        w->z.avail_out = OUT;
    }
}

int gzip_writer_put(struct gzip_writer *w, const void *p, size_t n, struct err *e)
{
    const unsigned char *b = p;
    while (n) {
        unsigned part = n < STEP_MAX ? (unsigned)n : STEP_MAX;
        w->z.next_in = b;
        w->z.avail_in = part;
        if (deflate_all(w, Z_NO_FLUSH, e))
            return -1;
        b += part;
        n -= part;
    }
    return 0;
}

int gzip_writer_close(struct gzip_writer *w, int rc, struct err *e)
{
    if (rc == 0)
        rc = deflate_all(w, Z_FINISH, e) || fd_write(w->fd, w->out, OUT - w->z.avail_out, w->name, e) ? -1 : 0;
    deflateEnd(&w->z);
    free(w);
    return rc;
}
