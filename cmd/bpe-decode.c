/* bpe-decode - ids in, their bytes out: exactly the text that was encoded. */
#include "base/cli/program.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "encode/decoder.h"
#include "encode/id_text.h"
#include "model/model.h"
#include "model/model_read.h"
#include "usage/decode_usage.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-decode"

enum { IDS = 64 << 10 /* bytes read at a time */ };

struct decoding {
    struct decode_options opt;
    struct model model;
    struct decoder decoder;
    struct outfile outfile;
    int fd;         /* of the output */
    const char *to; /* its name */
    struct buf in;  /* bytes read and not yet decoded */
    struct buf ids; /* for ids in decimal: the ids in `in` */
    struct buf out;
    const char *name; /* of the input */
    uint64_t n_ids;   /* ids of this input that were decoded */
    uint64_t line;    /* for ids in decimal: the line in which `in` begins */
};

/* Writes the first n bytes of the waiting output. After an error, discards all of it, so that nothing is written twice.
 */
static int write_out(struct decoding *d, size_t n, struct err *e)
{
    int rc = fd_write(d->fd, d->out.p, n, d->to, e);
    size_t left = rc ? 0 : d->out.len - n;
    if (left)
        memmove(d->out.p, d->out.p + n, left);
    d->out.len = left;
    return rc;
}

/* Writes the bytes of n ids. Returns how many it decoded: all before the first that is not in the model. -1: write
 * error, or out of memory. */
static ptrdiff_t decode_ids(struct decoding *d, const unsigned char *p, size_t n, struct err *e)
{
    for (size_t i = 0; i < n;) {
        ptrdiff_t done = decoder_put(&d->decoder, p + i * d->decoder.width, n - i, &d->out, e);
        if (done < 0)
            return -1;
        i += (size_t)done;
        if (d->out.len >= DECODER_MANY) {
            /* File systems are fastest with writes of whole pages, of 256 KB or more. */
            if (write_out(d, d->out.len - d->out.len % DECODER_MANY, e))
                return -1;
        } else if (i < n) {
            return (ptrdiff_t)i;
        }
    }
    return (ptrdiff_t)n;
}

/* Decodes the ids that were read completely; leaves the bytes of an incomplete one. */
static int decode_raw(struct decoding *d, struct err *e)
{
    const unsigned width = d->decoder.width;
    size_t n = d->in.len / width, used = n * width;
    ptrdiff_t done = decode_ids(d, d->in.p, n, e);
    if (done < 0)
        return -1;
    if ((size_t)done < n) {
        bool packed = !d->n_ids && decompressor_knows(d->in.p, d->in.len); /* ids may begin like that, too */
        return err_at(e, EX_DATAERR, d->name, ERR_NO_OFFSET, "id %lu at index %llu is not in the model (%s); %s",
                      (unsigned long)load_le(d->in.p + (size_t)done * width, width),
                      (unsigned long long)(d->n_ids + (size_t)done), d->opt.model,
                      packed ? "the file looks compressed: decompress it first" : "see -d");
    }
    d->n_ids += n;
    memmove(d->in.p, d->in.p + used, d->in.len - used);
    d->in.len -= used;
    return 0;
}

/* The same for n bytes of ids in decimal from `at` on; ended: no more will come. Returns how many bytes were used. */
static ptrdiff_t decode_decimal(struct decoding *d, size_t at, size_t n, bool ended, struct err *e)
{
    enum { WIDTH = 4 };
    const unsigned char *p = d->in.p + at;
    uint64_t line = d->line;
    d->ids.len = 0;
    ptrdiff_t used = id_text_read(p, n, ended, &d->ids, &d->line, e);
    struct err bad = *e;
    size_t n_ids = d->ids.len / WIDTH;
    ptrdiff_t done = decode_ids(d, d->ids.p, n_ids, e);
    if (done < 0)
        return -1;
    if ((size_t)done < n_ids) {
        err_set(e, EX_DATAERR, "id %lu is not in the model (%s)",
                (unsigned long)load_le(d->ids.p + (size_t)done * WIDTH, WIDTH), d->opt.model);
        return err_place_line(e, d->name, id_text_line(p, (size_t)done, line));
    }
    if (used < 0) {
        *e = bad;
        return err_place_line(e, d->name, bad.line);
    }
    d->n_ids += n_ids;
    return used;
}

/* A line is a document. If decoding depends on where a document begins, each line is decoded separately. */
static int decode_text(struct decoding *d, bool ended, struct err *e)
{
    size_t at = 0;
    for (bool more = true; more;) {
        size_t n = d->in.len - at;
        const unsigned char *end = decoder_has_begin(&d->decoder) ? memchr(d->in.p + at, '\n', n) : NULL;
        more = end != NULL;
        if (end)
            n = (size_t)(end - (d->in.p + at)) + 1;
        ptrdiff_t used = decode_decimal(d, at, n, ended, e);
        if (used < 0)
            return -1;
        at += (size_t)used;
        if (end)
            decoder_begin(&d->decoder);
    }
    memmove(d->in.p, d->in.p + at, d->in.len - at);
    d->in.len -= at;
    return 0;
}

/* Refuses a NumPy array, which is raw ids after a header: magic, version, the header's length, and a Python dict (see
 * numpy/lib/format.py). -1: it is one. */
