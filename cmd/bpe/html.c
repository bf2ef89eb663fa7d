/* html.c - see html.h. */
#include "bpe/html.h"

#include "wire/record_text.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct html *h, const void *p, size_t n)
{
    h->failed = h->failed || buf_put(h->out, p, n, h->e);
}

void html_put(struct html *h, const char *markup)
{
    put(h, markup, strlen(markup));
}

void html_printf(struct html *h, const char *fmt, ...)
{
    char text[501];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert(n >= 0 && (size_t)n < sizeof text);
    (void)n;
    html_put(h, text);
}

/* Escapes markup in text that is UTF-8. space: what stands for a space. */
static void put_escaped(struct html *h, const unsigned char *p, size_t n, const char *space)
{
    for (size_t i = 0; i < n; i++) {
        const char *as = p[i] == '<'   ? "&lt;"
                         : p[i] == '>' ? "&gt;"
                         : p[i] == '&' ? "&amp;"
                         : p[i] == '"' ? "&quot;"
                         : p[i] == ' ' ? space
                                       : NULL;
        if (as)
            html_put(h, as);
        else
            put(h, &p[i], 1);
    }
}

static void put_text(struct html *h, struct str text, const char *space)
{
    struct buf shown = {0};
    h->failed = h->failed || record_text_escape(&shown, text.p, text.len, h->e);
    put_escaped(h, shown.p, shown.len, space);
    buf_free(&shown);
}

void html_text(struct html *h, struct str text)
{
    put_text(h, text, " ");
}

void html_string(struct html *h, const char *text)
{
    html_text(h, (struct str){(const unsigned char *)text, strlen(text)});
}

/* Of many equal bytes in sequence, only one is shown, and how many there are. */
void html_token(struct html *h, struct str text)
{
    enum { MANY = 8 };
    static const char dot[] = "<i>\xC2\xB7</i>";
    html_put(h, "<code dir=ltr>");
    for (size_t i = 0, from = 0, n; i <= text.len; i += n) {
        n = 1;
        while (i < text.len && i + n < text.len && text.p[i + n] == text.p[i])
            n++;
        if (i < text.len && n <= MANY)
            continue;
        put_text(h, (struct str){text.p + from, i - from}, dot);
        from = i + n;
        if (i < text.len) {
            put_text(h, (struct str){text.p + i, 1}, dot);
            html_printf(h, "<i>\xC3\x97%zu</i>", n);
        }
    }
    html_put(h, "</code>");
}

void html_number(struct html *h, double v, int decimals)
{
    char digits[400];
    if (isnan(v)) {
        html_put(h, "–");
        return;
    }
    const int len = snprintf(digits, sizeof digits, "%.*f", decimals, v);
    const int whole = (int)strcspn(digits, ".");
    for (int i = 0; i < len; i++) {
        if (i && i < whole && (whole - i) % 3 == 0 && digits[i - 1] != '-')
            html_put(h, ",");
        put(h, &digits[i], 1);
    }
}

int html_done(const struct html *h)
{
    return h->failed ? -1 : 0;
}
