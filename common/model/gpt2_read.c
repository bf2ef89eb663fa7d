/* gpt2_read.c - GPT-2's pair of files: vocab.json (or encoder.json) and merges.txt (or vocab.bpe).
 *
 * The pair says neither the pattern nor which tokens are special. The pattern is gpt2 unless it is given. Special are
 * the entries of the vocabulary that are neither a byte nor made by a merge, as GPT-2's own <|endoftext|>: nothing else
 * can ever make them.
 */
#include "core/byte_level.h"
#include "io/fd.h"
#include "model/model_file.h"
#include "model/model_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int bad_line(struct build *b, const char *name, size_t line, const char *what)
{
    return err_at(b->e, EX_DATAERR, name, ERR_NO_OFFSET, "line %zu: %s", line, what);
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
    left = space ? byte_level_get(to, p, at) : BYTE_LEVEL_NOT;
    right = left != BYTE_LEVEL_NOT ? byte_level_get(to + left, space + 1, n - at - 1) : BYTE_LEVEL_NOT;
    if (right == BYTE_LEVEL_NOT || !left || !right)
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
    struct json_reader r;
    int fd = fd_open_input(path, b->e);
    if (fd < 0)
        return -1;
    int rc = model_file_json(&r, fd, fd_name(path), b->e);
    if (!rc) {
        rc = model_read_vocab(&r, b) || json_read_end(&r) ? -1 : 0;
        json_read_free(&r);
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
            return err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "token %lu is empty", (unsigned long)id);
        text.len = 0;
        rc = t->vocab ? byte_level_put(&text, t->p, t->len, b->e) : buf_put(&text, t->p, t->len, b->e);
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
    return build_pattern(b, opts && opts->pattern ? opts->pattern : pattern_at(PATTERN_GPT2));
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
