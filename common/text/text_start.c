/* text_start.c - see text_start.h. */
#include "text/text_start.h"

#include "text/text_kind.h"

/* Reads until there are n bytes in all; fewer only if the input has no more. */
static int read_start(struct input *in, struct buf *first, size_t n, struct err *e)
{
    ptrdiff_t got = 1;
    while (first->len < n && got > 0) {
        got = buf_reserve(first, n - first->len, e) ? -1 : input_read(in, first->p + first->len, n - first->len, e);
        first->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? -1 : 0;
}

int text_start_look(struct input *in, struct buf *first, const struct input_form *form, const char *program,
                    struct json_hint *hint, struct err *e)
{
    if (read_start(in, first, TEXT_KIND_LOOK, e) ||
        text_kind_check(program, form, first->p, first->len, input_name(in), e))
        return -1;
    if (form->documents || !json_hint_wants(hint, first->p, first->len))
        return 0;
    return read_start(in, first, JSON_HINT_LOOK, e) || json_hint_look(hint, first->p, first->len, input_name(in), e)
               ? -1
               : 0;
}
