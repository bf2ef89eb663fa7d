/* scan_sequence.c - see scan_internal.h.
 *
 * Each regex has a subject, which is one of the pieces that the previous regex made, and the pieces found in it that
 * are not returned yet. When a subject is used up, the next piece of the previous regex becomes the subject. Unlike
 * with a single regex, this state does not follow from the position, so it is kept from call to call.
 *
 * A regex gives matches and the gaps between them. Whether two neighbors are one piece depends on which of them are
 * matches (enum split_how), so the last one is held until the next is known.
 */
#include "pretok/scan_internal.h"

#include "pretok/byte_level.h"
#include "pretok/split.h"

#include <stdlib.h>
#include <string.h>

enum { ENDS = 256 }; /* ends that a regex finds at a time */

/* One of the regexes. */
struct step {
    struct scan_regex *regex;
    enum split_how split;
    bool byte_level;   /* the regex sees the subject's byte-to-unicode form */
    size_t start, end; /* the subject */
    size_t taken;      /* the end of the pieces taken from it */
    size_t pos;        /* how far it is searched, in the form that the regex sees */

    struct buf form;        /* that form, if byte_level */
    size_t form_at, source; /* an offset in it, and the offset of the same byte in the subject */

    uint32_t ends[ENDS]; /* of the pieces found, from the subject's start */
    unsigned char match[ENDS];
    size_t n, next;
    bool held; /* there is one more, ends[n], which the next piece may join */
};

struct scan_sequence {
    const unsigned char *text; /* the document; between calls it may dangle, and is only compared */
    size_t len, pos;
    size_t n;
    struct step step[];
};

struct scan_sequence *scan_sequence_open(const struct str *regex, const unsigned char *split, size_t n_regex,
                                         struct err *e)
{
    struct scan_sequence *s = calloc(1, sizeof *s + n_regex * sizeof s->step[0]);
    if (!s) {
        err_mem(e, "regexes", n_regex * sizeof s->step[0]);
        return NULL;
    }
    for (; s->n < n_regex; s->n++) {
        struct step *t = &s->step[s->n];
        t->split = split ? split[s->n] & SPLIT_MASK : SPLIT_ISOLATED;
        t->byte_level = split && split[s->n] & SPLIT_BYTE_LEVEL;
        t->regex = scan_regex_open(regex[s->n], n_regex > 1 ? s->n + 1 : 0, e);
        if (!t->regex) {
            scan_sequence_close(s);
            return NULL;
        }
    }
    return s;
}

void scan_sequence_close(struct scan_sequence *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        scan_regex_close(s->step[i].regex);
        buf_free(&s->step[i].form);
    }
    free(s);
}

/* ---- A step ---- */

static int set_subject(struct step *t, const unsigned char *text, size_t start, size_t end, struct err *e)
{
    t->start = t->taken = start;
    t->end = end;
    t->pos = t->n = t->next = 0;
    t->held = false;
    if (!t->byte_level)
        return 0;
    t->form.len = t->form_at = t->source = 0;
    if (byte_level_put(&t->form, text + start, end - start, e) || buf_reserve(&t->form, SCAN_PAD, e))
        return -1;
    return t->form.len <= SCAN_WINDOW_MAX
               ? 0
               : err_set(e, EX_DATAERR, "a pretoken of more than 2 GiB is not supported by this model");
}

/* Converts ends[from .. n) from offsets in the form to offsets in the subject. */
static void map_back(struct step *t, size_t from, size_t n)
{
    for (size_t i = from; i < n; i++) {
        while (t->form_at < t->ends[i]) {
            t->form_at += t->form.p[t->form_at] < 0x80 ? 1 : 2;
            t->source++;
        }
        t->ends[i] = (uint32_t)t->source;
    }
}

/* Whether two neighbors are one piece. a, b: whether each is a match. */
static bool are_joined(enum split_how split, bool a, bool b)
{
    return split == SPLIT_PREVIOUS ? !a && b : split == SPLIT_NEXT ? a && !b : split == SPLIT_CONTIGUOUS && a && b;
}

