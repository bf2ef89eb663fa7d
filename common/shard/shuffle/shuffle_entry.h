/* shuffle_entry.h - the entries of the files of shuffle.h: documents, or parts of long ones.
 *
 *     check     4 bytes, little-endian: the low 32 bits of XXH3 of the rest of the entry
 *     key       8 bytes, little-endian: the sort key of the document in the new order
 *     length    4 bytes, little-endian: of the rest
 *     flags     1: first part of its document; 2: last part. Most documents are one entry with both
 *     varint source, varint offset, varint line, string id        in the first part
 *     varint end                                                  in the last part
 *     ids
 *
 * The source is the offset of its name in another file, where each source has an entry: varint number, string name,
 * check (as above, but of the bytes before it).
 *
 * The files survive the process. The checks detect corruption by disk or memory when an entry is read again.
 */
#ifndef BPE_SHARD_SHUFFLE_SHUFFLE_ENTRY_H
#define BPE_SHARD_SHUFFLE_SHUFFLE_ENTRY_H

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "shard/format/token_doc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ENTRY_CHECK = 4,     /* bytes of the checksum */
    ENTRY_PREFIX = 16,   /* and of check, key and length */
    ENTRY_IDS = 1 << 20, /* longer documents are split into parts of at most this many bytes of ids */
};

struct shuffle_entry {
    uint64_t key;
    bool first, last;
    uint64_t source, offset, line; /* in the first part; as in struct document, but source is an offset */
    struct str id;
    uint64_t end; /* in the last part */
    struct str ids;
};

/* Key, and length of the whole entry (at least ENTRY_PREFIX); p has ENTRY_PREFIX bytes. */
static inline uint64_t entry_key(const unsigned char *p)
{
    return load_u64le(p + 4);
}

static inline uint64_t entry_len(const unsigned char *p)
{
    return ENTRY_PREFIX + (uint64_t)load_le(p + 12, 4);
}

/* Appends an entry without its check and without its ids, n bytes of which follow it. -1: out of memory, or EX_DATAERR:
 * the document's id is far too long. */
int shuffle_entry_put(struct buf *out, const struct shuffle_entry *x, uint64_t n, struct err *e);

/* Sets the check of an entry. head: the entry up to its ids, which are elsewhere in memory; or the whole entry, with
 * empty ids. */
void shuffle_entry_seal(unsigned char *head, size_t n, struct str ids);

/* Whether an entry of entry_len bytes is unchanged since it was sealed. */
bool shuffle_entry_good(const unsigned char *p);

/* Decodes such an entry; strings are *borrowed* from it. False: damaged. */
bool shuffle_entry_get(struct shuffle_entry *x, const unsigned char *p);

/* Appends the entry of a source to the names. */
int shuffle_source_put(struct buf *out, const struct document *d, struct err *e);

/* Reads the name and number of the source at offset `at` of the names. False: damaged. */
bool shuffle_source_get(struct document *d, struct str names, uint64_t at);

/* Whether all names are unchanged. *at: offset of the first that is not. */
bool shuffle_sources_good(struct str names, uint64_t *at);

#endif
