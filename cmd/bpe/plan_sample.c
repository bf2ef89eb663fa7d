/* plan_sample.c - takes a sample of a corpus from many positions in it, for bpe plan.
 *
 * Blocks spread evenly over the FILEs are shuffled and divided into parts: part 0 is 1 % of the sample, parts 0 and 1
 * are 2 %, and so on. So each size is a sample of the whole corpus, and contains the smaller ones.
 *
 * Compressed files, and files that are not regular, can be read only from the beginning: the sample takes the first
 * part of up to 64 compressed files. Their text goes to a spool file.
 */
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/input.h"
#include "bpe/plan_blocks.h"
#include "driver/installed.h"
#include "driver/partition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES = 64,       /* compressed files to read, at most */
    TOO_FEW = 1000000 /* bytes; less text shows no law */
};
#define EXPAND 2.5 /* bytes of text from a compressed byte, about */
static const double sizes[PLAN_PARTS] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};

static int store(int fd, const void *p, size_t n, struct err *e)
{
    if (fd_write(fd, p, n, installed_temporary(), e) == 0)
        return 0;
    return err_add(e, PARTITION_REMEDY);
}

static int add_source(struct sampler *x, struct plan_source source, struct err *e)
{
    struct plan_sample *s = x->s;
    if (array_grow(&s->sources, &s->cap_sources, s->n_sources + 1, sizeof *s->sources, "sources", e))
        return -1;
    s->sources[s->n_sources++] = source;
    return 0;
}

/* ---- Inputs that are read from the beginning ---- */

/* Reads text into the spool, up to `max` bytes or the end. 1: it ended. */
static int spool(struct sampler *x, struct input *in, uint64_t max, uint64_t *len, struct err *e)
{
    enum { STEP = 1 << 20 };
    ptrdiff_t got = 1;
    if (x->spool < 0 && (x->spool = partition_file(NULL, e)) < 0)
        return -1;
    if (buf_reserve(&x->window, STEP, e))
        return -1;
    for (*len = 0; *len < max && got > 0;) {
        size_t n = 0;
        while (n < STEP && (got = input_read(in, x->window.p + n, STEP - n, e)) > 0)
            n += (size_t)got;
        *len += n;
        if (store(x->spool, x->window.p, n, e))
            return -1;
    }
    return got < 0 ? -1 : got == 0;
}

/* Drops the incomplete line, document or record at the end of the last source. */
static int cut_end(struct sampler *x, struct err *e)
{
    size_t len = x->form->border_len, last = x->s->n_sources - 1;
    struct plan_source *s = &x->s->sources[last];
    if (sampler_use(x, last, e))
        return -1;
    for (uint64_t end = s->size, begin; end >= len; end = begin + len - 1) {
        begin = end > SAMPLER_WINDOW ? end - SAMPLER_WINDOW : 0;
        ssize_t n = sampler_look(x, begin, (size_t)(end - begin), e);
        if (n < 0)
            return -1;
        for (size_t at = (size_t)n + 1 - len; at-- > 0;) {
            if (memcmp(x->window.p + at, x->form->border, len) == 0) {
                s->size = begin + at + x->form->border_ends;
                return 0;
            }
        }
        if (begin == 0)
            break;
    }
    return 0; /* there is one line only */
}

/* Adds the spooled text as a source, with its blocks. bytes: the size of all text that blocks represent; 0: only this
 * text. */
static int take_spooled(struct sampler *x, const char *name, uint64_t len, bool whole, uint64_t bytes, struct err *e)
{
    struct plan_source source = {.name = name, .spooled = true, .base = x->spooled, .size = len};
    x->spooled += len;
    return add_source(x, source, e) || (!whole && cut_end(x, e)) ||
                   sampler_cut(x, x->s->n_sources - 1, sampler_block(x, bytes ? bytes : len), e)
               ? -1
               : 0;
}

