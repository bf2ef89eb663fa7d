/* token_extent.c - see token_extent.h. */
#include "shard/store/token_extent.h"

#include "base/sys/bytes.h"

struct document_mark token_extent_first_mark(const struct token_extent *x)
{
    struct cursor c = cursor_over(x->marks, x->marks_len);
    uint64_t n_marks = 0;
    while (n_marks == 0 && cursor_left(&c)) {
        get_varint(&c);
        n_marks = get_varint(&c);
    }
    return document_mark_get(&c, 0);
}

int token_sequence_add(struct token_sequence *q, const struct token_extent *x, unsigned width, struct err *e)
{
    bool follows = q->inside ? token_span_equal(&q->span, &x->span) && x->first == q->first : x->first == 0;
    bool empty = x->span.begin == x->span.end; /* a piece without text */
    if (!follows || x->seq != q->seq || (empty && (x->ids_len || x->n_marks)))
        return err_set(
            e, EX_DATAERR, "source %llu, bytes %llu-%llu: a batch whose records of tokens do not follow each other",
            (unsigned long long)x->span.source, (unsigned long long)x->span.begin, (unsigned long long)x->span.end);
    q->seq += x->n_records;
    q->inside = !x->last;
    q->span = x->span;
    q->first = x->first + x->ids_len / width;
    return 0;
}
