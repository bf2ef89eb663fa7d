/* cut.c - see cut.h. */
#include "input/cut.h"

#include "unicode/uclass.h"

#include <string.h>

enum { NEAR = 4096 }; /* bytes searched at a time for the last occurrence of each byte */

void cutter_init(struct cutter *c, const struct input_form *form, bool inside, const struct special_set *special)
{
    const bool text = !form->documents;
    *c = (struct cutter){.form = form, .inside = text && inside && !special->hides_lines, .special = special};
    if (form->end >= 0)
        c->end[c->n_ends++] = (unsigned char)form->end;
    else if (c->inside)
        c->end[c->n_ends++] = '\n';
    for (size_t i = 0; i < special->n && text; i++) {
        unsigned char last = special->token[i].p[special->token[i].len - 1];
        if (special->token[i].ends_piece && !memchr(c->end, last, c->n_ends))
            c->end[c->n_ends++] = last;
    }
}

bool cut_takes_files(const struct cutter *c)
{
    return c->form->documents || c->special->local;
}

bool cut_is_local(const struct cutter *c)
{
    return !c->form->last_cut && cut_takes_files(c);
}

/* Whether p + at is between 0x0A and a letter, without a special token that begins there. */
static bool inside_at(const struct cutter *c, const unsigned char *p, size_t n, size_t at, bool final)
{
    bool more;
    return p[at - 1] == '\n' && uclass_letter_at(p + at, n - at) && !special_at(c->special, p + at, n - at, &more) &&
           (final || !more);
}

/* Whether a local cutter may cut at p + at, 0 < at < n. */
static bool local_at(const struct cutter *c, const unsigned char *p, size_t n, size_t at, bool final)
{
    if (c->form->end >= 0)
        return p[at - 1] == c->form->end;
    if (c->inside && inside_at(c, p, n, at, final) && !special_takes_space(c->special, p, at))
        return true;
    return special_cut_after(c->special, p, n, at, final);
}

/* The last split point in p(lo .. hi], for any cutter, by following the matches from the start of the piece. */
static size_t last_by_scanning(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi,
                               bool final)
{
    struct special_place place = {0};
    struct special_match m;
    size_t best = 0, from = 0;
    for (;;) {
        enum special_hit hit = special_next(c->special, p, n, final ? TEXT_DOC : TEXT_MORE, &place, &m);
        size_t end = m.begin; /* no special token in the text from `from` up to here */
        size_t low = from > lo ? from : lo;
        for (size_t at = end < hi ? end : hi; c->inside && at > low && at > best; at--) {
            if (at < n && inside_at(c, p, n, at, final))
                best = at;
        }
        if (hit != SPECIAL_FOUND)
            return best;
        from = m.end;
        if (from > hi || from >= n)
            return best;
        if (from > lo && m.token->ends_piece && !(m.token->flags & SPECIAL_RSTRIP))
            best = from;
    }
}

/* The same for a local cutter, by searching for the last occurrence of each byte that may be right before a cut. */
static size_t last_near(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi, bool final)
{
    const unsigned char *prev[256];
    for (size_t i = 0; i < c->n_ends; i++)
        prev[i] = memrchr(p + lo, c->end[i], hi - lo);
    for (;;) {
        size_t at = 0, which = 0;
        for (size_t i = 0; i < c->n_ends; i++) {
            if (prev[i] && (size_t)(prev[i] - p) + 1 > at) {
                at = (size_t)(prev[i] - p) + 1;
                which = i;
            }
        }
        if (at == 0 || local_at(c, p, n, at, final))
            return at;
        prev[which] = memrchr(p + lo, c->end[which], at - 1 - lo);
    }
}

size_t cut_last(const struct cutter *c, const unsigned char *p, size_t n, size_t lo, size_t hi, bool final)
{
    if (hi >= n)
        hi = n ? n - 1 : 0;
    if (c->form->last_cut)
        return hi > lo ? c->form->last_cut(p, n, lo, hi) : 0;
    if (!cut_is_local(c))
        return last_by_scanning(c, p, n, lo, hi, final);
    while (hi > lo) {
        size_t low = hi - lo > NEAR ? hi - NEAR : lo;
        size_t at = last_near(c, p, n, low, hi, final);
        if (at)
            return at;
        hi = low;
    }
    return 0;
}

size_t cut_first(const struct cutter *c, const unsigned char *p, size_t n, size_t from, bool final)
{
    const unsigned char *next[256], *end = p + (n ? n - 1 : 0); /* n itself is not a cut */
    for (size_t i = 0; i < c->n_ends; i++)
        next[i] = from < n ? memchr(p + from - 1, c->end[i], n - from) : NULL;
    for (;;) {
        size_t at = n, which = 0;
        for (size_t i = 0; i < c->n_ends; i++) {
            if (next[i] && (size_t)(next[i] - p) + 1 < at) {
                at = (size_t)(next[i] - p) + 1;
                which = i;
            }
        }
        if (at == n)
            return 0;
        if (local_at(c, p, n, at, final))
            return at;
        next[which] = memchr(p + at, c->end[which], (size_t)(end - (p + at)));
    }
}
