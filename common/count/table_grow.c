/* table_grow.c - see table_internal.h.
 *
 * A table is doubled in place: it is never in memory twice. The search for a pretoken that was in slot i now begins at
 * slot 2i or 2i + 1, or a little before for the few that a collision had moved on. So the slots are emptied from the
 * last to the first; each pretoken goes to the slot where its search begins, and moves the one that it finds there on
 * by a slot. Of colliding pretokens, the first hence stays first: it is the one that occurs most. The few that would
 * have to go to a slot that is not yet emptied are set aside, and inserted at the end.
 */
#include "count/table_internal.h"

#include "base/sys/huge.h"

#include <stdlib.h>
#include <string.h>

/* Doubles a table: kind is its array of slots, `used` the field that is 0 in a free slot, hash that of the slot *s. */
#define GROW(t, kind, shift, used, hash)                                                                               \
    do {                                                                                                               \
        size_t n = table_slots(t->shift), n_aside = 0, cap_aside = 0;                                                  \
        __typeof__(t->kind) slot = huge_double(t->kind, n * sizeof *slot), aside = NULL;                               \
        if (!slot)                                                                                                     \
            return err_mem(e, "the count table", 2 * n * sizeof *slot);                                                \
        t->kind = slot;                                                                                                \
        t->shift--;                                                                                                    \
        for (size_t i = n; i-- > 0;) {                                                                                 \
            __typeof__(*slot) one = slot[i], *s = &one;                                                                \
            if (!s->used)                                                                                              \
                continue;                                                                                              \
            memset(&slot[i], 0, sizeof *slot);                                                                         \
            size_t at = table_slot(hash, t->shift);                                                                    \
            bool fits = at >= i;                                                                                       \
            for (; fits && at < 2 * n && slot[at].used; at++) {                                                        \
                __typeof__(*slot) later = slot[at];                                                                    \
                slot[at] = one;                                                                                        \
                one = later;                                                                                           \
            }                                                                                                          \
            if (fits && at < 2 * n) {                                                                                  \
                slot[at] = one;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            if (array_grow(&aside, &cap_aside, n_aside + 1, sizeof *aside, "the count table", e)) {                    \
                free(aside);                                                                                           \
                return -1;                                                                                             \
            }                                                                                                          \
            aside[n_aside++] = one;                                                                                    \
        }                                                                                                              \
        while (n_aside-- > 0) {                                                                                        \
            const __typeof__(*slot) *s = &aside[n_aside];                                                              \
            size_t at = table_slot(hash, t->shift);                                                                    \
            while (slot[at].used)                                                                                      \
                at = table_next_slot(at, t->shift);                                                                    \
            slot[at] = *s;                                                                                             \
        }                                                                                                              \
        free(aside);                                                                                                   \
    } while (0)

int grow12(struct table *t, struct err *e)
{
    GROW(t, slots12, shift12, tail, key12_hash(t->secret, s->head, s->tail));
    find_spare(t, 0);
    return 0;
}

int grow24(struct table *t, struct err *e)
{
    GROW(t, slots24, shift24, count, key24_hash(t->secret, s->key));
    return 0;
}

int grow_long(struct table *t, struct err *e)
{
    GROW(t, slots_long, shift_long, count, s->hash);
    return 0;
}
