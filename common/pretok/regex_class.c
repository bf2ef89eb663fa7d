/* regex_class.c - see regex_internal.h. */
#include "pretok/regex_internal.h"

#include "pretok/regex.h"
#include "unicode/ugc.h"

#include <string.h>

int regex_put_range(struct buf *out, uint32_t first, uint32_t last, struct err *e)
{
    return first == last ? buf_printf(out, e, "\\x{%X}", (unsigned)first)
                         : buf_printf(out, e, "\\x{%X}-\\x{%X}", (unsigned)first, (unsigned)last);
}

/* Appends all code points of these categories, as ranges. The end of a range is moved off a surrogate, as text has no
 * surrogates. */
static int put_ranges(struct buf *out, uint32_t mask, struct err *e)
{
    for (size_t i = 0; i < ugc_n_starts; i++) {
        if (!(mask >> (ugc_starts[i] & 31) & 1))
            continue;
        uint32_t first = ugc_starts[i] >> 5, last;
        while (i + 1 < ugc_n_starts && mask >> (ugc_starts[i + 1] & 31) & 1)
            i++;
        last = i + 1 < ugc_n_starts ? (ugc_starts[i + 1] >> 5) - 1 : 0x10FFFF;
        first = first == 0xD800 ? 0xE000 : first;
        last = last == 0xDFFF ? 0xD7FF : last;
        if (first <= last && regex_put_range(out, first, last, e))
            return -1;
    }
    return 0;
}

/* Whether Unicode 14 has a character in these categories that is in none of them in Unicode 16. */
static bool has_lost(uint32_t mask)
{
    for (size_t i = 0; i < ugc_n_since_14; i++) {
        const struct ugc_changed *r = &ugc_since_14[i];
        for (uint32_t c = r->first, last; c <= r->last && mask >> r->was & 1; c = last + 1) {
            if (!(mask >> ugc_run(c, &last) & 1))
                return true;
        }
    }
    return false;
}

/* Appends the characters of these categories that PCRE2's older categories may lack, provided that none has left them
 * (has_lost). */
static int put_newer(struct buf *out, uint32_t mask, struct err *e)
{
    for (size_t i = 0; i < ugc_n_since_14; i++) {
        const struct ugc_changed *r = &ugc_since_14[i];
        for (uint32_t c = r->first, last; c <= r->last; c = last + 1) {
            bool has = mask >> ugc_run(c, &last) & 1;
            if (has && regex_put_range(out, c, last < r->last ? last : r->last, e))
                return -1;
        }
    }
    return 0;
}

int regex_put_category(struct buf *out, unsigned form, const char *name, bool negated, bool in_class, struct err *e)
{
    uint32_t mask = ugc_mask(name, strlen(name));
    bool exact = form & REGEX_EXACT;
    bool ranges = form & REGEX_RANGES || (exact && (has_lost(mask) || (negated && in_class)));
    if (!ranges && !exact && (in_class || !negated))
        return buf_printf(out, e, "\\%c{%s}", negated ? 'P' : 'p', name);
    if (!in_class && buf_put_str(out, negated ? "[^" : "[", e))
        return -1;
    if (ranges ? put_ranges(out, negated && in_class ? ~mask : mask, e)
               : buf_printf(out, e, "\\p{%s}", name) || (exact && put_newer(out, mask, e)))
        return -1;
    return in_class ? 0 : buf_put_byte(out, ']', e);
}

int regex_put_space(struct buf *out, unsigned form, bool negated, bool in_class, struct err *e)
{
    static const char is[] = "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}"
                             "\\x{205F}\\x{3000}";
    static const char is_not[] = "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-"
                                 "\\x{1FFF}\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}"
                                 "\\x{3001}-\\x{10FFFF}";
    if (!(form & (REGEX_EXACT | REGEX_RANGES)))
        return buf_put_str(out, negated ? "\\S" : "\\s", e);
    return (!in_class && buf_put_byte(out, '[', e)) || buf_put_str(out, negated ? is_not : is, e) ||
                   (!in_class && buf_put_byte(out, ']', e))
               ? -1
               : 0;
}
