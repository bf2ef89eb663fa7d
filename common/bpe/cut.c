/* cut.c - see cut.h. */
#include "bpe/cut.h"

#include "bpe/uclass.h"

#include <string.h>

bool cut_is_local(const struct cutter *c)
{
    return c->lines || c->special->local;
}

/* Whether p + at is between 0x0A and a letter, with no special token beginning there. */
static bool inside_at(const struct cutter *c, const unsigned char *p, size_t n, size_t at, bool final)
{
    bool more;
    return p[at - 1] == '\n' && uclass_letter_at(p + at, n - at) && !special_at(c->special, p + at, n - at, &more) &&
           (final || !more);
}

/* Whether a local cutter may cut at p + at, 0 < at < n. */
static bool local_at(const struct cutter *c, const unsigned char *p, size_t n, size_t at, bool final)
{
    if (c->lines)
        return p[at - 1] == '\n';
    if (c->inside && inside_at(c, p, n, at, final))
        return true;
    size_t len = special_ending(c->special, p, at);
    /* "<a>" ends here, but it is no match where "<a>b" begins at the same place. */
    bool more;
    return len && special_at(c->special, p + at - len, n - at + len, &more) == len && (final || !more);
}

/* The same for any cutter, by following the matches from the piece's start. */
static size_t last_by_scanning(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi,
                               bool final)
{
    size_t best = 0, from = 0, pos, len;
    for (;;) {
        enum special_hit hit = special_next(c->special, p, n, from, final, &pos, &len);
        size_t end = hit == SPECIAL_NONE ? n : pos; /* the text up to here is in no special token */
        size_t low = from > lo ? from : lo;
        for (size_t at = end < hi ? end : hi; c->inside && at > low && at > best; at--) {
            if (at < n && inside_at(c, p, n, at, final))
                best = at;
        }
        if (hit != SPECIAL_FOUND)
            return best;
        from = pos + len;
        if (from > hi || from >= n)
            return best;
        if (from > lo)
            best = from;
    }
}

/* Which bytes may stand before a cut. */
static void find_ends(const struct cutter *c, bool ends[256])
{
    for (int i = 0; i < 256; i++)
        ends[i] = false;
    ends['\n'] = c->lines || c->inside;
    for (size_t i = 0; i < c->special->n && !c->lines; i++)
        ends[c->special->token[i].p[c->special->token[i].len - 1]] = true;
}

size_t cut_last(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi, bool final)
{
    if (hi >= n)
        hi = n ? n - 1 : 0;
    if (!cut_is_local(c))
        return last_by_scanning(c, p, n, lo, hi, final);
    bool ends[256];
    find_ends(c, ends);
    for (size_t at = hi; at > lo; at--) {
        if (ends[p[at - 1]] && local_at(c, p, n, at, final))
            return at;
    }
    return 0;
}

size_t cut_first(const struct cutter *c, const unsigned char *p, size_t n, size_t from, bool final)
{
    bool ends[256];
    find_ends(c, ends);
    for (size_t at = from ? from : 1; at < n; at++) {
        if (ends[p[at - 1]] && local_at(c, p, n, at, final))
            return at;
    }
    return 0;
}
