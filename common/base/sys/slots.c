/* slots.c - see slots.h. */
#include "base/sys/slots.h"

#include "base/sys/huge.h"

enum { FEWEST = 1024 };

int slots_grow(struct slots *t, size_t n, const char *what, struct err *e)
{
    struct slots new = {.n = t->n ? t->n : FEWEST};
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
        struct slot *s = slots_first(&new, t->slot[i].hash);
        while (s->n1)
            s = slots_next(&new, s);
        *s = t->slot[i];
    }
    slots_free(t);
    *t = new;
    return 0;
}

void slots_free(struct slots *t)
{
    huge_free(t->slot, t->n * sizeof *t->slot);
    *t = (struct slots){0};
}
