/* codec.c - see codec.h. */
#include "io/codec.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

enum kind { ZSTD, GZIP };

struct decoder {
    enum kind kind;
    ZSTD_DCtx *zstd;
    z_stream gz;
    bool inside;  /* a frame or member has begun and not ended */
    bool padding; /* gzip: zero bytes after the last member (tapes, block devices); nothing else may follow */
};

static unsigned long le32(const unsigned char *p)
{
    return (unsigned long)p[0] | (unsigned long)p[1] << 8 | (unsigned long)p[2] << 16 | (unsigned long)p[3] << 24;
}

static bool is_gzip(const unsigned char *magic, size_t n)
{
    return n >= 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

/* A stream may begin with skippable frames, as the streams of pzstd do. */
static bool is_zstd(const unsigned char *magic, size_t n)
{
    return n >= 4 && (le32(magic) == ZSTD_MAGICNUMBER || (le32(magic) & 0xFFFFFFF0) == ZSTD_MAGIC_SKIPPABLE_START);
}

bool decoder_knows(const unsigned char *magic, size_t n)
{
    return is_gzip(magic, n) || is_zstd(magic, n);
}

int decoder_open(struct decoder **d, const unsigned char *magic, size_t n, struct err *e)
{
    *d = NULL;
    bool gzip = is_gzip(magic, n), zstd = is_zstd(magic, n);
    if (!gzip && !zstd)
        return 0;
    struct decoder *new = calloc(1, sizeof *new);
    if (!new)
        return err_mem(e, "decompression", sizeof *new);
    new->kind = gzip ? GZIP : ZSTD;
    if (zstd) {
        new->zstd = ZSTD_createDCtx();
        if (new->zstd)
            ZSTD_DCtx_setParameter(new->zstd, ZSTD_d_windowLogMax, sizeof(size_t) == 8 ? 31 : 30);
    }
    if (zstd ? !new->zstd : inflateInit2(&new->gz, 15 + 16) != Z_OK) {
        free(new);
        return err_mem(e, "decompression", 1 << 17);
    }
    *d = new;
    return 0;
}

void decoder_close(struct decoder *d)
{
    if (!d)
        return;
    if (d->kind == ZSTD)
        ZSTD_freeDCtx(d->zstd);
    else
        inflateEnd(&d->gz);
    free(d);
}

static int step_zstd(struct decoder *d, ZSTD_inBuffer *in, ZSTD_outBuffer *out, struct err *e)
{
    size_t rc = ZSTD_decompressStream(d->zstd, out, in);
    if (ZSTD_isError(rc))
        return err_set(e, EX_DATAERR, "damaged zstd data (%s)", ZSTD_getErrorName(rc));
    d->inside = rc != 0;
    return 0;
}

static int step_gzip(struct decoder *d, const unsigned char *in, size_t *in_pos, size_t in_len, unsigned char *out,
                     size_t cap, size_t *out_len, struct err *e)
{
    if (!d->inside) {
        while (d->padding && *in_pos < in_len && in[*in_pos] == 0)
            ++*in_pos;
        if (*in_pos == in_len)
            return 0;
        if (in[*in_pos] == 0 && d->gz.total_out + d->gz.total_in > 0) {
            d->padding = true;
            return 0;
        }
        if (d->padding || in[*in_pos] != 0x1F)
            return err_set(e, EX_DATAERR, "damaged gzip data (something follows that is no gzip member)");
        inflateReset(&d->gz);
        d->inside = true;
    }
    size_t avail = in_len - *in_pos < 1u << 30 ? in_len - *in_pos : 1u << 30;
    size_t room = cap < 1u << 30 ? cap : 1u << 30;
    d->gz.next_in = in + *in_pos; /* ZLIB_CONST */
    d->gz.avail_in = (unsigned)avail;
    d->gz.next_out = out;
    d->gz.avail_out = (unsigned)room;
    int rc = inflate(&d->gz, Z_NO_FLUSH);
    *in_pos += avail - d->gz.avail_in;
    *out_len = room - d->gz.avail_out;
    if (rc == Z_STREAM_END)
        d->inside = false;
    else if (rc == Z_MEM_ERROR)
        return err_mem(e, "decompression", 1 << 17);
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return err_set(e, EX_DATAERR, "damaged gzip data (%s)", d->gz.msg ? d->gz.msg : "unknown reason");
    return 0;
}

int decoder_step(struct decoder *d, const unsigned char *in, size_t *in_pos, size_t in_len, unsigned char *out,
                 size_t cap, size_t *out_len, struct err *e)
{
    bool ended = *in_pos == in_len;
    *out_len = 0;
    if (d->kind == ZSTD) {
        ZSTD_inBuffer ib = {in, in_len, *in_pos};
        ZSTD_outBuffer ob = {out, cap, 0};
        if ((!ended || d->inside) && step_zstd(d, &ib, &ob, e))
            return -1;
        *in_pos = ib.pos;
        *out_len = ob.pos;
    } else if ((!ended || d->inside) && step_gzip(d, in, in_pos, in_len, out, cap, out_len, e)) {
        return -1;
    }
    /* Both libraries may still hold output when the input has ended; it is cut off only if they have no more output. */
    if (ended && *out_len == 0 && d->inside)
        return err_set(e, EX_DATAERR, "the %s data is cut off before its end", d->kind == ZSTD ? "zstd" : "gzip");
    return 0;
}

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
