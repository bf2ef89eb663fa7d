/* codec_zstd.c - zstd: streams of frames (codec_internal.h) and the blocks of temporary files (codec.h). */
#include "base/io/codec.h"
#include "base/io/codec_internal.h"
#include "base/sys/bytes.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* A decompressor holds one window of text in memory. This limit, which is also the default of the zstd command, bounds
 * the memory. */
enum { WINDOW_LOG_MAX = 27 };

enum { HEADER_MAX = 18 }; /* bytes in the longest frame header */

struct zstd_decoder {
    struct decompressor base;
    ZSTD_DCtx *zstd;
    unsigned char header[HEADER_MAX]; /* the first bytes of the current frame */
    size_t n_header;
};

/* A stream may begin with a skippable frame, as those of pzstd do. */
static bool zstd_knows(const unsigned char *magic, size_t n)
{
    return n >= 4 &&
           (load_le(magic, 4) == ZSTD_MAGICNUMBER || (load_le(magic, 4) & 0xFFFFFFF0) == ZSTD_MAGIC_SKIPPABLE_START);
}

static void zstd_close(struct decompressor *d)
{
    ZSTD_freeDCtx(((struct zstd_decoder *)d)->zstd);
    free(d);
}

static struct decompressor *zstd_open(void)
{
    struct zstd_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->base.codec = &codec_zstd;
    d->zstd = ZSTD_createDCtx();
    if (!d->zstd) {
        free(d);
        return NULL;
    }
    ZSTD_DCtx_setParameter(d->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return &d->base;
}

/* The window size that the frame header requests (RFC 8878, 3.1.1.1); without a window field, the length of the text.
 */
static uint64_t window_len(const unsigned char *header)
{
    unsigned descriptor = header[4];
    if (!(descriptor & 0x20)) {
        uint64_t base = (uint64_t)1 << (10 + (header[5] >> 3));
        return base + base / 8 * (header[5] & 7);
    }
    const unsigned char *len = header + 5 + (unsigned[]){0, 1, 2, 4}[descriptor & 3];
    switch (descriptor >> 6) {
    case 0:
        return len[0];
    case 1:
        return 256 + (uint64_t)(len[0] | len[1] << 8);
    case 2:
        return load_le(len, 4);
    default:
        return load_u64le(len);
    }
}

static int failed(const struct zstd_decoder *d, size_t rc, struct err *e)
{
    enum { MIB = 1 << 20, ZSTD_MAX = 2048 }; /* ZSTD_MAX: the longest window that zstd writes or reads, in MiB */
    if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
        return err_mem(e, "decompression", window_len(d->header));
    if (ZSTD_getErrorCode(rc) != ZSTD_error_frameParameter_windowTooLarge)
        return err_set(e, EX_DATAERR, "damaged zstd data (%s)", ZSTD_getErrorName(rc));
    uint64_t len = window_len(d->header), mib = len / MIB + (len % MIB > 0);
    if (mib > ZSTD_MAX)
        return err_set(e, EX_DATAERR, "damaged zstd data (a window of %llu MiB)", (unsigned long long)mib);
    return err_set(e, EX_DATAERR,
                   "its zstd window is %llu MiB, but at most %d are allowed, because each process needs that much "
                   "memory; decompress it with zstd -dc --long=31 FILE | bpe-chunk",
                   (unsigned long long)mib, (1 << WINDOW_LOG_MAX) / MIB);
}

/* Copies the first bytes of a frame, which are in in[0 .. n), to d->header. */
static void keep_header(struct zstd_decoder *d, const unsigned char *in, size_t n)
{
    if (!d->base.inside)
        d->n_header = 0;
    for (size_t i = 0; i < n && d->n_header < HEADER_MAX; i++)
        d->header[d->n_header++] = in[i];
}

/* ZSTD_decompressStream stops at the end of a frame, so each frame begins in a new step. */
static int zstd_step(struct decompressor *base, const unsigned char *in, size_t *in_pos, size_t in_len,
                     unsigned char *out, size_t cap, size_t *out_len, struct err *e)
{
    struct zstd_decoder *d = (struct zstd_decoder *)base;
    ZSTD_inBuffer from = {in, in_len, *in_pos};
    ZSTD_outBuffer to = {out, cap, 0};
    keep_header(d, in + *in_pos, in_len - *in_pos);
    size_t rc = ZSTD_decompressStream(d->zstd, &to, &from);
    if (ZSTD_isError(rc))
        return failed(d, rc, e);
    base->inside = rc != 0;
    *in_pos = from.pos;
    *out_len = to.pos;
    return 0;
}

const struct codec codec_zstd = {"zstd", zstd_knows, zstd_open, zstd_close, zstd_step};

const char *codec_zstd_version(void)
{
    return ZSTD_versionString();
}

/* ---- Blocks ---- */

int block_pack(struct buf *out, const void *p, size_t n, struct err *e)
{
    size_t bound = ZSTD_compressBound(n);
    if (buf_reserve(out, bound, e))
        return -1;
    size_t rc = ZSTD_compress(out->p + out->len, bound, p, n, 1);
    if (ZSTD_isError(rc))
        return err_set(e, EX_OSERR, "cannot compress: %s", ZSTD_getErrorName(rc));
    out->len += rc;
    return 0;
}

int block_unpack(struct buf *out, const void *p, size_t n, size_t raw_len, struct err *e)
{
    if (buf_reserve(out, raw_len, e))
        return -1;
    size_t rc = ZSTD_decompress(out->p + out->len, raw_len, p, n);
    if (ZSTD_isError(rc) || rc != raw_len)
        return err_set(e, EX_IOERR, "a temporary file was damaged");
    out->len += raw_len;
    return 0;
}
