/* frame_cutter.c - see frame_cutter.h. */
#include "chunk/frame_cutter.h"

#include "chunk/chunk_plan.h"
#include "io/fd.h"
#include "io/frames.h"
#include "records/payload.h"

#include <unistd.h>

/* Finds the borders of a source's pieces, which should have `piece` bytes of text: none if the text may not be cut
 * there (reader/frame_text.c). */
static int find_borders(struct frames *f, const struct chunk_writer *w, const struct source *s,
                        const struct cutter *cutter, uint64_t piece, struct err *e)
{
    uint64_t apart = piece / SOURCE_RATIO;
    struct reading reading;
    *f = (struct frames){0};
    if (reading_get(&reading, chunk_writer_reading(w, s), e))
        return -1;
    if (s->size / 2 < apart || reading.form == FORM_WET || !cut_is_local(cutter) || cutter->n_ends == 0)
        return 0;
    int fd = fd_open_input(s->path, e);
    if (fd < 0)
        return -1;
    int rc = frames_find(f, fd, s->name, s->size, apart, e);
    close(fd);
    return rc;
}

int frame_cutter_choose(struct chunk_writer *w, const struct cutter *cutter, uint64_t block, struct err *e)
{
    struct source_list *l = &w->sources;
    struct source *one = NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->at[i].compressed) {
            one = &l->at[i];
            one->access = ACCESS_COMPRESSED;
            n++;
        }
    }
    if (n != 1)
        return 0;
    struct frames f;
    int rc = find_borders(&f, w, one, cutter, chunk_plan_make(source_list_text(l), block).piece, e);
    if (f.n == 0) {
        one->access = ACCESS_VALUE;
        one->size = 0;
    }
    frames_free(&f);
    return rc;
}

int frame_cutter_cut(struct frame_cutter *c, size_t source, uint64_t begin, uint64_t end, struct err *e)
{
    const struct source *s = &c->ranges->writer->sources.at[source];
    struct frames f;
    int rc = find_borders(&f, c->ranges->writer, s, c->cutter, c->piece, e);
    for (size_t i = 0; i < f.n && rc == 0; i++) {
        if (f.border[i] > begin && f.border[i] < end) {
            rc = range_writer_put(c->ranges, source, begin, f.border[i] - begin, e);
            begin = f.border[i];
        }
    }
    frames_free(&f);
    return rc ? -1 : range_writer_put(c->ranges, source, begin, end - begin, e);
}
