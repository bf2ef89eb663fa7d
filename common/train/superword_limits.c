/* superword_limits.c - see superword_limits.h. */
#include "train/superword_limits.h"

struct superword superword_of(struct str s)
{
    struct superword all = {0, s.p[0] != ' ', s.p[0]};
    for (size_t i = 0; i < s.len; i++) {
        const struct superword byte = {s.p[i] != ' ', s.p[i] != ' ', s.p[i]};
        all = i ? superword_join(all, byte) : byte;
    }
    return all;
}
