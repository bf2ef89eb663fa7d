/* nearest.c - see nearest.h. The distance is optimal string alignment (Damerau-Levenshtein in which no part is edited
 * twice), computed row by row.
 */
#include "base/sys/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 40 }; /* all options and commands are shorter, so a longer word is near none */

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The distance from a (n letters, at most LONGEST) to b. Sets *prefix to the smallest distance to a prefix of b. */
static unsigned distance(const char *a, size_t n, const char *b, unsigned *prefix)
{
    unsigned rows[3][LONGEST + 1] = {{0}}, *before = rows[0], *last = rows[1], *row = rows[2];
    for (unsigned i = 0; i <= n; i++)
        last[i] = i;
    *prefix = last[n];
    for (unsigned k = 1; b[k - 1]; k++) {
        row[0] = k;
        for (size_t i = 1; i <= n; i++) {
            unsigned replaced = last[i - 1] + (lower(a[i - 1]) != lower(b[k - 1]));
            row[i] = min(replaced, 1 + min(last[i], row[i - 1]));
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1]))
                row[i] = min(row[i], before[i - 2] + 1);
        }
        *prefix = min(*prefix, row[n]);
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[n];
}

const char *nearest(const char *word, const char *const *words, size_t n)
{
    size_t len = strlen(word);
    unsigned best = 1 + 2 * (len < 3 ? 0 : len < 6 ? 1 : 2); /* twice the distance, plus one for a mere prefix */
    const char *found = NULL;
    for (size_t i = 0; i < n && len && len <= LONGEST; i++) {
        unsigned prefix, far = 2 * distance(word, len, words[i], &prefix);
        if (len >= 4 && prefix <= 1) /* fewer letters would be near a prefix of almost any word */
            far = min(far, 2 * prefix + 1);
        if (far < best || (far == best && !found)) {
            best = far;
            found = words[i];
        }
    }
    return found;
}