static bool joins(enum split_how split)
{
    return split == SPLIT_PREVIOUS || split == SPLIT_NEXT || split == SPLIT_CONTIGUOUS;
}

/* Joins those of n ends that belong together; holds the last one if more may follow. */
static void join(struct step *t, size_t n, bool more)
{
    t->n = 0;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n;
        if (!last && are_joined(t->split, t->match[i], t->match[i + 1]))
            continue;
        t->ends[t->n] = t->ends[i];
        t->match[t->n] = t->match[i];
        t->n += !last || !more;
    }
    t->held = more;
}

/* Finds more pieces of the subject; t->n is 0 if there are none. */
static int search(struct step *t, const unsigned char *text, struct err *e)
{
    const unsigned char *subject = t->byte_level ? t->form.p : text + t->start;
    size_t len = t->byte_level ? t->form.len : t->end - t->start;
    bool matches = t->split != SPLIT_ISOLATED;
    do {
        size_t held = t->held;
        if (held) {
            t->ends[0] = t->ends[t->n];
            t->match[0] = t->match[t->n];
        }
        t->n = t->next = 0;
        t->held = false;
        if (t->pos == len)
            return 0;
        ptrdiff_t n = scan_regex(t->regex, subject, len, &t->pos, t->ends + held, matches ? t->match + held : NULL,
                                 ENDS - held, t->start, e);
        if (n < 0)
            return -1;
        if (t->byte_level)
            map_back(t, held, held + (size_t)n);
        if (joins(t->split))
            join(t, held + (size_t)n, t->pos < len);
        else
            t->n = (size_t)n;
    } while (!t->n);
    return 0;
}

static bool is_dropped(const struct step *t)
{
    return t->split == SPLIT_GAPS ? t->match[t->next] : t->split == SPLIT_MATCHES && !t->match[t->next];
}

/* ---- All steps ---- */

static int begin(struct scan_sequence *s, const unsigned char *text, size_t len, struct err *e)
{
    s->text = text;
    s->len = len;
    s->pos = 0;
    for (size_t i = 0; i < s->n; i++)
        if (set_subject(&s->step[i], text, 0, i ? 0 : len, e))
            return -1;
    return 0;
}

/* Finds the next piece to return: one of the last step, or one that another step drops. NULL at the end of the
 * document, and with *failed on an error. */
static struct step *next_piece(struct scan_sequence *s, bool *failed, struct err *e)
{
    size_t i = s->n - 1;
    for (;;) {
        struct step *t = &s->step[i];
        if (t->next == t->n && search(t, s->text, e)) {
            *failed = true;
            return NULL;
        }
        if (t->next == t->n) {
            if (i-- == 0)
                return NULL;
            continue;
        }
        if (i == s->n - 1 || is_dropped(t))
            return t;
        size_t start = t->taken;
        t->taken = t->start + t->ends[t->next++];
        if (set_subject(&s->step[++i], s->text, start, t->taken, e)) {
            *failed = true;
            return NULL;
        }
    }
}

ptrdiff_t scan_sequence(struct scan_sequence *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                        unsigned char *dropped, size_t max, struct err *e)
{
    bool failed = false;
    if ((*pos == 0 || text != s->text || len != s->len || *pos != s->pos) && begin(s, text, len, e))
        return -1;
    size_t n = 0;
    while (n < max) {
        struct step *t = next_piece(s, &failed, e);
        if (failed)
            return -1;
        if (!t)
            break;
        bool last = t == &s->step[s->n - 1]; /* otherwise the next piece may be one of a later step */
        for (size_t left = last ? t->n - t->next : 1; left && n < max; left--, t->next++) {
            t->taken = s->pos = t->start + t->ends[t->next];
            if (s->pos <= *pos)
                continue;
            if (dropped)
                dropped[n] = is_dropped(t);
            ends[n++] = (uint32_t)s->pos;
        }
    }
    if (n > 0)
        *pos = ends[n - 1];
    return (ptrdiff_t)n;
}
