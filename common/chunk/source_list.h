/* source_list.h - the inputs of bpe-chunk: what each is called, how large it is, and whether its text is sent by
 * reference (where it is) or by value (the text itself).
 */
#ifndef BPE_CHUNK_SOURCE_LIST_H
#define BPE_CHUNK_SOURCE_LIST_H

#include "chunk/token_watch.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "sys/intervals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {                 /* zeroed: of no interest; a list may have many of them */
    const char *path;           /* to read it from, borrowed; NULL: nothing */
    char *name;                 /* in records and messages, owned */
    bool by_value;              /* its text is sent, not where it is */
    uint64_t size;              /* bytes of text: by reference known from the start, by value when all was read */
    uint64_t mtime_s, mtime_ns; /* of a regular file; else 0 */
    struct intervals wanted;    /* --only: what is sent of it */
    struct buf reading;         /* encoded: how it is read, if the list of wanted ranges says it; else empty */
};

struct source_list {   /* zeroed: empty */
    struct source *at; /* owned */
    size_t n, cap;
};

/* Adds an input, after a look at it: is it there, can other processes read it by offset? by_value: its text is sent
 * even so. The first bytes of a file that goes by reference are shown to `watch`. -1: EX_NOINPUT, EX_IOERR. */
int source_list_add(struct source_list *l, const char *path, bool by_value, struct token_watch *watch, struct err *e);

/* Makes the list reach a number, which may be any below SOURCES_MAX: what lies between takes no memory. -1: EX_DATAERR
 * if it is larger, or out of memory. */
int source_list_reach(struct source_list *l, uint64_t number, struct err *e);

/* Bytes of all sources by reference. */
uint64_t source_list_bytes(const struct source_list *l);

/* Whether a source goes by value. */
bool source_list_by_value(const struct source_list *l);

void source_list_free(struct source_list *l);

#endif
