/* model_read_gpt2.c - GPT-2's pair of files: vocab.json (or encoder.json) and merges.txt (or vocab.bpe).
 *
 * The pair says neither the pattern nor which tokens are special. The pattern is gpt2 unless it is given. Special are
 * the entries of the vocabulary that are neither a byte nor made by a merge, as GPT-2's own <|endoftext|>: nothing else
 * can ever make them.
 */
#include "formats/model_file.h"
#include "formats/model_read.h"
#include "formats/spell.h"
#include "sys/fd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int bad_line(struct build *b, const char *name, size_t line, const char *what)
{
    return err_set(b->e, EX_DATAERR, "%s: line %zu: %s", name, line, what);
}

/* `left right`, of n bytes. */
static int take_line(struct build *b, const char *name, size_t line, const unsigned char *p, size_t n)
{
    const unsigned char *space = memchr(p, ' ', n);
    size_t left, right, at = space ? (size_t)(space - p) : 0;
    if (n && p[n - 1] == '\r')
        return bad_line(b, name, line, "ends with CR LF; the file must have LF alone, or other readers misread it");
    if (!n)
        return bad_line(b, name, line, "is empty; one merge a line should be there");
    unsigned char *to = build_merge_room(b, n);
    if (!to)
        return -1;
    left = space ? spell_get(to, p, at) : SPELL_NOT;
    right = left != SPELL_NOT ? spell_get(to + left, space + 1, n - at - 1) : SPELL_NOT;
    if (right == SPELL_NOT || !left || !right)
        return bad_line(b, name, line, "is not two tokens in byte-to-unicode form with a space between");
    return build_merge(b, left, right);
}

static int take_merges(struct build *b, const char *name, const struct buf *text)
{
    static const char header[] = "#version";
    const unsigned char *p = text->p, *end = p + text->len;
    for (size_t line = 1; p < end; line++) {
        const unsigned char *lf = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((lf ? lf : end) - p);
        bool is_header = n >= strlen(header) && !memcmp(p, header, strlen(header));
        if (is_header && line > 1)
            return bad_line(b, name, line, "begins with \"#version\", which some readers take for a header");
        if (!is_header && take_line(b, name, line, p, n))
            return -1;
        p += n + (lf != NULL);
    }
    return 0;
}

static int read_vocab(struct build *b, const char *path)
{
    struct jsonr r;
    int fd = fd_open_input(path, b->e);
    if (fd < 0)
        return -1;
    int rc = model_file_json(&r, fd, fd_name(path), b->e);
    if (!rc) {
        rc = model_read_vocab(&r, b) || jsonr_end(&r) ? -1 : 0;
        jsonr_free(&r);
    }
    close(fd);
    return rc;
}

static int read_merges(struct build *b, const char *path)
{
    struct buf text = {0};
    int fd = fd_open_input(path, b->e);
    if (fd < 0)
        return -1;
    int rc = model_file_all(fd, fd_name(path), &text, b->e) || take_merges(b, fd_name(path), &text) ? -1 : 0;
    buf_free(&text);
    close(fd);
    return rc;
}

/* All that is neither a byte nor in a merge. */
static int take_special(struct build *b)
{
    struct model *m = b->m;
    struct buf text = {0};
    int rc = 0;
    for (uint32_t id = 0; id < m->n_ids && !rc; id++) {
        struct model_token *t = &m->token[id];
        if (!t->p || (t->vocab && (t->len == 1 || build_is_merged(b, id))))
            continue;
        if (!t->len)
            return err_set(b->e, EX_DATAERR, "%s: token %lu is empty", b->name, (unsigned long)id);
        text.len = 0;
        rc = t->vocab ? spell_put(&text, t->p, t->len, b->e) : buf_put(&text, t->p, t->len, b->e);
        if (!rc) {
            t->p = build_copy(b, text.p, text.len);
            t->len = (uint32_t)text.len;
            t->vocab = false;
            rc = !t->p || build_special(b, (struct model_special){t->p, t->len, id, true, true}) ? -1 : 0;
        }
    }
    buf_free(&text);
    return rc;
}

static int set_pattern(struct build *b, const struct model_opts *opts)
{
    const char *pattern = opts && opts->pattern ? opts->pattern : "gpt2";
    const char *regex = opts && opts->pattern ? opts->regex : MODEL_GPT2_REGEX;
    b->m->pattern = (const char *)build_copy(b, pattern, strlen(pattern));
    return !b->m->pattern || (regex && build_regex(b, regex, strlen(regex))) ? -1 : 0;
}

int model_read_gpt2(struct model *m, const char *vocab, const char *merges, const struct model_opts *opts,
                    struct err *e)
{
    struct build b;
    int rc = build_init(&b, m, vocab, 1 << 16, e) || read_vocab(&b, vocab) || read_merges(&b, merges) ||
                     build_merges_end(&b) || build_end(&b) || take_special(&b) || set_pattern(&b, opts)
                 ? -1
                 : 0;
    m->format = MODEL_GPT2;
    build_free(&b);
    return rc;
}
