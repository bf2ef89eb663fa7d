/* uclass.c - see uclass.h. */
#include "unicode/uclass.h"

bool uclass_letter_at(const unsigned char *p, size_t n)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length: below it the encoding is overlong */
    if (n == 0)
        return false;
    if (p[0] < 0x80)
        return uclass_byte[p[0]] == UCLASS_LETTER;
    size_t len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC0 || p[0] > 0xF4 || n < len)
        return false;
    uint32_t code_point = p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return false;
        code_point = code_point << 6 | (p[i] & 0x3F);
    }
    /* Surrogates, and numbers above U+10FFFF, are not letters in the table. */
    return code_point >= smallest[len] && uclass_of(code_point) == UCLASS_LETTER;
}
