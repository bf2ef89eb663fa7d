/* ids.h - growing arrays of token ids. */
#ifndef BPE_ENCODE_IDS_H
#define BPE_ENCODE_IDS_H

#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Ids of 4 bytes each, as used by the algorithms. Zeroed: empty. */
struct id_list {
    uint32_t *id; /* owned */
    size_t n, cap;
};

int id_list_reserve(struct id_list *list, size_t more, struct err *e); /* makes room for `more` ids past n */
void id_list_free(struct id_list *list);

/* Ids of 2 or 4 bytes each, in the byte order of this machine: the result of encoding. Zeroed: empty, of 2 bytes. */
struct ids {
    bool wide;        /* uint32_t, else uint16_t */
    unsigned char *p; /* owned */
    size_t n, cap;    /* in ids */
};

int ids_reserve(struct ids *ids, size_t more, struct err *e); /* makes room for `more` ids past n */
int ids_put(struct ids *ids, uint32_t id, struct err *e);     /* appends one */
void ids_free(struct ids *ids);

/* The number of bytes of an id. */
static inline size_t ids_width(bool wide)
{
    return wide ? sizeof(uint32_t) : sizeof(uint16_t);
}

/* Sets id i, for which memory must be reserved. `wide` is ids->wide, passed so that a hot loop can be compiled for
 * each. */
static inline void ids_set(struct ids *ids, bool wide, size_t i, uint32_t id)
{
    if (wide)
        ((uint32_t *)(void *)ids->p)[i] = id;
    else
        ((uint16_t *)(void *)ids->p)[i] = (uint16_t)id;
}

/* The id at p. */
static inline uint32_t ids_get(const unsigned char *p, bool wide)
{
    uint32_t id;
    uint16_t narrow;
    if (wide) {
        memcpy(&id, p, sizeof id);
        return id;
    }
    memcpy(&narrow, p, sizeof narrow);
    return narrow;
}

/* Removes the first n ids. */
static inline void ids_drop(struct ids *ids, size_t n)
{
    const size_t width = ids_width(ids->wide);
    ids->n -= n;
    if (n && ids->n)
        memmove(ids->p, ids->p + n * width, ids->n * width);
}

#endif
