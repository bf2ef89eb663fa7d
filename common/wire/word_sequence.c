/* word_sequence.c - see word_sequence.h. */
#include "wire/word_sequence.h"

#include "wire/payload.h"

enum {
    KEPT = 1 << 20
}; /* bytes of buffer kept for the next long pretoken; not more, because many sequences may be open */

static int damaged(struct err *e)
{
    return payload_damaged(e, "words");
}

void word_sequence_free(struct word_sequence *s)
{
    buf_free(&s->long_one);
    *s = (struct word_sequence){0};
}

/* Starts a long pretoken with its first part. */
static int begin_long(struct word_sequence *s, struct str part, struct err *e)
{
    struct cursor c = cursor_over(part.p, part.len);
    s->long_len = get_varint(&c);
    s->long_count = get_varint(&c);
    s->long_one.len = 0;
    return c.bad || s->long_len == 0 || s->long_count == 0 ? damaged(e)
                                                           : buf_put(&s->long_one, c.p, cursor_left(&c), e);
}

int word_sequence_put(struct word_sequence *s, const struct record *rec, struct err *e)
{
    struct words w;
    if (words_get(&w, rec, e))
        return -1;
    if (w.in.seq != s->n_records || word_sequence_is_open(s) != (w.kind == WORDS_MORE))
        return damaged(e);
    if (w.kind != WORDS_MORE && s->n_records && w.denominator != s->denominator)
        return damaged(e);
    if (s->n_records == 0)
        s->denominator = w.denominator;
    s->n_records++;
    s->in = cursor_over(NULL, 0);
    if (w.kind != WORDS_MORE && s->long_one.cap > KEPT)
        buf_free(&s->long_one);
    switch (w.kind) {
    case WORDS_FIRST:
        return begin_long(s, w.entries, e);
    case WORDS_MORE:
        return w.entries.len ? buf_put(&s->long_one, w.entries.p, w.entries.len, e) : damaged(e);
    default:
        s->in = cursor_over(w.entries.p, w.entries.len);
        return 0;
    }
}

int word_sequence_next(struct word_sequence *s, struct pretoken *w, struct err *e)
{
    if (word_sequence_is_open(s)) {
        if (s->long_one.len < s->long_len)
            return 0;
        if (s->long_one.len > s->long_len)
            return damaged(e);
        if (buf_reserve(&s->long_one, PRETOKEN_PAD, e))
            return -1;
        *w = (struct pretoken){s->long_one.p, s->long_one.len, s->long_count};
        s->long_len = 0;
        return 1;
    }
    if (cursor_left(&s->in) == 0)
        return 0;
    *w = pretoken_get(&s->in);
    return s->in.bad ? damaged(e) : 1;
}
