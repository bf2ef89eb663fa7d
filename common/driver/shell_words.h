/* shell_words.h - words as a shell takes them. */
#ifndef BPE_DRIVER_SHELL_WORDS_H
#define BPE_DRIVER_SHELL_WORDS_H

#include "sys/buf.h"
#include "sys/err.h"

/* Appends a word in quotes. */
int shell_words_quote(struct buf *to, const char *word, struct err *e);

/* Appends words, in quotes where they need them, a space before each. */
int shell_words_put(struct buf *to, const char *const *words, size_t n, struct err *e);

#endif
