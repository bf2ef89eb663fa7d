/* format_npy.c - NumPy arrays, format version 1.0 (numpy/lib/format.py): a header of 128 bytes, then the ids.
 *
 * NumPy, too, pads the header for longer numbers, so it has this length for any number of ids.
 */
#include "shard/format/formats.h"
#include "shard/format/shard_read.h"

#include <stdio.h>
#include <string.h>

enum { HEADER = 128, PREFIX = 10 /* magic, version, length of the rest */ };

static void put_header(unsigned char *to, const struct shard_plan *p, uint64_t tokens)
{
    char text[HEADER];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }",
                     p->dtype == DTYPE_U16   ? "<u2"
                     : p->dtype == DTYPE_I32 ? "<i4"
                                             : "<u4",
                     (unsigned long long)tokens);
    memset(to, ' ', HEADER);
    memcpy(to, "\x93NUMPY\x01\x00\x76\x00", PREFIX);
    memcpy(to + PREFIX, text, (size_t)n);
    to[HEADER - 1] = '\n';
}

const struct shard_format format_npy = {
    .name = "npy",
    .header = HEADER,
    .n_files = 1,
    .most_tokens = UINT64_MAX,
    .put_header = put_header,
    .dtype = shard_dtype_unsigned,
    .test = "test",
    .suffix = {".npy"},
    .read = shard_read_plain,
};
