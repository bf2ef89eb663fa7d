/* manifest_member.h - structs as JSON objects: a table says which members an object has, in the order in which they are
 * written, and both reading and writing go by it.
 */
#ifndef BPE_SHARD_FORMAT_MANIFEST_MEMBER_H
#define BPE_SHARD_FORMAT_MANIFEST_MEMBER_H

#include "json/json_read.h"
#include "json/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum member_kind {
    MEMBER_OTHER,    /* by functions of its own */
    MEMBER_TEXT,     /* char *, owned; NULL: "" */
    MEMBER_UINT,     /* uint64_t */
    MEMBER_OR_NULL,  /* uint64_t: `first` plus a number, or plus UINT64_MAX (so with 1 it is 0): null */
    MEMBER_BOOL,     /* bool */
    MEMBER_CHOICE,   /* unsigned, or an enum: `first` plus the place of one of the words */
    MEMBER_CHECKSUM, /* CHECKSUM_LEN bytes, in hexadecimal */
    MEMBER_SHA256,   /* the same of 32 bytes, which is text in memory, too; "": left out */
};

struct member {
    const char *key;
    enum member_kind kind;
    size_t at; /* of the value, in the struct that the object is */
    bool needed;
    const char *const *words; /* ends with NULL */
    unsigned first;
    int (*get)(struct json_reader *r, void *to);
    void (*put)(struct json_writer *w, const char *key, const void *from); /* with its key; or nothing */
};

/* Reads an object into the struct. Keys that are not known are skipped. missing: what is said if one is not there that
 * is needed. members ends with a zeroed one. -1: an error, placed by the reader; what was read stays, to be freed. */
int member_get_object(struct json_reader *r, const struct member *members, void *to, const char *missing);

/* Writes one: with its keys. Errors are the writer's (json_write_done). */
void member_put_object(struct json_writer *w, const struct member *members, const void *from);
void member_put(struct json_writer *w, const struct member *m, const void *from); /* one member, from where it is */

/* Values by themselves. A text gets memory of its own, in the place of *to; a hexadecimal has exactly n bytes. */
int member_get_text(struct json_reader *r, char **to);
void member_put_text(struct json_writer *w, const char *s);
int member_get_or_null(struct json_reader *r, uint64_t *to, unsigned first);
void member_put_or_null(struct json_writer *w, uint64_t v);
int member_get_hex(struct json_reader *r, unsigned char *to, size_t n);
void member_put_checksum(struct json_writer *w, const unsigned char *p);

#endif
