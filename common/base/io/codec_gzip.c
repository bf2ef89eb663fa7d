/* codec_gzip.c - gzip (RFC 1952): streams of members. This file parses the header and trailer of a member, one byte at
 * a time, because a read may end anywhere. One of two libraries decompresses the data between them (codec_internal.h).
 */
#include "base/io/codec_internal.h"
#include "base/sys/bytes.h"

#include <stdlib.h>

/* The field that the next byte belongs to. */
enum field {
    BETWEEN, /* between members */
    FIXED,   /* the first ten bytes of the header; flags in it select the optional fields that follow */
    EXTRA_LEN,
    EXTRA,
    NAME,
    COMMENT,
    HEADER_CRC,
    DATA,
    TRAILER,
};

enum { FLAG_HEADER_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_UNKNOWN = 0xE0 };
enum { FIXED_LEN = 10, TRAILER_LEN = 8 };

struct gzip_decoder {
    struct decompressor base;
    const struct inflate_library *library;
    struct inflater *inflater;
    enum field field;
    bool ended;   /* a member has ended */
    bool padding; /* zero bytes after the last member (tapes, block devices); nothing else may follow */
    unsigned flags;
    unsigned extra_len;
    size_t n; /* bytes of the field read so far */
    unsigned char trailer[TRAILER_LEN];
    uint32_t header_crc, crc; /* of the header; of the text */
    uint32_t size;            /* of the text, modulo 2^32 */
};

static bool gzip_knows(const unsigned char *magic, size_t n)
{
    return n >= 2 && magic[0] == 0x1F && magic[1] == 0x8B;
}

static void gzip_close(struct decompressor *d)
{
    struct gzip_decoder *g = (struct gzip_decoder *)d;
    g->library->close(g->inflater);
    free(g);
}

struct decompressor *codec_gzip_open(const struct inflate_library *library)
{
    struct gzip_decoder *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->base.codec = &codec_gzip;
    g->library = library;
    g->inflater = library->open();
    if (!g->inflater) {
        free(g);
        return NULL;
    }
    return &g->base;
}

static struct decompressor *gzip_open(void)
{
    const struct inflate_library *isal = inflate_isal();
    return codec_gzip_open(isal ? isal : &inflate_zlib);
}

static int damaged(struct err *e, const char *why)
{
    return err_set(e, EX_DATAERR, "damaged gzip data (%s)", why);
}

/* ---- The header ---- */

static bool has_field(const struct gzip_decoder *g, enum field field)
{
    switch (field) {
    case EXTRA_LEN:
        return g->flags & FLAG_EXTRA;
    case EXTRA:
        return g->extra_len > 0;
    case NAME:
        return g->flags & FLAG_NAME;
    case COMMENT:
        return g->flags & FLAG_COMMENT;
    case HEADER_CRC:
        return g->flags & FLAG_HEADER_CRC;
    default:
        return true;
    }
}

static void next_field(struct gzip_decoder *g)
{
    g->n = 0;
    do
        g->field = (enum field)(g->field + 1);
    while (!has_field(g, g->field));
    if (g->field == DATA)
        g->library->reset(g->inflater);
}

/* The first ten bytes: two magic bytes, the method, the flags, and six that are ignored. */
static int take_fixed(struct gzip_decoder *g, unsigned char c, struct err *e)
{
    switch (g->n++) {
    case 1:
        return c == 0x8B ? 0 : damaged(e, "trailing data is not a gzip member");
    case 2:
        return c == 8 ? 0 : damaged(e, "unknown compression method");
    case 3:
        g->flags = c;
        return c & FLAGS_UNKNOWN ? damaged(e, "unknown flags in a header") : 0;
    case FIXED_LEN - 1:
        next_field(g);
    }
    return 0;
}

