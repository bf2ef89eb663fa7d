/* last_error.c - see last_error.h. */
#include "library/last_error.h"

#include "library/bpetools.h"

#include <string.h>

static _Thread_local struct {
    struct err e;
    struct bpe_error out;
    char text[ERR_TEXT];
} last;

struct err *last_error(void)
{
    last.e.code = 0;
    last.e.input[0] = '\0';
    return &last.e;
}

int last_error_tell(uint64_t text)
{
    struct err *e = &last.e;
    char *option = strstr(e->msg, "; see -"); /* a hint that only users of the programs need */
    if (option)
        *option = '\0';
    last.out = (struct bpe_error){.code = e->code,
                                  .message = err_text(e, last.text),
                                  .text = text,
                                  .offset = e->input[0] && !e->line ? e->offset : BPE_UNKNOWN,
                                  .line = e->input[0] ? e->line : 0};
    return -1;
}

const struct bpe_error *bpe_last_error(void)
{
    static const struct bpe_error none = {.message = "", .text = BPE_UNKNOWN, .offset = BPE_UNKNOWN};
    return last.out.code ? &last.out : &none;
}
