/* codec_isal.c - decompresses the data of gzip members with ISA-L (codec_internal.h). The Makefile defines BPE_ISAL if
 * it finds the library. */
#include "base/io/codec_internal.h"

#ifdef BPE_ISAL

#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX = 1 << 30 }; /* bytes: ISA-L counts them in a uint32_t, and may return some to the input */

struct inflater {
    struct inflate_state isal;
    unsigned char last[INFLATE_AHEAD]; /* the last bytes consumed, the most recent one at the end */
};

static void isal_close(struct inflater *i)
{
    free(i);
}

static void isal_reset(struct inflater *i)
{
    isal_inflate_reset(&i->isal);
    i->isal.crc_flag = ISAL_GZIP_NO_HDR; /* no header or trailer, but compute the CRC */
}

static struct inflater *isal_open(void)
{
    struct inflater *i = calloc(1, sizeof *i);
    if (!i)
        return NULL;
    isal_inflate_init(&i->isal);
    isal_reset(i);
    return i;
}

/* Updates `last` after p[0 .. n) has been consumed. */
static void note_last(struct inflater *i, const unsigned char *p, size_t n)
{
    size_t keep = n < INFLATE_AHEAD ? INFLATE_AHEAD - n : 0;
    memmove(i->last, i->last + INFLATE_AHEAD - keep, keep);
    memcpy(i->last + keep, p + n - (INFLATE_AHEAD - keep), INFLATE_AHEAD - keep);
}

/* Sets io->back to the bytes that ISA-L read past the end of the data. Version 2.30 keeps them as bits; later versions
 * return them to the input, and `before` of them come from earlier steps. */
static void give_back(struct inflater *i, struct inflate_io *io, size_t before)
{
    uint64_t bits = i->isal.read_in >> i->isal.read_in_length % 8;
    io->n_back = (size_t)i->isal.read_in_length / 8;
    for (size_t k = 0; k < io->n_back; k++)
        io->back[k] = (unsigned char)(bits >> 8 * k);
    if (before) {
        io->n_back = before;
        memcpy(io->back, i->last + INFLATE_AHEAD - before, before);
    }
}

static const char *reason(int rc)
{
    switch (rc) {
    case ISAL_INVALID_BLOCK:
        return "an invalid block";
    case ISAL_INVALID_SYMBOL:
        return "an invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "an invalid distance";
    default:
        return "unknown reason";
    }
}

static enum inflate_result isal_step(struct inflater *i, struct inflate_io *io)
{
    uint32_t n_in = io->n_in < STEP_MAX ? (uint32_t)io->n_in : STEP_MAX;
    uint32_t n_out = io->n_out < STEP_MAX ? (uint32_t)io->n_out : STEP_MAX;
    i->isal.next_in = (uint8_t *)(uintptr_t)io->in; /* ISA-L only reads it */
    i->isal.avail_in = n_in;
    i->isal.next_out = io->out;
    i->isal.avail_out = n_out;
    int rc = isal_inflate(&i->isal);
    uint32_t left = i->isal.avail_in;
    size_t used = left < n_in ? n_in - left : 0, made = n_out - i->isal.avail_out;
    note_last(i, io->in, used);
    io->n_back = 0;
    if (i->isal.block_state == ISAL_BLOCK_FINISH)
        give_back(i, io, left > n_in ? left - n_in : 0);
    io->in += used;
    io->n_in -= used;
    io->out += made;
    io->n_out -= made;
    io->crc = i->isal.crc;
    io->why = reason(rc);
    return rc != ISAL_DECOMP_OK                       ? INFLATE_DAMAGED
           : i->isal.block_state == ISAL_BLOCK_FINISH ? INFLATE_END
                                                      : INFLATE_MORE;
}

/* The version of the headers, because the library does not report its own. */
static const char *isal_version(void)
{
#define WORD(number) #number
#define VERSION(major, minor, patch) WORD(major) "." WORD(minor) "." WORD(patch)
    return VERSION(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

const struct inflate_library *inflate_isal(void)
{
    static const struct inflate_library isal = {isal_open, isal_close, isal_reset, isal_step, isal_version};
    return &isal;
}

#else

const struct inflate_library *inflate_isal(void)
{
    return NULL;
}

#endif