static int take_pipe(struct sampler *x, const char *name, bool *known, struct err *e)
{
    uint64_t len = 0;
    struct input *in = input_open(name, e);
    int rc = in ? spool(x, in, x->max, &len, e) : -1;
    if (rc >= 0) {
        *known &= rc == 1 && len > 0;
        x->s->whole += rc == 1 ? len : 0;
        x->s->first++;
        rc = take_spooled(x, fd_name(name), len, rc == 1, 0, e);
    }
    input_close(in);
    return rc;
}

struct compressed {
    const char *name;
    uint64_t size;
};

/* Spools the text of the first bytes of a compressed file. 1: that is all of its text. */
static int take_first(struct sampler *x, const struct compressed *f, uint64_t take, uint64_t *len, struct err *e)
{
    take = take < f->size ? take : f->size;
    int fd = fd_open_regular(f->name, e);
    struct input *in = fd < 0 ? NULL : input_open_range(fd, f->name, 0, take, e);
    int rc = in ? spool(x, in, UINT64_MAX, len, e) : -1;
    if (rc < 0 && in && e->code == EX_DATAERR && take < f->size && *len && input_position(in) == take)
        rc = 0; /* it was cut there */
    input_close(in);
    job_close(&fd);
    return rc < 0 ? -1 : take == f->size;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct compressed *)a)->name, ((const struct compressed *)b)->name);
}

static int take_compressed(struct sampler *x, struct compressed *files, size_t n, struct err *e)
{
    uint64_t total = 0, len = 0;
    double of_text = 0, of_files = 0;
    qsort(files, n, sizeof *files, by_name);
    for (size_t i = 0; i < n; i++)
        total += files[i].size;
    size_t some = n < FILES ? n : FILES;
    uint64_t take = (uint64_t)((double)x->max / (double)some / EXPAND) + 1;
    for (size_t i = 0; i < some; i++) {
        const struct compressed *f = &files[i * n / some];
        int whole = take_first(x, f, take, &len, e);
        if (whole < 0 || take_spooled(x, f->name, len, whole, total, e))
            return -1;
        of_text += (double)len;
        of_files += (double)(whole ? f->size : take);
    }
    x->s->whole += (uint64_t)((double)total * of_text / of_files);
    x->s->first += n;
    return 0;
}

/* ---- Parts ---- */

static void shuffle(struct sampler *x)
{
    struct plan_block *blocks = x->s->blocks;
    for (size_t i = x->s->n_blocks; i-- > 1;) {
        size_t j = sampler_chance(x, (double)i);
        struct plan_block block = blocks[i];
        blocks[i] = blocks[j];
        blocks[j] = block;
    }
}

static int put_block(struct sampler *x, int fd, const struct plan_block *block, struct err *e)
{
    for (size_t i = block->first; i < block->first + block->n; i++) {
        const struct plan_piece *p = &x->s->pieces[i];
        if (sampler_use(x, p->source, e))
            return -1;
        for (uint64_t at = p->begin; at < p->end;) {
            ssize_t n = sampler_look(x, at, p->end - at < SAMPLER_WINDOW ? (size_t)(p->end - at) : SAMPLER_WINDOW, e);
            if (n == 0)
                return err_set(e, EX_DATAERR, "%s: changed while it was read", x->s->sources[p->source].name);
            if (n < 0 || store(fd, x->window.p, (size_t)n, e))
                return -1;
            at += (uint64_t)n;
        }
        if (!p->ends_line && store(fd, "\n", 1, e)) /* the next piece is from another text */
            return -1;
    }
    return 0;
}

/* Writes the parts. If there are few blocks, parts without a block are left out. */
static int put_parts(struct sampler *x, struct err *e)
{
    struct plan_sample *s = x->s;
    size_t block = 0;
    uint64_t total = 0;
    double written = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        total += s->blocks[i].len;
    if (total < TOO_FEW)
        return err_set(e, EX_DATAERR, "the text has %llu bytes; an estimate needs at least %d",
                       (unsigned long long)total, TOO_FEW);
    shuffle(x);
    for (size_t i = 0; i < PLAN_PARTS && block < s->n_blocks; i++) {
        const double max = sizes[i] * (double)total;
        size_t part = s->n_parts, first = block;
        s->part[part] = partition_file(NULL, e);
        if (s->part[part] < 0)
            return -1;
        s->first_block[s->n_parts++] = block;
        for (; block < s->n_blocks &&
               (i + 1 == PLAN_PARTS || block == first || written + (double)s->blocks[block].len / 2 < max);
             block++) {
            if (put_block(x, s->part[part], &s->blocks[block], e))
                return -1;
            s->bytes[part] += s->blocks[block].len;
            written += (double)s->blocks[block].len;
        }
    }
    s->first_block[s->n_parts] = block;
    return 0;
}

