/* check_sources.c - see check_sources.h. */
#include "shard/check/check_sources.h"

#include "base/io/fd.h"
#include "base/io/input.h"
#include "base/sys/bytes.h"
#include "base/sys/hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

/* ---- The text of a source, read from start to end, skipping unneeded parts of plain files ---- */

struct source_text {
    const char *path;
    struct input *in;
    int fd;        /* of an uncompressed file; else -1 */
    uint64_t at;   /* offset in the text of the first unused byte of the window */
    uint64_t line; /* line number there, if all lines before were read */
    struct buf window;
    size_t used;
};

static int text_open(struct source_text *t, const char *path, struct err *e)
{
    *t = (struct source_text){.path = path, .fd = -1, .line = 1};
    t->in = input_open_regular(path, e);
    if (!t->in)
        return -1;
    if (input_is_plain_file(t->in))
        t->fd = fd_open_regular(path, e);
    return input_is_plain_file(t->in) && t->fd < 0 ? -1 : 0;
}

static void text_close(struct source_text *t)
{
    input_close(t->in);
    if (t->fd >= 0)
        close(t->fd);
    buf_free(&t->window);
}

static size_t have(const struct source_text *t)
{
    return t->window.len - t->used;
}

/* Reads more of the text. 1: it did; 0: the text has ended; -1: error. */
static int fill(struct source_text *t, struct err *e)
{
    if (t->used) {
        memmove(t->window.p, t->window.p + t->used, have(t));
        t->window.len = have(t);
        t->used = 0;
    }
    if (buf_reserve(&t->window, BLOCK, e))
        return -1;
    unsigned char *to = t->window.p + t->window.len;
    ptrdiff_t got =
        t->fd >= 0 ? fd_pread(t->fd, to, BLOCK, t->at + t->window.len, t->path, e) : input_read(t->in, to, BLOCK, e);
    t->window.len += got > 0 ? (size_t)got : 0;
    return got > 0 ? 1 : (int)got;
}

static void use(struct source_text *t, size_t n)
{
    t->used += n;
    t->at += n;
}

static int ends_early(const struct source_text *t, const struct check_sample *s, struct err *e)
{
    err_set(e, EX_DATAERR, "the text ends inside or before the document of ids %llu to %llu of %s",
            (unsigned long long)s->token, (unsigned long long)(s->token + s->tokens - (s->tokens > 0)),
            s->shard->file[0].name);
    return s->by_line ? err_place_line(e, t->path, s->line) : err_place(e, t->path, s->offset);
}

/* Skips to an offset: that of s, or just before it. */
static int skip_to(struct source_text *t, const struct check_sample *s, uint64_t offset, struct err *e)
{
    while (t->at + have(t) < offset) {
        use(t, have(t));
        if (t->fd >= 0) {
            t->at = offset;
            return 0;
        }
        int more = fill(t, e);
        if (more <= 0)
            return more < 0 ? -1 : ends_early(t, s, e);
    }
    use(t, (size_t)(offset - t->at));
    return 0;
}

/* Skips to the beginning of the sample's line. */
static int skip_lines(struct source_text *t, const struct check_sample *s, struct err *e)
{
    while (t->line < s->line) {
        const unsigned char *p = t->window.p + t->used, *newline = have(t) ? memchr(p, '\n', have(t)) : NULL;
        t->line += newline != NULL;
        use(t, newline ? (size_t)(newline - p) + 1 : have(t));
        int more = newline ? 1 : fill(t, e);
        if (more <= 0)
            return more < 0 ? -1 : ends_early(t, s, e);
    }
    return 0;
}

/* Fills the window with *n bytes, or with all up to and including a byte `stop`. Sets *n to their number, which is
 * smaller if the text ends. */
