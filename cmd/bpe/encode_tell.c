/* encode_tell.c - tells why a process of bpe encode failed. */
#include "bpe/encode.h"

#include <signal.h>

int encode_tell(const struct encode *x, struct job *j, const struct job_process *p, const char *is, const char *name,
                struct err *e)
{
    struct buf line = {0};
    if (p->status == 128 + SIGPIPE && p->stage == ENCODE_IDS && job_may_be_unread(x->out.fd))
        return p->status; /* the reader of the ids has ended */
    if (p->status > 128 && p->stage == ENCODE_READ)
        return err_set(e, EX_TEMPFAIL, "the Parquet reader was killed; run the same command again");
    if (p->status > 128)
        return err_set(e, p->status, "%s was killed by signal %d; run the same command again", p->name,
                       p->status - 128);
    if (p->status == 0)
        return err_set(e, EX_TEMPFAIL, "%s ended too early", p->name);
    int status = job_tell(j, p, &line, e) < 0 || (is && buf_replace(&line, is, name, e)) || buf_put_byte(&line, '\0', e)
                     ? -1
                     : p->status;
    if (status > 0)
        job_print(NULL, (const char *)line.p);
    buf_free(&line);
    return status;
}
