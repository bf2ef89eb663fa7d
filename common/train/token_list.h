/* token_list.h - tokens listed in a file, one per line.
 *
 * A line that begins with a double quote is a JSON string; any other line is the token itself. Lines end with \n or
 * \r\n, and the last one's end may be missing. Empty lines are ignored, and so is a byte order mark.
 */
#ifndef BPE_TRAIN_TOKEN_LIST_H
#define BPE_TRAIN_TOKEN_LIST_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"
#include "model/spelling.h"

#include <stddef.h>

struct token_list { /* zeroed: empty */
    struct str *at; /* owned array of n tokens, none of them empty; they may be equal */
    size_t n;
    size_t cap;
    unsigned char **text; /* owned: their bytes, of each file */
    size_t n_texts, texts_cap;
};

/* Appends the tokens of a file (path "-": standard input). -1: EX_NOINPUT; EX_DATAERR: a line is not a JSON string, or
 * an empty one; EX_IOERR, EX_OSERR. */
int token_list_read(struct token_list *l, const char *path, struct err *e);

/* Changes the tokens to the spelling of a model of characters. -1: out of memory. */
int token_list_spell(struct token_list *l, enum spelling s, struct err *e);

void token_list_free(struct token_list *l);

#endif
