/* records.h - streams of records for fuzz targets. A changed stream is refused because of its checksums, so it is read
 * twice: unchanged, and with a correct header for each line. */
#ifndef BPE_TESTS_FUZZ_RECORDS_H
#define BPE_TESTS_FUZZ_RECORDS_H

#include "fuzz.h"
#include "wire/cobs.h"
#include "wire/record.h"

#include <string.h>

/* Makes a record of a line: keeps its type and payload, if it has them, and makes its length and checksum. */
static void fuzz_reframe(struct buf *out, const uint8_t *line, size_t n)
{
    struct err e;
    struct buf stuffed = {0}, payload = {0};
    if (n < RECORD_HEADER)
        return;
    if (buf_put(&stuffed, line + RECORD_HEADER, n - RECORD_HEADER, &e) || buf_reserve(&stuffed, COBS_PAD, &e) ||
        buf_reserve(&payload, n + COBS_PAD, &e))
        abort();
    size_t len = cobs_decode(payload.p, stuffed.p, stuffed.len);
    if (len == SIZE_MAX) { /* not a stuffed payload: stuff it */
        len = stuffed.len;
        memcpy(payload.p, stuffed.p, len);
    }
    if (record_put(out, line[2], payload.p, len, &e))
        abort();
    buf_free(&stuffed);
    buf_free(&payload);
}

/* Calls take for each record of a stream, up to the first damaged one. */
static void fuzz_each(const void *data, size_t size, void take(void *ctx, const struct record *rec), void *ctx)
{
    static struct fuzz_file file;
    struct record_reader r;
    struct record rec;
    struct err e;
    if (record_reader_open(&r, fuzz_fill(&file, data, size), &e))
        return;
    while (record_next(&r, &rec, &e) == RECORD_ITEM)
        take(ctx, &rec);
    record_reader_close(&r);
}

/* The same for the stream with correct headers. */
static void fuzz_each_reframed(const uint8_t *data, size_t size, void take(void *ctx, const struct record *rec),
                               void *ctx)
{
    struct buf stream = {0};
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        fuzz_reframe(&stream, data, n);
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
    fuzz_each(stream.p, stream.len, take, ctx);
    buf_free(&stream);
}

#endif
