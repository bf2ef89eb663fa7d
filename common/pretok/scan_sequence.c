/* scan_sequence.c - see scan_internal.h.
 *
 * Each regex has a subject, one of the pieces that the regex before it made, and the ends found in it that were not
 * returned yet. When a subject is used up, the next piece of the regex before becomes the subject. Unlike with a single
 * regex, this state does not follow from the position: it is kept from call to call.
 */
#include "pretok/scan_internal.h"

#include <stdlib.h>

enum { ENDS = 256 }; /* ends that a regex finds at a time */

/* One of the regexes. */
struct step {
    struct scan_regex *regex;
    size_t start, end; /* the subject */
    size_t pos;        /* the end of what was searched; the ends that were found: */
    uint32_t ends[ENDS];
    size_t n, next;
};

struct scan_sequence {
    const unsigned char *text; /* the document of this state: the pointer is compared, not followed */
    size_t len, pos;
    size_t n;
    struct step step[];
};

struct scan_sequence *scan_sequence_open(const struct str *regex, size_t n_regex, struct err *e)
{
    struct scan_sequence *s = calloc(1, sizeof *s + n_regex * sizeof s->step[0]);
    if (!s) {
        err_mem(e, "regexes", n_regex * sizeof s->step[0]);
        return NULL;
    }
    for (; s->n < n_regex; s->n++) {
        s->step[s->n].regex = scan_regex_open(regex[s->n], s->n + 1, e);
        if (!s->step[s->n].regex) {
            scan_sequence_close(s);
            return NULL;
        }
    }
    return s;
}

void scan_sequence_close(struct scan_sequence *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        scan_regex_close(s->step[i].regex);
    free(s);
}

static void set_subject(struct step *t, size_t start, size_t end)
{
    t->start = start;
    t->end = end;
    t->pos = t->n = t->next = 0;
}

static void begin(struct scan_sequence *s, const unsigned char *text, size_t len)
{
    s->text = text;
    s->len = len;
    s->pos = 0;
    set_subject(&s->step[0], 0, len);
    for (size_t i = 1; i < s->n; i++)
        set_subject(&s->step[i], 0, 0);
}

/* Gives the last regex an end that was not returned yet. 1, or 0 at the document's end, or -1. */
static int fill(struct scan_sequence *s, struct err *e)
{
    size_t i = s->n - 1;
    for (;;) {
        struct step *t = &s->step[i];
        if (t->next == t->n) {
            ptrdiff_t n =
                scan_regex(t->regex, s->text + t->start, t->end - t->start, &t->pos, t->ends, ENDS, t->start, e);
            if (n < 0)
                return -1;
            t->n = (size_t)n;
            t->next = 0;
        }
        if (t->next == t->n) {
            if (i == 0)
                return 0;
            i--;
        } else if (i == s->n - 1) {
            return 1;
        } else {
            size_t start = s->step[i + 1].end;
            set_subject(&s->step[i + 1], start, t->start + t->ends[t->next++]);
            i++;
        }
    }
}

ptrdiff_t scan_sequence(struct scan_sequence *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                        size_t max, struct err *e)
{
    struct step *last = &s->step[s->n - 1];
    if (*pos == 0 || text != s->text || len != s->len || *pos != s->pos)
        begin(s, text, len);
    size_t n = 0;
    while (n < max) {
        int more = fill(s, e);
        if (more < 0)
            return -1;
        if (more == 0)
            break;
        for (; n < max && last->next < last->n; last->next++) {
            s->pos = last->start + last->ends[last->next];
            if (s->pos > *pos)
                ends[n++] = (uint32_t)s->pos;
        }
    }
    if (n > 0)
        *pos = ends[n - 1];
    return (ptrdiff_t)n;
}
