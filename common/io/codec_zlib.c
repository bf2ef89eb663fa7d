/* codec_zlib.c - the data of gzip members by zlib (codec_parts.h). */
#include "io/codec_parts.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

enum { STEP_MAX = 1 << 30 }; /* bytes: zlib counts them by `unsigned` */

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
    io->n_back = 0; /* zlib takes no byte that it does not need */
    io->why = i->z.msg ? i->z.msg : "unknown reason";
    return rc == Z_STREAM_END                ? INFLATE_END
           : rc == Z_OK || rc == Z_BUF_ERROR ? INFLATE_MORE
           : rc == Z_MEM_ERROR               ? INFLATE_NO_MEMORY
                                             : INFLATE_DAMAGED;
}

const struct inflate_library inflate_zlib = {"zlib", zlib_open, zlib_close, zlib_reset, zlib_step};

uint32_t inflate_crc32(uint32_t crc, const unsigned char *p, size_t n)
{
    return (uint32_t)crc32_z(crc, p, n);
}
