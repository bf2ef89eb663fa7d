/* frame_cutter.c - see frame_cutter.h. */
#include "chunk/frame_cutter.h"

#include "base/io/fd.h"
#include "chunk/chunk_plan.h"
#include "wire/payload.h"

#include <unistd.h>

/* Finds the borders of a source's pieces: none if the text may not be cut there (chunk/frame_text.c). */
static int find_borders(struct frame_cutter *c, const struct source *s, struct err *e)
{
    uint64_t apart = c->piece / ACCESS_RATIO;
    if (c->source == s)
        return 0;
    frames_free(&c->borders);
    c->source = s;
    if (s->size / 2 < apart || !cut_is_local(c->cutter) || c->cutter->n_ends == 0)
        return 0;
    int fd = fd_open_regular(s->path, e);
    if (fd < 0)
        return -1;
    int rc = frames_find(&c->borders, fd, s->name, s->size, apart, e);
    close(fd);
    return rc;
}

int frame_cutter_choose(struct frame_cutter *c, uint64_t block, struct err *e)
{
    struct source_list *l = &c->writer->sources;
    struct source *one = NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->at[i].compressed) {
            one = &l->at[i];
            one->access = ACCESS_COMPRESSED;
            n++;
        } else {
            n += l->at[i].access == ACCESS_COMPRESSED;
        }
    }
    if (n != 1 || !one)
        return 0;
    c->piece = chunk_plan_make(source_list_text(l), block, c->writer->dealt, 0).piece;
    int rc = find_borders(c, one, e);
    if (c->borders.n == 0)
        source_by_value(one);
    return rc;
}

int frame_cutter_cut(struct frame_cutter *c, struct range_writer *ranges, size_t source, uint64_t begin, uint64_t end,
                     struct err *e)
{
    int rc = find_borders(c, &c->writer->sources.at[source], e);
    for (size_t i = 0; i < c->borders.n && rc == 0; i++) {
        uint64_t border = c->borders.border[i];
        if (border > begin && border < end) {
            rc = range_writer_put(ranges, source, begin, border - begin, e);
            begin = border;
        }
    }
    return rc ? -1 : range_writer_put(ranges, source, begin, end - begin, e);
}

void frame_cutter_free(struct frame_cutter *c)
{
    frames_free(&c->borders);
}
