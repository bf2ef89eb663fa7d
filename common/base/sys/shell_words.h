/* shell_words.h - quoting of words for the shell. */
#ifndef BPE_BASE_SYS_SHELL_WORDS_H
#define BPE_BASE_SYS_SHELL_WORDS_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>

/* Whether word[0 .. n) is not empty and needs no quotes: no character is special to a shell. */
bool shell_words_is_plain(const char *word, size_t n);

/* Appends a word in single quotes. */
int shell_words_quote(struct buf *to, const char *word, struct err *e);

/* Appends words, each after a space, and in quotes if it needs them. */
int shell_words_put(struct buf *to, const char *const *words, size_t n, struct err *e);

/* Appends a word in quotes, in one line: as $'...' (not POSIX sh) if it has control characters. */
int shell_words_show(struct buf *to, const char *word, struct err *e);

#endif
