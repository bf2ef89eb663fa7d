/* codec_internal.h - what codec.c and the compressed formats share: the functions of a format; and for gzip, whose data
 * two libraries can decompress, the functions of a library. */
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
    /* As decompressor_step. Need not tell that the input is cut off: d->inside says so. */
    int (*step)(struct decompressor *d, const unsigned char *in, size_t *in_pos, size_t in_len, unsigned char *out,
                size_t cap, size_t *out_len, struct err *e);
};

/* The beginning of each format's own struct. */
struct decompressor {
    const struct codec *codec;
    bool inside; /* a frame or member has begun and not ended */
};

extern const struct codec codec_zstd, codec_gzip;

const char *codec_zstd_version(void); /* of the library; static */

/* ---- A library for the data of a gzip member: codec_isal.c, codec_zlib.c ---- */

enum inflate_result { INFLATE_MORE, INFLATE_END, INFLATE_DAMAGED, INFLATE_NO_MEMORY };

enum { INFLATE_AHEAD = 8 }; /* bytes that a library may take from its input before it needs them */

/* The input and the output of one step; both advance. */
struct inflate_io {
    const unsigned char *in;
    size_t n_in;
    unsigned char *out;
    size_t n_out; /* room */
    /* After INFLATE_END: */
    uint32_t crc;                      /* CRC-32 of all output */
    unsigned char back[INFLATE_AHEAD]; /* bytes taken in earlier steps that belong to what follows the data, */
    size_t n_back;                     /* before `in` */
    const char *why;                   /* after INFLATE_DAMAGED */
};

struct inflater; /* each library's own */

struct inflate_library {
    struct inflater *(*open)(void); /* NULL: out of memory */
    void (*close)(struct inflater *i);
    void (*reset)(struct inflater *i); /* before each member's data */
    enum inflate_result (*step)(struct inflater *i, struct inflate_io *io);
    const char *(*version)(void); /* static */
};

extern const struct inflate_library inflate_zlib;

/* ISA-L, which is at least twice as fast; NULL: the program was built without it. */
const struct inflate_library *inflate_isal(void);

/* A gzip decompressor by this library; NULL: out of memory. */
struct decompressor *codec_gzip_open(const struct inflate_library *library);

/* The CRC-32 of some bytes after others whose CRC-32 is `crc` (0: none). */
uint32_t inflate_crc32(uint32_t crc, const unsigned char *p, size_t n);

#endif
