/* nul_reader.c - see nul_reader.h. */
#include "reader/nul_reader.h"

#include <string.h>

/* Text is passed on from this offset on, which is returned: a new document, unless one goes on. */
static uint64_t begin_document(struct nul_reader *r, uint64_t offset)
{
    if (!r->inside)
        r->place.begin = offset;
    return offset;
}

ptrdiff_t nul_reader_window(struct nul_reader *r, const unsigned char *p, size_t n, uint64_t offset, bool last,
                            document_fn *text, void *ctx, uint64_t *where, struct err *e)
{
    const unsigned char *at = p, *end = p + n, *nul;
    for (; at < end && (nul = memchr(at, 0, (size_t)(end - at))) != NULL; at = nul + 1) {
        *where = begin_document(r, offset + (uint64_t)(at - p));
        r->place.end = offset + (uint64_t)(nul - p) + 1;
        if (text(ctx, at, (size_t)(nul - at), TEXT_DOC, e) < 0)
            return -1;
        r->inside = false;
    }
    if (at == end && !(last && r->inside))
        return (ptrdiff_t)n;
    *where = begin_document(r, offset + (uint64_t)(at - p));
    r->place.end = offset + n;
    ptrdiff_t used = text(ctx, at, (size_t)(end - at), last ? TEXT_DOC : TEXT_MORE, e);
    if (used < 0)
        return -1;
    r->inside = !last && (r->inside || used > 0);
    return at - p + used;
}
