/* codec_internal.h - the interfaces between codec.c and the compressed formats: the functions of a format, and those of
 * an inflate library, because two libraries can decompress gzip. */
#ifndef BPE_BASE_IO_CODEC_INTERNAL_H
#define BPE_BASE_IO_CODEC_INTERNAL_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- A format: codec_zstd.c, codec_gzip.c ---- */

struct codec {
    const char *name;
    bool (*knows)(const unsigned char *magic, size_t n);
    struct decompressor *(*open)(void); /* NULL: out of memory */
    void (*close)(struct decompressor *d);
    /* As decompressor_step, but need not detect truncated input: d->inside shows it. */
    int (*step)(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len, unsigned char *out,
                size_t cap, size_t *out_len, struct err *e);
};

/* The beginning of each format's own struct. */
struct decompressor {
    const struct codec *codec;
    bool inside; /* in the middle of a frame or member */
};

extern const struct codec codec_zstd, codec_gzip;

const char *codec_zstd_version(void); /* of the library; static */

/* ---- A library that decompresses the data of gzip members: codec_isal.c, codec_zlib.c ---- */

enum inflate_result { INFLATE_MORE, INFLATE_END, INFLATE_DAMAGED, INFLATE_NO_MEMORY };

enum { INFLATE_AHEAD = 8 }; /* bytes that a library may read ahead in its input */

/* The input and output of one step; both advance. */
struct inflate_io {
    const unsigned char *in;
    size_t n_in;
    unsigned char *out;
    size_t n_out; /* space left */
    /* After INFLATE_END: */
    uint32_t crc;                      /* CRC-32 of all output */
    unsigned char back[INFLATE_AHEAD]; /* bytes that were read ahead: they follow the data, and precede `in` */
    size_t n_back;
    const char *why; /* after INFLATE_DAMAGED */
};

struct inflater; /* each library defines its own */

struct inflate_library {
    struct inflater *(*open)(void); /* NULL: out of memory */
    void (*close)(struct inflater *i);
    void (*reset)(struct inflater *i); /* before each member's data */
    enum inflate_result (*step)(struct inflater *i, struct inflate_io *io);
    const char *(*version)(void); /* static */
};

extern const struct inflate_library inflate_zlib;

/* ISA-L, which is at least twice as fast as zlib; NULL: the program was built without it. */
const struct inflate_library *inflate_isal(void);

/* A gzip decompressor that uses this library; NULL: out of memory. */
struct decompressor *codec_gzip_open(const struct inflate_library *library);

/* The CRC-32 of n more bytes, after bytes whose CRC-32 is `crc` (0: none). */
uint32_t inflate_crc32(uint32_t crc, const unsigned char *p, size_t n);

#endif
