/* chunks.c - see chunks.h. */
#include "chunk/chunks.h"

#include "chunk/chunk_plan.h"
#include "chunk/file_cutter.h"
#include "chunk/range_writer.h"
#include "chunk/text_splitter.h"
#include "io/fd.h"
#include "io/input.h"

struct chunks {
    struct chunk_writer *writer;
    struct chunk_plan plan;
    struct range_writer ranges;
    struct file_cutter files;
    struct text_splitter texts;
};

/* Writes all of a source, or what is wanted of it. */
static int put_source(struct chunks *c, size_t source, struct err *e)
{
    const struct source *s = &c->writer->sources.at[source];
    const struct interval all = {0, s->size}, *range = c->texts.only ? s->wanted.at : &all;
    size_t n = c->texts.only ? s->wanted.n : 1;
    if (n == 0)
        return 0;
    struct input *in = input_open(s->path, e);
    if (!in)
        return -1;
    int rc = 0;
    if (s->access == ACCESS_VALUE) {
        fd_widen_pipe(c->writer->fd);
        rc = text_splitter_split(&c->texts, source, in, (size_t)c->plan.value, e);
    } else if (!cut_is_local(c->files.cutter)) {
        rc = text_splitter_split(&c->texts, source, in, (size_t)c->plan.piece, e);
    } else {
        for (size_t i = 0; i < n && rc == 0; i++)
            rc = file_cutter_cut(&c->files, source, input_fd(in), range[i].begin, range[i].end, e);
    }
    input_close(in);
    return rc;
}

static int put_all(struct chunks *c, struct err *e)
{
    bool only = c->texts.only;
    /* If all sizes are known, the promise is written first as well: then a run whose last worker dies can be
     * completed. */
    if (!only && !source_list_by_value(&c->writer->sources) && chunk_writer_promise(c->writer, e))
        return -1;
    for (size_t i = 0; i < c->writer->sources.n; i++) {
        /* Records are in the order of the text, which bpe encode keeps. */
        bool by_value = c->writer->sources.at[i].access == ACCESS_VALUE;
        if ((by_value && range_writer_end(&c->ranges, e)) || put_source(c, i, e))
            return -1;
    }
    return range_writer_end(&c->ranges, e) || (!only && chunk_writer_promise(c->writer, e)) ? -1 : 0;
}

int chunks_write(struct chunk_writer *w, const struct cutter *cutter, uint64_t block, bool only,
                 struct token_watch *watch, struct err *e)
{
    uint64_t bytes = source_list_bytes(&w->sources);
    struct chunks c = {.writer = w, .plan = chunk_plan_make(bytes, block)};
    range_writer_init(&c.ranges, w, bytes, c.plan.record);
    c.files = (struct file_cutter){.cutter = cutter, .ranges = &c.ranges, .watch = watch, .piece = c.plan.piece};
    c.texts = (struct text_splitter){.cutter = cutter, .ranges = &c.ranges, .watch = watch, .only = only};
    int rc = put_all(&c, e);
    range_writer_free(&c.ranges);
    buf_free(&c.files.window);
    buf_free(&c.texts.window);
    return rc;
}
