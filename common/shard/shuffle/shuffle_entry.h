/* shuffle_entry.h - what the files of shuffle.h hold: documents, or parts of long ones, one after the other.
 *
 *     check     4 bytes, little-endian: XXH3 of all bytes of the entry after it, of which it is the lower half
 *     key       8 bytes, little-endian: the place of the document in the new order
 *     length    4 bytes, little-endian: of the rest
 *     flags     1: the first part of its document; 2: the last one. Most documents are one entry with both
 *     varint source, varint offset, varint line, string id        in the first part
 *     varint end                                                  in the last part
 *     ids
 *
 * The source is the place of its name in another file, where each source has: varint number, string name, check (as
 * above, of the bytes before it).
 *
 * The files stay when a process dies. What disk or memory did to them since is noticed when an entry is read again.
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
    ENTRY_PREFIX = 16,   /* and of key and length with it */
    ENTRY_IDS = 1 << 20, /* a longer document comes in parts of at most so many bytes of ids */
};

struct shuffle_entry {
    uint64_t key;
    bool first, last;
    uint64_t source, offset, line; /* of the first part, as struct document */
    struct str id;
    uint64_t end; /* of the last part */
    struct str ids;
};

/* Key and length, p having ENTRY_PREFIX bytes. The length of the whole entry is at least ENTRY_PREFIX. */
static inline uint64_t entry_key(const unsigned char *p)
{
    return load_u64le(p + 4);
}

static inline uint64_t entry_len(const unsigned char *p)
{
    return ENTRY_PREFIX + (uint64_t)load_le(p + 12, 4);
}

/* Appends an entry without its ids, of which n bytes come after it, and without its check. -1: out of memory, or
 * EX_DATAERR: an id of the document that is far too long. */
int shuffle_entry_put(struct buf *out, const struct shuffle_entry *x, uint64_t n, struct err *e);

/* Sets the check of an entry: head is all of it but these ids, which come after it and are at another place; or all of
 * it, and ids is empty. */
void shuffle_entry_seal(unsigned char *head, size_t n, struct str ids);

/* Whether an entry of entry_len bytes is what was sealed. */
bool shuffle_entry_good(const unsigned char *p);

/* Reads such an entry; strings are borrowed from it. False: it is damaged. */
bool shuffle_entry_get(struct shuffle_entry *x, const unsigned char *p);

/* Appends a source to the names. */
int shuffle_source_put(struct buf *out, const struct document *d, struct err *e);

/* Reads the name and number of a source at `at` of all names. */
bool shuffle_source_get(struct document *d, struct str names, uint64_t at);

/* Whether all names are what was put there. *at: the place of the first that is not. */
bool shuffle_sources_good(struct str names, uint64_t *at);

#endif
