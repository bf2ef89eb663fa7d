/* input_warnings.c - see input_warnings.h. */
#include "chunk/input_warnings.h"

#include "input/file_signature.h"

bool input_warnings_wants(const struct input_warnings *w, const unsigned char *p, size_t n)
{
    return (w->token.len && !w->has_token) || format_guess_wants(&w->guess, w->form, p, n);
}

int input_warnings_start(struct input_warnings *w, const unsigned char *p, size_t n, const char *name, struct err *e)
{
    input_warnings_look(w, p, n);
    if (file_signature_check(w->form, p, n, name, e) || format_guess_look(&w->guess, w->form, p, n, name, e))
        return -1;
    return 0;
}
