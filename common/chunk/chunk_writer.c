/* chunk_writer.c - see chunk_writer.h. */
#include "chunk/chunk_writer.h"

#include "base/io/fd.h"
#include "wire/failure.h"
#include "wire/fragments.h"
#include "wire/record.h"

#include <string.h>

void chunk_writer_free(struct chunk_writer *w)
{
    source_list_free(&w->sources);
    buf_free(&w->rules);
    buf_free(&w->reading);
    buf_free(&w->out);
}

struct source_facts chunk_writer_facts(const struct chunk_writer *w, size_t source)
{
    const struct source *s = &w->sources.at[source];
    return (struct source_facts){.number = source,
                                 .name = str_of(s->name),
                                 .reading = buf_str(s->reading.len ? &s->reading : &w->reading),
                                 .access = s->access,
                                 .size = s->size,
                                 .mtime_s = s->mtime_s,
                                 .mtime_ns = s->mtime_ns};
}

int chunk_writer_flush(struct chunk_writer *w, struct err *e)
{
    int rc = fd_write(w->fd, w->out.p, w->out.len, w->name, e);
    w->out.len = 0;
    return rc;
}

int chunk_writer_put(struct chunk_writer *w, struct chunk *c, struct err *e)
{
    const struct source_facts s = chunk_writer_facts(w, c->source);
    c->run = w->run;
    c->rules = buf_str(&w->rules);
    c->reading = s.reading;
    c->name = s.name;
    if (chunk_put_record(&w->out, c, e) || chunk_writer_flush(w, e))
        return -1;
    return 0;
}

static int put_sources(const struct chunk_writer *w, struct buf *content, struct err *e)
{
    const struct promise_head h = {buf_str(&w->rules), w->sources.n};
    if (promise_put_head(content, &h, e))
        return -1;
    for (size_t i = 0; i < w->sources.n; i++) {
        const struct source_facts s = chunk_writer_facts(w, i);
        if (promise_put_source(content, &s, e))
            return -1;
    }
    return 0;
}

int chunk_writer_promise(struct chunk_writer *w, struct err *e)
{
    struct buf content = {0};
    int rc = put_sources(w, &content, e) || fragments_put(&w->out, RECORD_PROMISE, w->run, 0, &content, e) ||
                     record_write(w->fd, w->name, &w->out, e)
                 ? -1
                 : 0;
    w->out.len = 0;
    buf_free(&content);
    return rc;
}

void chunk_writer_doubt(struct chunk_writer *w, size_t source)
{
    memset(w->run, 0, ID_LEN);
    w->doubtful = source;
}

void chunk_writer_fail(const struct chunk_writer *w, const struct err *e)
{
    static const unsigned char none[ID_LEN];
    uint64_t source = memcmp(w->run, none, ID_LEN) == 0 ? w->doubtful : FAILURE_NOWHERE;
    failure_send(w->fd, w->run, source, FAILURE_NOWHERE, e);
}
