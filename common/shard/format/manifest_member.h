/* manifest_member.h - structs as JSON objects. A table lists the members of an object in the order in which they are
 * written; it drives both reading and writing.
 */
#ifndef BPE_SHARD_FORMAT_MANIFEST_MEMBER_H
#define BPE_SHARD_FORMAT_MANIFEST_MEMBER_H

#include "json/json_read.h"
#include "json/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum member_kind {
    MEMBER_OTHER,    /* read and written by its own functions */
    MEMBER_TEXT,     /* char *, owned; NULL: "" */
    MEMBER_UINT,     /* uint64_t */
    MEMBER_OR_NULL,  /* uint64_t: `first` plus a number; null is `first` plus UINT64_MAX (so 0 if `first` is 1) */
    MEMBER_BOOL,     /* bool */
    MEMBER_CHOICE,   /* unsigned, or an enum: `first` plus the index of a word in `words` */
    MEMBER_CHECKSUM, /* CHECKSUM_LEN bytes, as hexadecimal */
    MEMBER_SHA256,   /* 64 hexadecimal digits, as text in memory, too; "": omitted */
};

struct member {
    const char *key;
    enum member_kind kind;
    size_t at; /* offset of the value in the struct */
    bool needed;
    const char *const *words; /* ends with NULL */
    unsigned first;
    int (*get)(struct json_reader *r, void *to);
    void (*put)(struct json_writer *w, const char *key, const void *from); /* writes key and value, or nothing */
};

/* Reads an object into the struct. Unknown keys are skipped. members ends with a zeroed one. missing: the message if a
 * needed member is missing. -1: an error, with a position set by the reader; the caller must free what was read. */
int member_get_object(struct json_reader *r, const struct member *members, void *to, const char *missing);

/* Writes an object. Errors are those of the writer (json_write_done). */
void member_put_object(struct json_writer *w, const struct member *members, const void *from);
void member_put(struct json_writer *w, const struct member *m, const void *from); /* one member; from: its value */

/* Reading and writing single values. member_get_text replaces the *owned* string *to; a hexadecimal value has exactly n
 * bytes. */
int member_get_text(struct json_reader *r, char **to);
void member_put_text(struct json_writer *w, const char *s);
int member_get_or_null(struct json_reader *r, uint64_t *to, unsigned first);
void member_put_or_null(struct json_writer *w, uint64_t v);
int member_get_hex(struct json_reader *r, unsigned char *to, size_t n);
void member_put_checksum(struct json_writer *w, const unsigned char *p);

#endif
