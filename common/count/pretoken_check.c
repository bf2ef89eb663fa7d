/* pretoken_check.c - see pretoken_check.h. */
#include "count/pretoken_check.h"

#include "pretok/scan.h"
#include "pretok/special.h"
#include "unicode/nfc.h"
#include "unicode/utf8.h"
#include "wire/record_text.h"

#include <stdio.h>

static void mark_special(struct pretoken_check *c, const struct special_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        c->kind[s->token[i].p[0]] = BYTE_SPECIAL;
}

void pretoken_check_init(struct pretoken_check *c, const struct pretokenizer *t, const struct rules *rules)
{
    const struct pattern *pattern = rules_builtin(rules);
    /* Whether a space belongs to a gap depends on what follows. */
    *c = (struct pretoken_check){.t = t, .pattern = pattern && !pattern->gaps ? pattern->name : NULL};
    c->kind[' '] = BYTE_SPACE;
    for (unsigned char letter = 'a'; letter <= 'z'; letter++) {
        c->kind[letter] = BYTE_FIRST | BYTE_LATER;
        c->kind[letter - 'a' + 'A'] = BYTE_FIRST;
    }
    mark_special(c, &t->special);
    mark_special(c, &t->late);
}

void pretoken_check_free(struct pretoken_check *c)
{
    buf_free(&c->normal);
}

/* Sets the error: p[0 .. n), what is wrong with it, a part of it or a special token (if not empty), and what to do. */
static int refuse(const unsigned char *p, size_t n, const char *what, struct str other, const char *what_to_do,
                  struct err *e)
{
    enum { SHOWN = 60 };
    struct buf text = {0};
    if (record_text_quote(&text, p, n, SHOWN, e) == 0 && buf_put_str(&text, what, e) == 0 &&
        (!other.len || record_text_quote(&text, other.p, other.len, SHOWN, e) == 0))
        err_set(e, EX_DATAERR, "%.*s; %s", (int)text.len, (const char *)text.p, what_to_do);
    buf_free(&text);
    return -1;
}

static int check_special(const struct special_set *s, const unsigned char *p, size_t n, struct err *e)
{
    struct special_place at = {0};
    struct special_match m;
    while (s->n && special_next(s, p, n, TEXT_DOC, &at, &m) == SPECIAL_FOUND) {
        if (!(m.token->flags & SPECIAL_SINGLE_WORD))
            return refuse(p, n, " has the special token ", (struct str){m.token->p, m.token->len},
                          "special tokens are not counted: leave it out", e);
    }
    return 0;
}

/* Checks that valid text is in the normal form of the rules. */
static int check_normal(struct pretoken_check *c, const unsigned char *p, size_t n, struct err *e)
{
    if (c->t->normalizer == NORMALIZER_NONE || nfc_checked_len(p, n) == n)
        return 0;
    c->normal.len = 0;
    if (nfc_put(&c->normal, p, n, SIZE_MAX, e) < 0)
        return -1;
    return str_equal(buf_str(&c->normal), (struct str){p, n})
               ? 0
               : refuse(p, n, " is not normalized", (struct str){0}, "these counts were made without --normalize", e);
}

/* Checks that the pattern does not split valid text. */
static int check_split(const struct pretoken_check *c, const unsigned char *p, size_t n, struct err *e)
{
    uint32_t ends[2] = {0};
    size_t pos = 0;
    char what[60];
    if (n > SCAN_WINDOW_MAX)
        return err_set(e, EX_DATAERR, "a pretoken of more than 4 GiB is not supported");
    ptrdiff_t got = scanner_scan(c->t->scanner, p, n, TEXT_DOC, &pos, ends, 2, e);
    if (got < 0)
        return -1;
    if (ends[0] == n)
        return 0;
    snprintf(what, sizeof what, " is split by the pattern %s, after ", c->pattern);
    return refuse(p, n, what, (struct str){p, ends[0]}, "name the pattern that made these pretokens (-p or -e)", e);
}

int pretoken_check(struct pretoken_check *c, const unsigned char *p, size_t n, bool valid, bool special, struct err *e)
{
    bool cut;
    if (special && (check_special(&c->t->special, p, n, e) || check_special(&c->t->late, p, n, e)))
        return -1;
    if (!valid && utf8_valid_len(p, n, &cut) < n)
        return n == 1 ? 0
                      : refuse(p, n, " is not UTF-8", (struct str){0},
                               "only a single byte of invalid UTF-8 is a pretoken (see bpe-chunk --invalid=bytes)", e);
    return check_normal(c, p, n, e) || (c->pattern && check_split(c, p, n, e)) ? -1 : 0;
}
