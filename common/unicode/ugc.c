/* ugc.c - see ugc.h. */
#include "unicode/ugc.h"

static const char names[][3] = {
    "Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl",
    "No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
};

uint32_t ugc_mask(const char *name, size_t len)
{
    uint32_t mask = 0;
    for (unsigned c = 0; c < sizeof names / sizeof *names && (len == 1 || len == 2); c++) {
        if (names[c][0] == name[0] && (len == 1 || names[c][1] == name[1]))
            mask |= 1U << c;
    }
    return mask;
}

unsigned ugc_run(uint32_t code_point, uint32_t *last)
{
    size_t from = 0, to = ugc_n_starts;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        if (ugc_starts[middle] >> 5 <= code_point)
            from = middle;
        else
            to = middle;
    }
    *last = to < ugc_n_starts ? (ugc_starts[to] >> 5) - 1 : 0x10FFFF;
    return ugc_starts[from] & 31;
}

unsigned ugc_of(uint32_t code_point)
{
    uint32_t last;
    return ugc_run(code_point, &last);
}
