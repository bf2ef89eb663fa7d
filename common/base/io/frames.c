/* frames.c - see frames.h. */
#include "base/io/frames.h"

#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "base/sys/bytes.h"

#include <stdlib.h>

/* Zstandard's constants (RFC 8878; "Zstandard Seekable Format" and pzstd, both in zstd's contrib/). */
#define ZSTD_MAGIC 0xFD2FB528U
#define FOOTER_MAGIC 0x8F92EAB1U
enum { SKIPPABLE_MAGIC = 0x184D2A50, TABLE_MAGIC = 0x184D2A5E };
enum { SKIPPABLE_HEADER = 8, FOOTER = 9, PZSTD_HEADER = 12 };

struct finder {
    struct frames *found;
    int fd;
    const char *name;
    uint64_t size, apart;
    struct err *e;
};

void frames_free(struct frames *f)
{
    free(f->border);
    *f = (struct frames){0};
}

/* Reads n bytes at an offset. 1: done; 0: the file has fewer there; -1: error. */
static int get(const struct finder *s, unsigned char *p, size_t n, uint64_t at)
{
    if (at > s->size || n > s->size - at)
        return 0;
    ssize_t got = fd_pread(s->fd, p, n, at, s->name, s->e);
    return got < 0 ? -1 : (size_t)got == n;
}

/* Records that a frame begins at this offset. */
static int note(const struct finder *s, uint64_t at)
{
    struct frames *f = s->found;
    uint64_t last = f->n ? f->border[f->n - 1] : 0;
    if (at - last < s->apart || at >= s->size || s->size - at < s->apart)
        return 0;
    if (array_grow(&f->border, &f->cap, f->n + 1, sizeof *f->border, "the frames of a file", s->e))
        return -1;
    f->border[f->n++] = at;
    return 0;
}

/* ---- zstd, seekable ---- */

/* Reads the entries of the table, and records where the frames begin. 1: their lengths add up to `end`. */
static int read_table(const struct finder *s, uint64_t table, uint64_t n, size_t entry, uint64_t end)
{
    enum { AT_ONCE = 1024, ENTRY_MAX = 12 };
    unsigned char space[AT_ONCE * ENTRY_MAX];
    uint64_t at = 0;
    for (uint64_t i = 0; i < n;) {
        size_t k = n - i < AT_ONCE ? (size_t)(n - i) : AT_ONCE;
        int rc = get(s, space, k * entry, table + i * entry);
        if (rc <= 0)
            return rc;
        for (const unsigned char *p = space; p < space + k * entry; p += entry) {
            if (note(s, at))
                return -1;
            at += load_le(p, 4); /* cannot overflow: fewer than 2^32 lengths, each less than 2^32 */
        }
        i += k;
    }
    return at == end;
}

/* Whether a frame begins at each border: the lengths in another file's table may have the same sum. */
static int check_borders(const struct finder *s)
{
    unsigned char p[4];
    for (size_t i = 0; i < s->found->n; i++) {
        int rc = get(s, p, sizeof p, s->found->border[i]);
        if (rc <= 0)
            return rc;
        if (load_le(p, 4) != ZSTD_MAGIC && (load_le(p, 4) & 0xFFFFFFF0) != SKIPPABLE_MAGIC)
            return 0;
    }
    return 1;
}

/* 1: found; 0: not such a file; -1: error. */
static int find_seekable(const struct finder *s)
{
    enum { HAS_CHECKSUMS = 0x80, RESERVED = 0x7C };
    unsigned char footer[FOOTER], header[SKIPPABLE_HEADER];
    int rc = s->size < FOOTER ? 0 : get(s, footer, FOOTER, s->size - FOOTER);
    if (rc <= 0 || load_le(footer + 5, 4) != FOOTER_MAGIC || (footer[4] & RESERVED))
        return rc < 0 ? -1 : 0;
    uint64_t n = load_le(footer, 4);
    size_t entry = footer[4] & HAS_CHECKSUMS ? 12 : 8;
    uint64_t content = n * entry + FOOTER;
    if (content + SKIPPABLE_HEADER > s->size)
        return 0;
    uint64_t end = s->size - content - SKIPPABLE_HEADER;
    rc = get(s, header, sizeof header, end);
    if (rc <= 0 || load_le(header, 4) != TABLE_MAGIC || load_le(header + 4, 4) != content)
        return rc < 0 ? -1 : 0;
    rc = read_table(s, end + SKIPPABLE_HEADER, n, entry, end);
    return rc > 0 ? check_borders(s) : rc;
}

