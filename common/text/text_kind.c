/* text_kind.c - see text_kind.h. */
#include "text/text_kind.h"

int text_kind_check(const unsigned char *p, size_t n, const char *name, struct err *e)
{
    (void)p, (void)n, (void)name, (void)e;
    return 0;
}