static int refuse_npy(const struct decoding *d, struct err *e)
{
    enum { MAGIC = 6, VERSION = 2, SHORT = 2, LONG = 4, HEADER = 128 /* bytes that contain the type */ };
    const unsigned char *p = d->in.p;
    if (d->in.len < HEADER || memcmp(p, "\x93NUMPY", MAGIC) != 0 || p[MAGIC] < 1 || p[MAGIC] > 3)
        return 0;
    const unsigned width = p[MAGIC] == 1 ? SHORT : LONG;
    const size_t at = MAGIC + VERSION + width;
    if (p[at] != '{')
        return 0;
    const bool narrow = memmem(p, HEADER, "'<u2'", 5);
    if (!narrow && !memmem(p, HEADER, "'<u4'", 5) && !memmem(p, HEADER, "'<i4'", 5))
        return err_at(e, EX_DATAERR, d->name, ERR_NO_OFFSET,
                      "this is a NumPy array that is not uint16 or uint32; save it as one of these types");
    return err_at(e, EX_DATAERR, d->name, ERR_NO_OFFSET,
                  "this is a NumPy array; to decode its ids: tail -c +%zu FILE | bpe-decode -d %s ...",
                  at + load_le(p + MAGIC + VERSION, width) + 1, narrow ? "u16" : "u32");
}

/* Looks at the beginning of a file. -1: it is not raw ids. */
static int look_at_start(const struct decoding *d, struct err *e)
{
    if (record_begins(d->in.p, d->in.len))
        return err_at(e, EX_DATAERR, d->name, ERR_NO_OFFSET,
                      "these are records; bpe-decode takes raw ids (bpe-encode -f raw)");
    return refuse_npy(d, e);
}

/* Decodes a file up to its end. */
static int decode_stream(struct decoding *d, int fd, struct err *e)
{
    bool text = d->opt.format == DECODE_TEXT;
    for (ssize_t got = 1; got;) {
        got = fd_read(fd, d->in.p + d->in.len, IDS - d->in.len, d->name, e);
        if (got < 0)
            return -1;
        d->in.len += (size_t)got;
        if (!d->n_ids && look_at_start(d, e))
            return -1;
        if (text ? decode_text(d, got == 0, e) : got && decode_raw(d, e))
            return -1;
    }
    return 0;
}

/* Does not use input.h, because raw ids may look like a compressed file. */
static int decode_file(struct decoding *d, const char *path, struct err *e)
{
    struct fd_stamp then;
    d->name = fd_name(path);
    d->n_ids = d->in.len = 0;
    d->line = 1;
    decoder_begin(&d->decoder);
    int fd = fd_open_input(path, e);
    int rc = fd < 0 || fd_stamp(fd, d->name, &then, e) || buf_reserve(&d->in, IDS, e) ? -1 : decode_stream(d, fd, e);
    if (rc == 0 || e->code == EX_DATAERR)
        rc = fd_unchanged(fd, d->name, &then, UINT64_MAX, e) ? -1 : rc;
    if (rc == 0 && d->in.len)
        rc = err_at(e, EX_DATAERR, d->name, ERR_NO_OFFSET, "ends inside an id (%zu byte%s after id %llu); see -d",
                    d->in.len, d->in.len == 1 ? "" : "s", (unsigned long long)d->n_ids);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int open_output(struct decoding *d, struct err *e)
{
    const struct decode_options *o = &d->opt;
    char *const model[] = {(char *)(uintptr_t)o->model};
    if (!o->path)
        return 0;
    if (fd_keep_apart(o->path, model, 1, e) || fd_keep_apart(o->path, o->files, (size_t)o->n_files, e) ||
        outfile_open(&d->outfile, o->path, e))
        return -1;
    d->fd = d->outfile.fd;
    d->to = o->path;
    return 0;
}

static int run(void *ctx, struct err *e)
{
    struct decoding *d = ctx;
    const struct decode_options *o = &d->opt;
    const struct model_opts given = {.special = o->special.at, .n_special = o->special.n};
    if (model_read(&d->model, o->model, &given, e))
        return -1;
    unsigned width = o->format == DECODE_TEXT ? 4 : shared_options_width(o->dtype, model_id_bytes(&d->model));
    if (decoder_init(&d->decoder, &d->model, width, e) || open_output(d, e))
        return -1;
    for (int i = 0; i < o->n_files; i++) {
        if (decode_file(d, o->files[i], e)) {
            struct err ignored;
            write_out(d, d->out.len, &ignored); /* the ids before the error */
            return -1;
        }
    }
    return write_out(d, d->out.len, e) || (o->path ? outfile_commit(&d->outfile, 1, e) : fd_close_stdout(e)) ? -1 : 0;
}

static void decoding_free(void *ctx)
{
    struct decoding *d = ctx;
    if (d->opt.path)
        outfile_drop(&d->outfile);
    decoder_free(&d->decoder);
    model_free(&d->model);
    buf_free(&d->in);
    buf_free(&d->ids);
    buf_free(&d->out);
}

/* ---- The command line ---- */

static struct decoding self = {.fd = 1, .to = "standard output", .outfile.fd = -1};

static const struct program program = {
    .usage = &decode_usage,
    .options = &self.opt,
    .codecs = codec_versions,
    .ctx = &self,
    .run = run,
    .free = decoding_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
