/* check_encoder.c - see check_encoder.h. */
#include "shard/check/check_encoder.h"

#include "base/io/fd.h"
#include "wire/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int check_reading(struct reading *r, const struct manifest *m, struct err *e)
{
    *r = (struct reading){0};
    return m->reading.len ? reading_get(r, buf_str(&m->reading), e)
                          : err_set(e, EX_DATAERR,
                                    "the sources were read with different input options, and the manifest does not "
                                    "record which; check without corpus files");
}

/* Sets *name to the text of the separator; leaves it NULL if there is none. */
static int find_separator(const struct manifest *m, const struct model *model, char **name, struct err *e)
{
    for (size_t i = 0; m->separator && i < model->n_special; i++) {
        const struct model_special *s = &model->special[i];
        if (s->id != m->separator - 1)
            continue;
        if (manifest_set_text(name, (struct str){s->p, s->len}, e))
            return -1;
    }
    return 0;
}

static int open_temporary(struct err *e)
{
    const char *dir = getenv("TMPDIR");
    char name[4096];
    snprintf(name, sizeof name, "%.4000s/bpe-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, EX_CANTCREAT, errno, "%s: cannot create a temporary file (see TMPDIR)", name);
    unlink(name);
    return fd;
}

static int open_run(struct check_encoder *c, struct err *e)
{
    struct rules rules = {0};
    if (encode_rules_for_text(&c->encoder.rules, &rules, e) == 0)
        c->run = chunk_reader_own_run(&c->encoder.reader, &rules, &c->reading, e);
    rules_free(&rules);
    return c->run ? 0 : -1;
}

int check_encoder_init(struct check_encoder *c, const struct manifest *m, const struct model *model, const char *name,
                       struct err *e)
{
    char *separator = NULL;
    memset(c, 0, sizeof *c);
    c->fd = -1;
    chunk_encoder_init(&c->encoder, "bpe-shard");
    if (check_reading(&c->reading, m, e) || find_separator(m, model, &separator, e) || (c->fd = open_temporary(e)) < 0)
        return -1;
    if (input_forms[c->reading.form]->place == PLACE_RECORD) /* documents and offsets refer to text in records */
        c->reading.form = FORM_TEXT;
    c->width = model_id_bytes(model);
    c->encoder.out.format = IDS_RAW;
    c->encoder.out.fd = c->fd;
    c->encoder.out.name = "a temporary file";
    c->encoder.out.piece.width = c->width;
    c->encoder.rules = (struct encode_rules){.model = model,
                                             .name = name,
                                             .pattern = model_pattern(model),
                                             .special_is_text = m->special_policy == 1,
                                             .separator = separator};
    c->encoder.eot = (enum tokenize_eot)m->eot;
    c->encoder.no_special = m->special_policy == 2;
    c->nothing = input_open("/dev/null", e);
    if (!c->nothing || encoder_init(&c->encoder.encoder, model, c->width == 4, e) || open_run(c, e))
        return -1;
    return 0;
}

void check_encoder_free(struct check_encoder *c)
{
    char *separator = (char *)(uintptr_t)c->encoder.rules.separator;
    input_close(c->nothing);
    chunk_encoder_free(&c->encoder);
    free(separator);
    if (c->fd >= 0)
        close(c->fd);
    buf_free(&c->ids);
}

int check_encoder_text(struct check_encoder *c, const struct buf *text, struct err *e)
{
    struct stat st;
    if (ftruncate(c->fd, 0) < 0 || lseek(c->fd, 0, SEEK_SET) < 0)
        return err_sys(e, EX_IOERR, errno, "a temporary file: cannot truncate");
    if (chunk_reader_text(&c->encoder.reader, c->run, c->nothing, text, c->n++, e))
        return -1;
    if (fstat(c->fd, &st) < 0)
        return err_sys(e, EX_IOERR, errno, "a temporary file: cannot stat");
    c->ids.len = 0;
    if (buf_reserve(&c->ids, (size_t)st.st_size, e))
        return -1;
    ssize_t got = fd_pread(c->fd, c->ids.p, (size_t)st.st_size, 0, "a temporary file", e);
    c->ids.len = got > 0 ? (size_t)got : 0;
    return got < 0 ? -1 : 0;
}