const char *plan_sample_origin(const struct plan_sample *s, size_t part, uint64_t at, uint64_t *offset)
{
    for (size_t b = s->first_block[part]; b < s->first_block[part + 1]; b++) {
        for (size_t i = s->blocks[b].first; i < s->blocks[b].first + s->blocks[b].n; i++) {
            const struct plan_piece *p = &s->pieces[i];
            uint64_t len = p->end - p->begin + !p->ends_line;
            if (at < len) {
                *offset = p->begin + at;
                return s->sources[p->source].name;
            }
            at -= len;
        }
    }
    return NULL;
}

/* ---- All ---- */

/* Reads inputs that are not regular files immediately; divides the others into compressed and plain files. */
static int take_all(struct sampler *x, char **files, int n, struct compressed *compressed, struct err *e)
{
    size_t n_compressed = 0, first;
    bool known = true;
    const char **plain = calloc((size_t)n + 1, sizeof *plain);
    int n_plain = 0, rc = plain ? 0 : err_mem(e, "names", (size_t)n * sizeof *plain);
    for (int i = 0; i < n && rc == 0; i++) {
        unsigned char head[DECOMPRESSOR_MAGIC];
        struct stat st;
        const char *name = files[i];
        if (strcmp(name, "-") == 0 || (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
            rc = take_pipe(x, name, &known, e);
            continue;
        }
        int fd = fd_open_input(name, e);
        ssize_t got = fd < 0 ? -1 : fd_pread(fd, head, sizeof head, 0, name, e);
        if (got < 0 || fstat(fd, &st) < 0)
            rc = -1;
        else if (decompressor_knows(head, (size_t)got))
            compressed[n_compressed++] = (struct compressed){name, (uint64_t)st.st_size};
        else
            plain[n_plain++] = name;
        job_close(&fd);
    }
    first = x->s->n_sources;
    for (int i = 0; i < n_plain && rc == 0; i++) {
        struct stat st = {0};
        rc = stat(plain[i], &st) < 0
                 ? err_sys(e, EX_NOINPUT, errno, "%s: cannot open", plain[i])
                 : add_source(x, (struct plan_source){.name = plain[i], .size = (uint64_t)st.st_size}, e);
    }
    if (rc == 0 && n_plain)
        rc = sampler_take_places(x, first, e);
    if (rc == 0 && n_compressed)
        rc = take_compressed(x, compressed, n_compressed, e);
    if (!known)
        x->s->whole = 0;
    free(plain);
    return rc;
}

int plan_sample_take(struct plan_sample *s, const struct input_form *form, uint64_t max, char **files, int n_files,
                     struct err *e)
{
    struct sampler x = {.s = s, .form = form, .max = max, .chance = 1, .source = SIZE_MAX, .fd = -1, .spool = -1};
    struct compressed *compressed = calloc((size_t)n_files + 1, sizeof *compressed);
    *s = (struct plan_sample){0};
    int rc = !compressed ? err_mem(e, "names", (size_t)n_files * sizeof *compressed)
                         : take_all(&x, files, n_files, compressed, e) || put_parts(&x, e);
    job_close(&x.fd);
    job_close(&x.spool);
    free(compressed);
    buf_free(&x.window);
    return rc ? -1 : 0;
}

void plan_sample_free(struct plan_sample *s)
{
    for (size_t i = 0; i < s->n_parts; i++)
        job_close(&s->part[i]);
    free(s->sources);
    free(s->pieces);
    free(s->blocks);
}
