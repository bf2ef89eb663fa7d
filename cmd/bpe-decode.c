/* bpe-decode - ids in, the bytes they stand for out: exactly the text that was encoded. */
#include "cli/program.h"
#include "core/model.h"
#include "decode/decoder.h"
#include "io/fd.h"
#include "model/model_read.h"
#include "records/record.h"
#include "sys/buf.h"
#include "sys/bytes.h"
#include "usage/decode_usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-decode"

enum { IDS = 64 << 10 /* bytes read at a time */ };

struct decoding {
    struct decode_options opt;
    struct model model;
    struct decoder decoder;
    struct buf in, out;
};

/* Writes the first n bytes of what waits. After an error nothing is left to be written again. */
static int write_out(struct decoding *d, size_t n, struct err *e)
{
    int rc = fd_write(1, d->out.p, n, "standard output", e);
    size_t left = rc ? 0 : d->out.len - n;
    if (left)
        memmove(d->out.p, d->out.p + n, left);
    d->out.len = left;
    return rc;
}

/* Writes the bytes of n ids; index: the number of ids before these, for messages. */
static int decode_ids(struct decoding *d, const unsigned char *p, size_t n, const char *name, uint64_t index,
                      struct err *e)
{
    const unsigned width = d->decoder.width;
    for (size_t i = 0; i < n;) {
        ptrdiff_t done = decoder_put(&d->decoder, p + i * width, n - i, &d->out, e);
        if (done < 0)
            return -1;
        i += (size_t)done;
        if (d->out.len >= DECODER_MANY) {
            /* Writes of whole pages, of 256 KB and more, are what file systems take fastest. */
            if (write_out(d, d->out.len - d->out.len % DECODER_MANY, e))
                return -1;
        } else if (i < n) {
            return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                          "id %lu at index %llu is none of the model's (%s); see -d",
                          (unsigned long)load_le(p + i * width, width), (unsigned long long)(index + i), d->opt.model);
        }
    }
    return 0;
}

/* Does not use input.h: raw ids may look like a compressed file. */
static int decode_file(struct decoding *d, const char *path, struct err *e)
{
    const char *name = fd_name(path);
    struct fd_stamp then;
    int fd = fd_open_input(path, e);
    int rc = fd < 0 || fd_stamp(fd, name, &then, e) || buf_reserve(&d->in, IDS, e) ? -1 : 0;
    uint64_t index = 0;
    d->in.len = 0;
    while (rc == 0) {
        ssize_t got = fd_read(fd, d->in.p + d->in.len, IDS - d->in.len, name, e);
        if (got <= 0) {
            rc = got < 0 ? -1 : 0;
            break;
        }
        d->in.len += (size_t)got;
        if (index == 0 && record_begins(d->in.p, d->in.len)) {
            rc = err_at(e, EX_DATAERR, name, ERR_NO_OFFSET,
                        "these are records; bpe-decode takes raw ids (bpe-encode -f raw)");
            break;
        }
        size_t n = d->in.len / d->decoder.width, used = n * d->decoder.width;
        rc = decode_ids(d, d->in.p, n, name, index, e);
        index += n;
        memmove(d->in.p, d->in.p + used, d->in.len - used);
        d->in.len -= used;
    }
    if (rc == 0 || e->code == EX_DATAERR)
        rc = fd_unchanged(fd, name, &then, UINT64_MAX, e) ? -1 : rc;
    if (rc == 0 && d->in.len)
        rc = err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "ends inside an id (%zu byte%s after id %llu); see -d",
                    d->in.len, d->in.len == 1 ? "" : "s", (unsigned long long)index);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int run(void *ctx, struct err *e)
{
    struct decoding *d = ctx;
    const struct decode_options *o = &d->opt;
    const struct model_opts given = {.special = o->special.at, .n_special = o->special.n};
    if (model_read(&d->model, o->model, &given, e))
        return -1;
    unsigned width = shared_options_width(o->dtype, model_id_bytes(&d->model));
    if (decoder_init(&d->decoder, &d->model, width, e))
        return -1;
    for (int i = 0; i < o->n_files; i++) {
        if (decode_file(d, o->files[i], e)) {
            struct err ignored;
            write_out(d, d->out.len, &ignored); /* the ids before the error */
            return -1;
        }
    }
    return write_out(d, d->out.len, e) || fd_close_stdout(e) ? -1 : 0;
}

static void decoding_free(void *ctx)
{
    struct decoding *d = ctx;
    decoder_free(&d->decoder);
    model_free(&d->model);
    buf_free(&d->in);
    buf_free(&d->out);
}

/* ---- The command line ---- */

static struct decoding self;

static const struct program program = {
    .usage = &decode_usage,
    .options = &self.opt,
    .ctx = &self,
    .run = run,
    .free = decoding_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
