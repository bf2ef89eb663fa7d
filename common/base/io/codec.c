/* codec.c - see codec.h. The formats are in codec_zstd.c and codec_gzip.c. */
#include "base/io/codec.h"

#include "base/io/codec_internal.h"

#include <stdio.h>

static const struct codec *find(const unsigned char *magic, size_t n)
{
    return codec_gzip.knows(magic, n) ? &codec_gzip : codec_zstd.knows(magic, n) ? &codec_zstd : NULL;
}

bool decompressor_knows(const unsigned char *magic, size_t n)
{
    return find(magic, n) != NULL;
}

int decompressor_open(struct decompressor **d, const unsigned char *magic, size_t n, struct err *e)
{
    const struct codec *codec = find(magic, n);
    *d = codec ? codec->open() : NULL;
    return codec && !*d ? err_mem(e, "decompression", 1 << 17) : 0;
}

void decompressor_close(struct decompressor *d)
{
    if (d)
        d->codec->close(d);
}

int decompressor_step(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len,
                      unsigned char *out, size_t cap, size_t *out_len, struct err *e)
{
    bool ended = *in_pos == in_len;
    *out_len = 0;
    if ((!ended || d->inside) && d->codec->step(d, in, in_pos, in_len, out, cap, out_len, e))
        return -1;
    /* A library may still hold output when the input has ended; the data is truncated only if no output is left. */
    if (ended && *out_len == 0 && d->inside)
        return err_set(e, EX_DATAERR, "the %s data is cut off before its end; fetch or make it again", d->codec->name);
    return 0;
}

const char *codec_versions(char *buf, size_t n)
{
    const struct inflate_library *isal = inflate_isal();
    snprintf(buf, n, "zstd %s, zlib %s%s%s", codec_zstd_version(), inflate_zlib.version(), isal ? ", ISA-L " : "",
             isal ? isal->version() : "");
    return buf;
}
