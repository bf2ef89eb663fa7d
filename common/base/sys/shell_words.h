/* shell_words.h - words as any shell takes them. */
#ifndef BPE_BASE_SYS_SHELL_WORDS_H
#define BPE_BASE_SYS_SHELL_WORDS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>

/* Whether no character of word[0 .. n) means anything to a shell, and there is one. */
bool shell_words_is_plain(const char *word, size_t n);

/* Appends a word in single quotes. */
int shell_words_quote(struct buf *to, const char *word, struct err *e);

/* Appends words, in quotes where they need them, a space before each. */
int shell_words_put(struct buf *to, const char *const *words, size_t n, struct err *e);

/* Appends a word in quotes, in one line: with $'...' if it has control characters, which sh does not know. */
int shell_words_show(struct buf *to, const char *word, struct err *e);

#endif
