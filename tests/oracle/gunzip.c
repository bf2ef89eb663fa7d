/* gunzip.c - decompresses gzip streams with the given library (zlib, ISA-L), for gunzip.t. Each stream on standard
 * input: the number of bytes to read at a time, the size of the output buffer, the length (4 bytes each,
 * little-endian), and its bytes. For each, on standard output: one byte, 1 (accepted) or 0, the length of the text, and
 * the text. Exits with 3 if the library is not available. */
#include "base/io/codec.h"
#include "base/io/codec_internal.h"
#include "base/sys/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t get32(void)
{
    unsigned char p[4];
    if (fread(p, 1, 4, stdin) != 4)
        exit(0);
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint32_t v)
{
    for (int i = 0; i < 4; i++)
        putchar((int)(v >> 8 * i & 0xFF));
}

/* Reads like base/io/input.c. Each window of input is a separate copy, so that ASan detects reads past it. */
static int gunzip(struct decompressor *d, const unsigned char *in, size_t n, size_t step, size_t cap, struct buf *text)
{
    struct err e;
    unsigned char *out = malloc(cap);
    size_t at = 0, got = 1, left = 0;
    int rc = out ? 0 : -1;
    while (rc == 0 && (at < n || got || left)) {
        size_t len = n - at < step ? n - at : step, pos = 0;
        unsigned char *window = malloc(len ? len : 1);
        if (!window)
            abort();
        memcpy(window, in + at, len);
        at += len;
        do {
            left = len - pos;
            rc = decompressor_step(d, window, &pos, len, out, cap, &got, &e);
            if (rc == 0)
                rc = buf_put(text, out, got, &e);
        } while (rc == 0 && pos < len);
        left = len;
        free(window);
    }
    free(out);
    return rc;
}

int main(int argc, char **argv)
{
    const struct inflate_library *library = argc > 1 && strcmp(argv[1], "zlib") == 0 ? &inflate_zlib : inflate_isal();
    if (!library)
        return 3;
    for (;;) {
        size_t step = get32(), cap = get32(), n = get32();
        unsigned char *in = malloc(n + 1);
        struct decompressor *d = codec_gzip_open(library);
        struct buf text = {0};
        if (!in || !d || fread(in, 1, n, stdin) != n)
            return 1;
        int rc = gunzip(d, in, n, step, cap, &text);
        putchar(rc == 0 ? 1 : 0);
        put32((uint32_t)text.len);
        if (text.len)
            fwrite(text.p, 1, text.len, stdout);
        buf_free(&text);
        decompressor_close(d);
        free(in);
    }
}
