/* plan_blocks.c - see plan_blocks.h.
 *
 * Blocks begin and end where lines, NUL-terminated documents or WET records do. To find these positions, only the text
 * near them is read.
 */
#include "bpe/plan_blocks.h"

#include "base/io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>

enum {
    BLOCKS = 2048,       /* in a sample, and */
    BLOCK_MIN = 8 << 10, /* bytes of each, at least */
    FAR = 16 << 20,      /* bytes after a block that are searched for its end */
};

uint64_t sampler_chance(struct sampler *x, double n)
{
    x->chance = (x->chance * 1103515245 + 12345) % 2147483648;
    return (uint64_t)((double)x->chance / 2147483648.0 * (n + 1));
}

uint64_t sampler_block(const struct sampler *x, uint64_t n)
{
    uint64_t block = (n < x->max ? n : x->max) / BLOCKS;
    return block > BLOCK_MIN ? block : BLOCK_MIN;
}

/* ---- Where texts may begin and end ---- */

int sampler_use(struct sampler *x, size_t source, struct err *e)
{
    if (x->source == source)
        return 0;
    const struct plan_source *s = &x->s->sources[source];
    job_close(&x->fd);
    x->source = SIZE_MAX;
    x->fd = s->spooled ? fcntl(x->spool, F_DUPFD_CLOEXEC, 3) : fd_open_regular(s->name, e);
    if (x->fd < 0)
        return s->spooled ? err_sys(e, EX_OSERR, errno, "%s", s->name) : -1;
    x->source = source;
    x->known_from = x->known_to = 0;
    x->known_mark = false;
    return 0;
}

ssize_t sampler_look(struct sampler *x, uint64_t at, size_t n, struct err *e)
{
    const struct plan_source *s = &x->s->sources[x->source];
    if (buf_reserve(&x->window, SAMPLER_WINDOW + 16, e))
        return -1;
    n = at >= s->size ? 0 : n < s->size - at ? n : (size_t)(s->size - at);
    return fd_pread(x->fd, x->window.p, n, s->base + at, s->name, e);
}

/* Finds the first mark that begins at or after `from` and ends before `limit`. 1: found; 0: none. */
static int find_mark(struct sampler *x, uint64_t from, uint64_t limit, uint64_t *found, struct err *e)
{
    const char *mark = x->form->border;
    size_t len = x->form->border_len;
    if (from < x->known_from || from > x->known_to) {
        x->known_from = x->known_to = from;
        x->known_mark = false;
    }
    while (!x->known_mark && x->known_to + len <= limit) {
        ssize_t n = sampler_look(x, x->known_to, SAMPLER_WINDOW + len - 1, e);
        if (n < 0)
            return -1;
        if ((size_t)n < len)
            break;
        const unsigned char *at = memmem(x->window.p, (size_t)n, mark, len);
        x->known_to += at ? (uint64_t)(at - x->window.p) : (uint64_t)n - (len - 1);
        x->known_mark = at != NULL;
    }
    *found = x->known_to;
    return x->known_mark && x->known_to + len <= limit;
}

/* Finds the first position at or after `at` where a block may begin or end. 1: found; 0: none before `limit`. */
static int border(struct sampler *x, uint64_t at, uint64_t limit, uint64_t *place, struct err *e)
{
    size_t ends = x->form->border_ends;
    int rc = find_mark(x, at < ends ? 0 : at - ends, limit, place, e);
    *place += ends;
    if (rc || (x->form->documents && limit < x->s->sources[x->source].size))
        return rc;
    if (x->form->documents) {
        *place = x->s->sources[x->source].size;
        return 1;
    }
    ssize_t n = sampler_look(x, at, 4, e); /* between two characters of a long line */
    *place = at;
    for (ssize_t i = 0; i < n && (x->window.p[i] & 0xC0) == 0x80; i++)
        ++*place;
    return n < 0 ? -1 : 1;
}

/* Adds to the last block whole lines or documents of a source, from about `from` to `to`. */
static int add_piece(struct sampler *x, size_t source, uint64_t from, uint64_t to, struct err *e)
{
    struct plan_sample *s = x->s;
    struct plan_piece piece = {.source = source, .ends_line = true};
    const uint64_t size = s->sources[source].size, limit = to + FAR < size ? to + FAR : size;
    int rc = sampler_use(x, source, e) ? -1 : from ? border(x, from, limit, &piece.begin, e) : 1;
    piece.end = size;
    if (rc > 0 && to < size)
        rc = border(x, to, limit, &piece.end, e);
    if (rc <= 0 || piece.end <= piece.begin)
        return rc < 0 ? -1 : 0;
    if (!input_form_has_end(x->form)) {
        ssize_t n = sampler_look(x, piece.end - 1, 1, e);
        if (n < 0)
            return -1;
        piece.ends_line = n == 1 && *x->window.p == '\n';
    }
    if (array_grow(&s->pieces, &s->cap_pieces, s->n_pieces + 1, sizeof *s->pieces, "pieces", e))
        return -1;
    s->pieces[s->n_pieces++] = piece;
    s->blocks[s->n_blocks].n++;
    s->blocks[s->n_blocks].len += piece.end - piece.begin + !piece.ends_line;
    return 0;
}

static int begin_block(struct sampler *x, struct err *e)
{
    struct plan_sample *s = x->s;
    if (array_grow(&s->blocks, &s->cap_blocks, s->n_blocks + 1, sizeof *s->blocks, "blocks", e))
        return -1;
    s->blocks[s->n_blocks] = (struct plan_block){.first = s->n_pieces};
    return 0;
}

static void end_block(struct sampler *x)
{
    x->s->n_blocks += x->s->blocks[x->s->n_blocks].len > 0;
}

int sampler_cut(struct sampler *x, size_t source, uint64_t block, struct err *e)
{
    uint64_t size = x->s->sources[source].size;
    for (uint64_t at = 0; at <= size; at += block) {
        if (begin_block(x, e) || add_piece(x, source, at, at + block, e))
            return -1;
        end_block(x);
    }
    return 0;
}

/* ---- Plain files, sampled as one text ---- */

int sampler_take_places(struct sampler *x, size_t first, struct err *e)
{
    struct plan_sample *s = x->s;
    uint64_t total = 0, before = 0;
    size_t file = first;
    for (size_t i = first; i < s->n_sources; i++)
        total += s->sources[i].size;
    uint64_t block = sampler_block(x, total);
    bool all = (double)total <= 1.25 * (double)x->max;
    uint64_t n = (all ? total : x->max) / block + 1;
    double step = (double)total / (double)n, room = all ? 0 : step - (double)block;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t from = (uint64_t)((double)i * step) + sampler_chance(x, room);
        uint64_t to = room > 0 ? from + block : (uint64_t)((double)(i + 1) * step);
        if (begin_block(x, e))
            return -1;
        while (file < s->n_sources) {
            uint64_t end = before + s->sources[file].size;
            if (from < end && to > before &&
                add_piece(x, file, (from > before ? from : before) - before, (to < end ? to : end) - before, e))
                return -1;
            if (to <= end)
                break;
            before = end;
            file++;
        }
        end_block(x);
    }
    s->whole += total;
    return 0;
}
