/* hash_index.c - see hash_index.h. */
#include "base/sys/hash_index.h"

#include "base/sys/huge.h"

enum { FEWEST = 1024 };

int hash_index_grow(struct hash_index *t, size_t n, const char *what, struct err *e)
{
    struct hash_index new = {.n = t->n ? t->n : FEWEST};
    if (n > INT32_MAX)
        return err_mem(e, what, (unsigned long long)n * 2 * sizeof *new.slot);
    while (new.n < 2 * n)
        new.n *= 2;
    if (new.n == t->n)
        return 0;
    new.slot = huge_zeroed(new.n * sizeof *new.slot);
    if (!new.slot)
        return err_mem(e, what, (unsigned long long)new.n * sizeof *new.slot);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->slot[i].n1)
            continue;
        struct hash_slot *s = hash_index_first(&new, t->slot[i].hash);
        while (s->n1)
            s = hash_index_next(&new, s);
        *s = t->slot[i];
    }
    hash_index_free(t);
    *t = new;
    return 0;
}

void hash_index_free(struct hash_index *t)
{
    huge_free(t->slot, t->n * sizeof *t->slot);
    *t = (struct hash_index){0};
}
