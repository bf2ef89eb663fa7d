/* uclass.c - see uclass.h. */
#include "unicode/uclass.h"

#include "unicode/utf8.h"

bool uclass_letter_at(const unsigned char *p, size_t n)
{
    size_t len;
    bool cut;
    return n && utf8_plain_valid_len(p, n < 4 ? n : 4, &cut) > 0 && uclass_at(p, &len) == UCLASS_LETTER;
}
