/* encode_process.c - the bpe-encodes of bpe encode: their model, what they are told, and why one has failed. */
#include "bpe/encode.h"

#include "base/io/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int model_pipe_read(struct model_pipe *m, const char *path, struct err *e)
{
    struct stat st;
    struct buf text = {0};
    m->fd = -1;
    bool named = strcmp(path, "-") != 0;
    if (named && stat(path, &st) < 0) /* said once, and not by each process */
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
    if (named && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0;
    int rc = fd_read_file(path, &text, e);
    if (rc == 0 && text.len == 0)
        rc = err_set(e, EX_NOINPUT, "-m %s: nothing came from it", path);
    if (rc == 0 && (m->fd = memfd_create("model", MFD_CLOEXEC)) < 0)
        rc = err_sys(e, EX_OSERR, errno, "cannot keep the model in memory");
    rc = rc || fd_write(m->fd, text.p, text.len, "the model in memory", e) ? -1 : 0;
    snprintf(m->option, sizeof m->option, "--model=/proc/%ld/fd/%d", (long)getpid(), m->fd);
    buf_free(&text);
    return rc;
}

void model_pipe_close(struct model_pipe *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

const char *model_pipe_option(const struct model_pipe *m)
{
    return m->fd < 0 ? NULL : m->option;
}

int encode_text_words(const struct encode *x, struct command_line *l, struct err *e)
{
    const char *model = model_pipe_option(&x->model);
    if (command_line_add(l, e, "bpe-encode") || command_line_options(l, &x->program->words, e) ||
        (model && command_line_add(l, e, model)))
        return -1;
    return 0;
}

int encode_tell_of(const struct encode *x, struct job *j, const struct job_process *p, struct encode_input input,
                   struct err *e)
{
    struct buf line = {0};
    if (p->status == 128 + SIGPIPE && p->stage == ENCODE_IDS && job_may_be_unread(x->out.fd))
        return p->status; /* who reads the ids has gone away */
    if (p->status > 128 && p->stage == ENCODE_READ)
        return err_set(e, EX_TEMPFAIL, "what reads Parquet was killed; run the same command again");
    if (p->status > 128)
        return err_set(e, p->status, "%s was killed by signal %d; run the same command again", p->name,
                       p->status - 128);
    if (p->status == 0)
        return err_set(e, EX_TEMPFAIL, "%s ended too early", p->name);
    int status = job_tell(j, p, &line, e) < 0 || (input.is && buf_replace(&line, input.is, input.name, e)) ||
                         buf_put_byte(&line, '\0', e)
                     ? -1
                     : p->status;
    if (status > 0)
        job_print(NULL, (const char *)line.p);
    buf_free(&line);
    return status;
}

int encode_tell(const struct encode *x, struct job *j, const struct job_process *p, struct err *e)
{
    return encode_tell_of(x, j, p, (struct encode_input){0}, e);
}