static int hold(struct source_text *t, int stop, uint64_t *n, struct err *e)
{
    size_t seen = 0;
    int more = 1;
    while (more > 0) {
        const unsigned char *p = t->window.p + t->used;
        const unsigned char *found = stop >= 0 && have(t) > seen ? memchr(p + seen, stop, have(t) - seen) : NULL;
        if (found)
            *n = (uint64_t)(found - p) + 1;
        if (have(t) >= *n)
            return 0;
        seen = have(t);
        more = fill(t, e);
    }
    *n = have(t);
    return more;
}

/* Skips to an offset where a line should begin. 1; 0: no line begins there; -1. */
static int skip_to_line(struct source_text *t, const struct check_sample *s, struct err *e)
{
    if (s->offset == 0)
        return 1;
    if (t->at >= s->offset)
        return t->at == s->offset && (t->used == 0 || t->window.p[t->used - 1] == '\n');
    uint64_t n = 1;
    if (skip_to(t, s, s->offset - 1, e) || hold(t, -1, &n, e))
        return -1;
    if (n == 0)
        return ends_early(t, s, e);
    use(t, 1);
    return t->window.p[t->used - 1] == '\n';
}

/* ---- A sample ---- */

struct comparison {
    const struct check_samples *x;
    struct check_encoder *c;
    struct hash128 *hash;
    const struct input_form *form;
    struct buf text;
};

static int differs(const struct check_sample *s, const char *path, struct err *e)
{
    struct str name = str_of(s->shard->file[0].name);
    err_set(e, EX_DATAERR, "the document here does not encode to ids %llu to %llu of %.*s",
            (unsigned long long)s->token, (unsigned long long)(s->token + s->tokens - (s->tokens > 0)), (int)name.len,
            (const char *)name.p);
    return s->by_line ? err_place_line(e, path, s->line) : err_place(e, path, s->offset);
}

/* Whether the encoded ids from index i on are those of the sample. */
static bool equal_from(struct comparison *k, const struct check_sample *s, uint64_t i)
{
    unsigned char hash[HASH128_LEN];
    const struct check_encoder *c = k->c;
    if (c->ids.len / c->width - i < s->tokens)
        return false;
    hash128_reset(k->hash);
    check_hash_ids(k->hash, c->ids.p + (size_t)i * c->width, (size_t)s->tokens, c->width);
    hash128_get(k->hash, hash);
    return memcmp(hash, s->hash, sizeof hash) == 0;
}

static bool is_special(const struct check_encoder *c, uint64_t i)
{
    const struct model *m = c->encoder.rules.model;
    uint32_t id = load_le(c->ids.p + (size_t)i * c->width, c->width);
    for (size_t k = 0; k < m->n_special; k++) {
        if (m->special[k].id == id)
            return true;
    }
    return false;
}

/* Whether the sample is one of several documents in the text: it must then begin at a special token or directly after
 * one. */
static bool is_within(struct comparison *k, const struct check_sample *s)
{
    uint64_t n = k->c->ids.len / k->c->width;
    bool after = true; /* the start of the text, or a special token */
    for (uint64_t i = 0; i < n; i++) {
        bool special = is_special(k->c, i);
        if ((after || special) && equal_from(k, s, i))
            return true;
        after = special;
    }
    return false;
}

/* exact: the text is exactly the document. */
static int compare(struct comparison *k, const struct check_sample *s, const char *path, bool exact, struct err *e)
{
    struct err why;
    k->c->encoder.later = !k->form->documents && s->offset > 0;
    if (check_encoder_text(k->c, &k->text, &why)) {
        err_set(e, why.code, "the document here cannot be encoded: %s", why.msg);
        return s->by_line ? err_place_line(e, path, s->line) : err_place(e, path, s->offset);
    }
    bool good =
        exact ? k->c->ids.len / k->c->width == s->tokens && equal_from(k, s, 0) : s->tokens == 0 || is_within(k, s);
    return good ? 0 : differs(s, path, e);
}

