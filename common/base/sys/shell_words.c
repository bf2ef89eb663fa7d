/* shell_words.c - see shell_words.h. */
#include "base/sys/shell_words.h"

#include <ctype.h>
#include <string.h>

/* Appends a word with control characters as $'...'. */
static int put_escaped(struct buf *to, const char *word, struct err *e)
{
    static const char codes[] = "\a\b\033\f\n\r\t\v\\'", letters[] = "abEfnrtv\\'";
    int rc = buf_put_str(to, "$'", e);
    for (const char *p = word; *p && rc == 0; p++) {
        const char *code = strchr(codes, *p);
        rc = code                         ? buf_printf(to, e, "\\%c", letters[code - codes])
             : iscntrl((unsigned char)*p) ? buf_printf(to, e, "\\%03o", (unsigned char)*p)
                                          : buf_put(to, p, 1, e);
    }
    if (rc || buf_put_byte(to, '\'', e))
        return -1;
    return 0;
}

int shell_words_quote(struct buf *to, const char *word, struct err *e)
{
    int rc = buf_put_byte(to, '\'', e);
    for (const char *p = word; *p && rc == 0; p++)
        rc = *p == '\'' ? buf_put_str(to, "'\\''", e) : buf_put(to, p, 1, e);
    if (rc || buf_put_byte(to, '\'', e))
        return -1;
    return 0;
}

int shell_words_show(struct buf *to, const char *word, struct err *e)
{
    for (const char *p = word; *p; p++) {
        if (iscntrl((unsigned char)*p))
            return put_escaped(to, word, e);
    }
    return shell_words_quote(to, word, e);
}

bool shell_words_is_plain(const char *word, size_t n)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+@%-";
    return n && strspn(word, plain) >= n;
}

int shell_words_put(struct buf *to, const char *const *words, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = buf_put_byte(to, ' ', e) ||
                     (shell_words_is_plain(words[i], strlen(words[i])) ? buf_put_str(to, words[i], e)
                                                                       : shell_words_quote(to, words[i], e))
                 ? -1
                 : 0;
    return rc;
}
