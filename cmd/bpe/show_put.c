/* show_put.c - tokens as text: see show.h. */
#include "bpe/show.h"

#include "unicode/uclass.h"
#include "unicode/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- One token ---- */

/* Backgrounds of adjacent tokens, of the 256 colors of terminals: pale, so that black text is legible. */
static const unsigned char backgrounds[] = {153, 157, 223, 183, 217};
enum { REMOVED = 217, ADDED = 157 };

/* Whether a character can be written as it is. White space and marks that nobody sees are not. */
static bool is_visible(uint32_t c)
{
    return c >= 0x21 && !(c >= 0x7F && c < 0xA0) && uclass_of(c) != UCLASS_SPACE && !(c >= 0x200B && c <= 0x200F) &&
           !(c >= 0x2028 && c <= 0x202E) && !(c >= 0x2060 && c <= 0x206F) && c != 0xAD && c != 0xFEFF;
}

static int put_char(bool bar, uint32_t c, const unsigned char *p, size_t len, struct buf *out, struct err *e)
{
    const char *name = c == ' '          ? "\xC2\xB7"
                       : c == '\n'       ? "\\n"
                       : c == '\r'       ? "\\r"
                       : c == '\t'       ? "\\t"
                       : c == '\\'       ? "\\\\"
                       : c == 0xB7       ? "\\u00B7"
                       : c == '|' && bar ? "\\|"
                                         : NULL;
    return name            ? buf_put_str(out, name, e)
           : is_visible(c) ? buf_put(out, p, len, e)
           : c < 0x80      ? buf_printf(out, e, "\\x%02X", (unsigned)c)
           : c < 0x10000   ? buf_printf(out, e, "\\u%04X", (unsigned)c)
                           : buf_printf(out, e, "\\U%08X", (unsigned)c);
}

/* bar: | is escaped, as it is the border of tokens. */
static int put_text(bool bar, const unsigned char *p, size_t n, struct buf *out, struct err *e)
{
    bool cut;
    int rc = 0;
    for (size_t at = 0; at < n && !rc;) {
        const size_t valid = at + utf8_valid_len(p + at, n - at, &cut);
        for (size_t len; at < valid && !rc; at += len) {
            const uint32_t c = utf8_char(p + at, &len);
            rc = put_char(bar, c, p + at, len, out, e);
        }
        if (at < n && !rc)
            rc = buf_printf(out, e, "\\x%02X", p[at++]);
    }
    return rc;
}

static int put_color(const struct show_style *s, unsigned background, struct buf *out, struct err *e)
{
    return s->color ? buf_printf(out, e, "\033[30;48;5;%um", background) : 0;
}

/* Writes a token; after the last of a line, the line ends. */
static int put_token(struct show_style *s, const struct token_span *t, unsigned background, struct buf *out,
                     struct err *e)
{
    if (put_color(s, background, out, e) || (s->color && t->special && buf_put_str(out, "\033[7m", e)) ||
        put_text(!s->color && !t->special, t->p, t->n, out, e) || (s->color && buf_put_str(out, "\033[0m", e)))
        return -1;
    return s->ids ? buf_printf(out, e, s->color ? "\033[2m%lu\033[0m" : "{%lu}", (unsigned long)t->id) : 0;
}

static bool ends_line(const struct token_span *t)
{
    return t->special || memchr(t->p, '\n', t->n);
}

static int put_border(struct show_style *s, struct buf *out, struct err *e)
{
    const bool first = !s->in_line;
    s->in_line = true;
    return first || s->color ? 0 : buf_put_byte(out, '|', e);
}

int show_end_line(struct show_style *s, struct buf *out, struct err *e)
{
    const bool open = s->in_line;
    s->in_line = false;
    return open ? buf_put_byte(out, '\n', e) : 0;
}

static int put_offsets(const struct show_style *s, const struct token_span *t, struct buf *out, struct err *e)
{
    return buf_printf(out, e,
                      s->offsets == OFFSETS_TSV ? "%lu\t%" PRIu64 "\t%" PRIu64 "\n"
                                                : "{\"id\":%lu,\"begin\":%" PRIu64 ",\"end\":%" PRIu64 "}\n",
                      (unsigned long)t->id, t->begin, t->end);
}

int show_put(struct show_style *s, const struct token_span *t, struct buf *out, struct err *e)
{
    if (s->offsets)
        return put_offsets(s, t, out, e);
    if (put_border(s, out, e) || put_token(s, t, backgrounds[s->n++ % sizeof backgrounds], out, e))
        return -1;
    return ends_line(t) ? show_end_line(s, out, e) : 0;
}