/* Skips to the beginning of a sample's text. 1; 0: its position is unknown; -1. */
static int find_text(const struct comparison *k, struct source_text *t, const struct check_sample *s, struct err *e)
{
    if (k->form->place == PLACE_LINE && !s->by_line) /* some offsets within lines are synthetic: see tokenize.c */
        return skip_to_line(t, s, e);
    return (s->by_line ? skip_lines(t, s, e) : skip_to(t, s, s->offset, e)) ? -1 : 1;
}

/* 1; 0: its position in the text is unknown; -1. */
static int check_sample(struct comparison *k, struct source_text *t, const struct check_sample *s, struct err *e)
{
    int stop = k->form->end;
    uint64_t n = stop >= 0 ? UINT64_MAX : s->end - s->offset;
    int rc = find_text(k, t, s, e);
    if (rc <= 0 || hold(t, stop, &n, e))
        return rc == 0 ? 0 : -1;
    if (n == 0 || (stop < 0 && n < s->end - s->offset))
        return ends_early(t, s, e);
    k->text.len = 0;
    if (buf_put(&k->text, t->window.p + t->used, (size_t)n, e))
        return -1;
    return compare(k, s, t->path, s->exact && s->offset + n == s->end, e) ? -1 : 1;
}

/* Checks samples [from, to), all of one source. Those located by line come last, and read the text from its start. */
static int check_source(struct comparison *k, const char *path, size_t from, size_t to, uint64_t *n, struct err *e)
{
    struct source_text t;
    int rc = text_open(&t, path, e);
    bool lines = false;
    for (size_t i = from; i < to && rc >= 0; i++) {
        const struct check_sample *s = &k->x->sample[i];
        if (s->by_line && !lines) {
            text_close(&t);
            rc = text_open(&t, path, e);
            lines = true;
        }
        if (rc >= 0 && (rc = check_sample(k, &t, s, e)) > 0)
            ++*n;
    }
    text_close(&t);
    return rc < 0 ? -1 : 0;
}

/* ---- Files ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a file is a source: by name or, if by_part, by the last component of the path. */
static bool is_source(const char *path, const char *source, bool by_part)
{
    return by_part ? strcmp(last_part(path), last_part(source)) == 0 : strcmp(path, source) == 0;
}

/* 1; 0: the file exists, but no sample is from it; -1. */
static int check_file(struct comparison *k, const char *path, uint64_t *n, struct err *e)
{
    const struct check_samples *x = k->x;
    bool found = false;
    for (int by_part = 0; by_part < 2 && !found; by_part++) {
        for (size_t i = 0, end; i < x->n; i = end) {
            const char *source = x->sample[i].source;
            for (end = i; end < x->n && strcmp(x->sample[end].source, source) == 0; end++)
                ;
            if (!is_source(path, source, by_part))
                continue;
            if (found)
                return err_set(e, EX_USAGE, "%s: several sources have this name; give the path as in " MANIFEST_NAME,
                               path);
            found = true;
            if (check_source(k, path, i, end, n, e))
                return -1;
        }
    }
    if (!found && access(path, R_OK) < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
    return found;
}

int check_sources(const struct check_samples *x, struct check_encoder *c, char **files, int n_files, uint64_t *n,
                  int *n_without, struct err *e)
{
    struct comparison k = {.x = x, .c = c, .form = x->form, .hash = hash128_new(e)};
    int rc = k.hash ? 0 : -1;
    *n = 0;
    *n_without = 0;
    for (int i = 0; rc >= 0 && i < n_files; i++) {
        rc = check_file(&k, files[i], n, e);
        *n_without += rc == 0;
    }
    if (rc >= 0)
        rc = *n_without < n_files
                 ? 0
                 : err_set(e, EX_NOINPUT, "%s: no document to compare comes from a source of this name",
                           files[n_files - 1]);
    hash128_free(k.hash);
    buf_free(&k.text);
    return rc;
}