static int take_header(struct gzip_decoder *g, unsigned char c, struct err *e)
{
    uint32_t before = g->header_crc;
    g->header_crc = inflate_crc32(before, &c, 1);
    switch (g->field) {
    case FIXED:
        return take_fixed(g, c, e);
    case EXTRA_LEN:
        g->extra_len |= (unsigned)c << 8 * g->n++;
        if (g->n == 2)
            next_field(g);
        return 0;
    case EXTRA:
        if (++g->n == g->extra_len)
            next_field(g);
        return 0;
    case HEADER_CRC: /* the lower half of the CRC of all preceding header bytes */
        if (c != (before >> 8 * g->n & 0xFF))
            return damaged(e, "the checksum of a header is wrong");
        g->header_crc = before;
        if (++g->n == 2)
            next_field(g);
        return 0;
    default: /* NAME, COMMENT */
        if (c == 0)
            next_field(g);
        return 0;
    }
}

/* ---- Members ---- */

/* A byte after a member, or the first one. 0: padding; 1: it begins a member. */
static int take_between(struct gzip_decoder *g, unsigned char c, struct err *e)
{
    if (c == 0 && g->ended) {
        g->padding = true;
        return 0;
    }
    if (g->padding || c != 0x1F)
        return damaged(e, "trailing data is not a gzip member");
    g->field = FIXED;
    g->n = g->flags = g->extra_len = 0;
    g->header_crc = g->size = 0;
    g->base.inside = true;
    return 1;
}

static int take_trailer(struct gzip_decoder *g, unsigned char c, struct err *e)
{
    g->trailer[g->n++] = c;
    if (g->n < TRAILER_LEN)
        return 0;
    if (load_le(g->trailer, 4) != g->crc)
        return damaged(e, "the checksum of the text is wrong");
    if (load_le(g->trailer + 4, 4) != g->size)
        return damaged(e, "the length of the text is wrong");
    g->field = BETWEEN;
    g->ended = true;
    g->base.inside = false;
    return 0;
}

static int take(struct gzip_decoder *g, unsigned char c, struct err *e)
{
    if (g->field == TRAILER)
        return take_trailer(g, c, e);
    if (g->field != BETWEEN)
        return take_header(g, c, e);
    int rc = take_between(g, c, e);
    return rc > 0 ? take_header(g, c, e) : rc;
}

/* Decompresses part of a member's data. */
static int take_data(struct gzip_decoder *g, struct inflate_io *io, struct err *e)
{
    const unsigned char *out = io->out;
    size_t had = io->n_in;
    enum inflate_result got = g->library->step(g->inflater, io);
    g->size += (uint32_t)(io->out - out);
    if (got == INFLATE_NO_MEMORY)
        return err_mem(e, "decompression", 1 << 17);
    if (got == INFLATE_DAMAGED)
        return damaged(e, io->why);
    if (got == INFLATE_MORE) /* a step without progress would repeat forever */
        return had && io->n_in == had && io->out == out ? damaged(e, "no progress") : 0;
    g->crc = io->crc;
    g->field = TRAILER;
    g->n = 0;
    for (size_t i = 0; i < io->n_back; i++) { /* no more bytes than the trailer has */
        if (take(g, io->back[i], e))
            return -1;
    }
    return 0;
}

/* Runs until there is output, or no input is left. */
static int gzip_step(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len, unsigned char *out,
                     size_t cap, size_t *out_len, struct err *e)
{
    struct gzip_decoder *g = (struct gzip_decoder *)d;
    struct inflate_io io = {.in = in + *in_pos, .n_in = in_len - *in_pos, .out = out, .n_out = cap};
    bool more = true;
    int rc = 0;
    while (more && rc == 0 && io.out == out) {
        if (g->field == DATA) {
            rc = take_data(g, &io, e);
        } else if (io.n_in) {
            rc = take(g, *io.in, e);
            io.in++;
            io.n_in--;
        }
        more = io.n_in > 0;
    }
    *in_pos = in_len - io.n_in; /* after an error: where it was found */
    *out_len = (size_t)(io.out - out);
    return rc;
}

const struct codec codec_gzip = {"gzip", gzip_knows, gzip_open, gzip_close, gzip_step};