/* ---- Files whose frames begin with their length ---- */

/* Sets *len to the length of the frame at an offset. 1: done; 0: it is not recorded there; -1: error. */
typedef int length_fn(const struct finder *s, uint64_t at, uint64_t *len);

/* pzstd: a skippable frame that holds the length of the next frame, four bytes. */
static int pzstd_length(const struct finder *s, uint64_t at, uint64_t *len)
{
    unsigned char p[PZSTD_HEADER + 4];
    int rc = get(s, p, sizeof p, at);
    if (rc <= 0 || load_le(p, 4) != SKIPPABLE_MAGIC || load_le(p + 4, 4) != 4 ||
        load_le(p + PZSTD_HEADER, 4) != ZSTD_MAGIC)
        return rc < 0 ? -1 : 0;
    *len = PZSTD_HEADER + (uint64_t)load_le(p + 8, 4);
    return 1;
}

/* bgzf: a gzip member with an extra field, whose subfield "BC" is the length of the member minus 1. */
static int bgzf_length(const struct finder *s, uint64_t at, uint64_t *len)
{
    enum { FIXED = 12, SUBFIELD = 6, DATA_MIN = 2, TRAILER = 8 };
    unsigned char p[FIXED + SUBFIELD], *sub = p + FIXED; /* most headers have one subfield */
    int rc = get(s, p, sizeof p, at);
    if (rc <= 0 || p[0] != 0x1F || p[1] != 0x8B || p[2] != 8 || p[3] != 4)
        return rc < 0 ? -1 : 0;
    size_t extra = load_le(p + 10, 2);
    for (size_t i = 0; rc > 0 && i + SUBFIELD <= extra;) {
        size_t n = load_le(sub + 2, 2);
        if (sub[0] == 'B' && sub[1] == 'C' && n == 2) {
            *len = (uint64_t)load_le(sub + 4, 2) + 1;
            return *len >= FIXED + extra + DATA_MIN + TRAILER;
        }
        i += 4 + n;
        rc = i + SUBFIELD <= extra ? get(s, sub, SUBFIELD, at + FIXED + i) : 0;
    }
    return rc < 0 ? -1 : 0;
}

/* Walks from frame to frame. 1: the last one ends at the end of the file. */
static int hop(const struct finder *s, length_fn *length)
{
    uint64_t at = 0, len;
    while (at < s->size) {
        int rc = note(s, at) ? -1 : length(s, at, &len);
        if (rc <= 0)
            return rc;
        if (len > s->size - at)
            return 0;
        at += len;
    }
    return 1;
}

/* ---- All formats ---- */

int frames_find(struct frames *f, int fd, const char *name, uint64_t size, uint64_t apart, struct err *e)
{
    const struct finder s = {f, fd, name, size, apart ? apart : 1, e};
    unsigned char magic[4];
    if (size / 2 < s.apart) /* no border can be that far from both ends */
        return 0;
    int rc = get(&s, magic, sizeof magic, 0);
    if (rc > 0 && load_le(magic, 4) == SKIPPABLE_MAGIC)
        rc = hop(&s, pzstd_length);
    else if (rc > 0 && load_le(magic, 4) == ZSTD_MAGIC)
        rc = find_seekable(&s);
    else if (rc > 0)
        rc = hop(&s, bgzf_length);
    if (rc <= 0)
        f->n = 0;
    return rc < 0 ? -1 : 0;
}