/* ---- Two models ---- */

int show_diff_add(struct show_side *s, const struct token_span *t, struct err *e)
{
    if (array_grow(&s->token, &s->cap, s->n + 1, sizeof *s->token, "the tokens", e))
        return -1;
    s->token[s->n++] = (struct show_token){.span = *t, .at = s->text.len};
    s->n_all++;
    return buf_put(&s->text, t->p, t->n, e);
}

void show_diff_free(struct show_diff *d)
{
    for (int i = 0; i < 2; i++) {
        free(d->side[i].token);
        buf_free(&d->side[i].text);
    }
}

/* Token i of the group. */
static struct token_span token_at(const struct show_side *s, size_t i)
{
    struct token_span t = s->token[s->first + i].span;
    t.p = s->text.p + s->token[s->first + i].at;
    return t;
}

/* Whether there is a token after the group. */
static bool has_next(const struct show_side *s)
{
    return s->first + s->taken < s->n;
}

static uint64_t next_end(const struct show_side *s)
{
    return s->token[s->first + s->taken].span.end;
}

/* Writes the tokens of the group of one side that differ. */
static int put_differing(const struct show_side *s, struct show_style *style, const char *open, const char *close,
                         unsigned background, bool *line, struct buf *out, struct err *e)
{
    int rc = style->color ? 0 : buf_put_str(out, open, e);
    for (size_t i = 0; i < s->taken && !rc; i++) {
        const struct token_span t = token_at(s, i);
        *line |= ends_line(&t);
        rc = (i && buf_put_byte(out, '|', e)) || put_token(style, &t, background, out, e) ? -1 : 0;
    }
    return rc || (!style->color && buf_put_str(out, close, e)) ? -1 : 0;
}

static bool is_same(const struct show_diff *d)
{
    const struct show_side *a = &d->side[0], *b = &d->side[1];
    if (a->taken != 1 || b->taken != 1)
        return false;
    const struct token_span x = token_at(a, 0), y = token_at(b, 0);
    return x.special == y.special && x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

static void end_group(struct show_side *s)
{
    s->first += s->taken;
    s->taken = 0;
}

/* Removes the tokens that were written. */
static void drop_written(struct show_side *s)
{
    const size_t bytes = s->first < s->n ? s->token[s->first].at : s->text.len;
    s->text.len -= bytes;
    s->n -= s->first;
    if (s->n) {
        memmove(s->text.p, s->text.p + bytes, s->text.len);
        memmove(s->token, s->token + s->first, s->n * sizeof *s->token);
    }
    for (size_t i = 0; i < s->n; i++)
        s->token[i].at -= bytes;
    s->first = 0;
}

/* Writes the group, if there is one. */
static int put_group(struct show_diff *d, struct show_style *s, struct buf *out, struct err *e)
{
    struct show_side *a = &d->side[0], *b = &d->side[1];
    bool line = false;
    int rc = 0;
    if (!a->taken && !b->taken)
        return 0;
    rc = put_border(s, out, e);
    if (!rc && is_same(d)) {
        struct token_span t = token_at(a, 0);
        line = ends_line(&t);
        rc = put_token(s, &t, 255, out, e);
        if (!rc && s->ids && t.id != token_at(b, 0).id)
            rc = buf_printf(out, e, s->color ? "/\033[2m%lu\033[0m" : "/{%lu}", (unsigned long)token_at(b, 0).id);
    } else if (!rc) {
        d->n_differ++;
        rc = put_differing(a, s, "[-", "-]", REMOVED, &line, out, e) ||
             put_differing(b, s, "{+", "+}", ADDED, &line, out, e);
    }
    end_group(a);
    end_group(b);
    return rc || (line && show_end_line(s, out, e)) ? -1 : 0;
}

int show_diff_put(struct show_diff *d, struct show_style *s, bool last, struct buf *out, struct err *e)
{
    struct show_side *a = &d->side[0], *b = &d->side[1];
    while (last ? has_next(a) || has_next(b) : has_next(a) && has_next(b)) {
        struct show_side *next = !has_next(a) ? b : !has_next(b) ? a : next_end(a) <= next_end(b) ? a : b;
        const uint64_t end = a->taken && b->taken ? token_at(a, a->taken - 1).end : 0;
        if (end && end == token_at(b, b->taken - 1).end && next_end(next) > end && put_group(d, s, out, e))
            return -1;
        next->taken++;
    }
    if (last && put_group(d, s, out, e))
        return -1;
    drop_written(a);
    drop_written(b);
    return 0;
}
