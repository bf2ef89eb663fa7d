/* text_start.h - looks at the first bytes of an input that is read from start to end, before it is used as text. */
#ifndef BPE_TEXT_TEXT_START_H
#define BPE_TEXT_TEXT_START_H

#include "io/input.h"
#include "sys/buf.h"
#include "sys/err.h"
#include "text/input_form.h"
#include "text/json_hint.h"

/* Reads the first bytes of an input, appended to *first (which has those read before), as many as are needed. With
 * plain text *hint is set if they look like JSON Lines. program: the one that reads it, for messages. -1 with
 * EX_DATAERR: no text (text_kind.h); or an error of reading. */
int text_start_look(struct input *in, struct buf *first, const struct input_form *form, const char *program,
                    struct json_hint *hint, struct err *e);

#endif
