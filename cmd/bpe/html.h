/* html.h - writes HTML. After an error, calls do nothing, and html_done reports it. */
#ifndef BPE_CMD_HTML_H
#define BPE_CMD_HTML_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "base/sys/str.h"

#include <stdbool.h>

struct html {
    struct buf *out; /* borrowed */
    struct err *e;   /* borrowed */
    bool failed;
};

/* Appends markup, formatted as by printf; at most 500 bytes if there are arguments. */
void html_put(struct html *h, const char *markup);
void html_printf(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends text, of any bytes: markup is escaped, and so are control characters and invalid UTF-8, as by bpe-view. */
void html_text(struct html *h, struct str text);
void html_string(struct html *h, const char *text);

/* The same in an element <code>, with a sign for each space; more than 8 equal bytes are shown as one, and their
 * number. */
void html_token(struct html *h, struct str text);

/* Appends a number with this many decimals, and a comma after each three digits; for NAN a dash. */
void html_number(struct html *h, double v, int decimals);

int html_done(const struct html *h); /* 0; -1: out of memory */

#endif
