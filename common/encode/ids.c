/* ids.c - see ids.h. */
#include "encode/ids.h"

#include "base/sys/buf.h"

#include <stdlib.h>

int id_list_reserve(struct id_list *list, size_t more, struct err *e)
{
    return array_grow(&list->id, &list->cap, list->n + more, sizeof *list->id, "the ids of a pretoken", e);
}

void id_list_free(struct id_list *list)
{
    free(list->id);
    *list = (struct id_list){0};
}

int ids_reserve(struct ids *ids, size_t more, struct err *e)
{
    return array_grow(&ids->p, &ids->cap, ids->n + more, ids_width(ids->wide), "the ids", e);
}

int ids_put(struct ids *ids, uint32_t id, struct err *e)
{
    if (ids_reserve(ids, 1, e))
        return -1;
    ids_set(ids, ids->wide, ids->n++, id);
    return 0;
}

void ids_free(struct ids *ids)
{
    free(ids->p);
    *ids = (struct ids){0};
}
