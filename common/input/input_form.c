/* input_form.c - see input_form.h: the table, and plain text. */
#include "input/input_form.h"

#define ROW(ID, name, ...) [FORM_##ID] = &input_form_##name,
const struct input_form *const input_forms[N_INPUT_FORMS] = {[FORM_TEXT] = &input_form_text, INPUT_FORMS(ROW, ROW, )};

/* ---- Plain text ---- */

static void begin(struct doc_reader *r, const struct doc_piece *x)
{
    r->place = (struct text_place){.begin = x->begin};
}

static ptrdiff_t window(struct doc_reader *r, const struct doc_window *w, document_fn *text, void *ctx, uint64_t *where,
                        struct err *e)
{
    r->place.end = w->offset + w->n;
    *where = w->offset;
    return text(ctx, w->p, w->n, !w->last ? TEXT_MORE : w->inside ? TEXT_LETTER : TEXT_DOC, e);
}

const struct input_form input_form_text = {.name = "text",
                                           .end = -1,
                                           .border = "\n",
                                           .border_len = 1,
                                           .border_ends = 1,
                                           .shortest = "\n",
                                           .size = sizeof(struct doc_reader),
                                           .begin = begin,
                                           .window = window};
