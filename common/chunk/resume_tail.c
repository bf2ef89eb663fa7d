/* resume_tail.c - see resume_tail.h. */
#include "chunk/resume_tail.h"

#include "base/io/fd.h"

#include <string.h>

static int changed(const struct source *s, struct err *e)
{
    return err_at(e, EX_DATAERR, s->name, ERR_NO_OFFSET,
                  "changed since it was cut into chunks; start the whole run again with bpe-chunk");
}

static int other_file(const struct source *s, size_t number, const char *was, const char *asked_by, struct err *e)
{
    return err_set(
        e, EX_USAGE,
        "FILE number %zu is %s, but in the run of %s it was %s; give all FILEs of that run, in the same order",
        number + 1, s->name, asked_by, was);
}

/* A source whose size was known, and all of which has come: it was by reference. */
static int match_covered(struct source *s, size_t number, const char *asked_by, struct err *e)
{
    if (!s->sized)
        return other_file(s, number, "a file", asked_by, e);
    if (s->compressed)
        s->access = ACCESS_COMPRESSED;
    s->compressed = false;
    return 0;
}

/* A source of which something is wanted, and something is known (*taken*: what is wanted, and how it is read). */
static int match_known(struct source *s, struct source *known, size_t number, bool by_value, const char *asked_by,
                       struct err *e)
{
    bool timed = known->mtime_s || known->mtime_ns, sent = s->access == ACCESS_VALUE && !s->compressed;
    if (strcmp(s->name, known->name) != 0)
        return other_file(s, number, known->name, asked_by, e);
    if (timed && (s->mtime_s != known->mtime_s || s->mtime_ns != known->mtime_ns))
        return changed(s, e);
    if (known->access == ACCESS_COMPRESSED) {
        if (by_value)
            return err_set(e, EX_USAGE,
                           "--inline: %s is wanted by %s in bytes of the compressed file, whose text cannot be told "
                           "apart; leave it out, or start the whole run again with it",
                           s->name, asked_by);
        if (!s->compressed)
            return changed(s, e);
        s->access = ACCESS_COMPRESSED;
        s->compressed = false;
    } else if (known->access == ACCESS_VALUE) {
        source_by_value(s);
    } else if (s->compressed || !s->sized || (sent && !by_value)) {
        return changed(s, e);
    }
    const struct interval *last = &known->wanted.at[known->wanted.n - 1];
    bool open = last->end == UINT64_MAX;
    if (s->sized && (open ? last->begin > s->size : known->access != ACCESS_VALUE && known->size != s->size))
        return changed(s, e);
    s->wanted = known->wanted;
    s->reading = known->reading;
    known->wanted = (struct intervals){0};
    known->reading = (struct buf){0};
    return 0;
}

static int match(struct source *s, size_t number, struct source_list *known, bool by_value, const char *asked_by,
                 struct err *e)
{
    struct source *k = number < known->n ? &known->at[number] : NULL;
    if (k && !k->name)
        return match_covered(s, number, asked_by, e);
    if (k && *k->name)
        return match_known(s, k, number, by_value, asked_by, e);
    return intervals_add(&s->wanted, 0, UINT64_MAX, e); /* nothing of it has come */
}

/* Whether the run sent the text of files that it could have named: then it did so with all. (Of one compressed file
 * alone the text is mostly sent anyway.) */
static bool was_inline(const struct source_list *known, const struct source_list *now)
{
    size_t n_compressed = 0;
    for (size_t i = 0; i < now->n; i++)
        n_compressed += now->at[i].compressed;
    for (size_t i = 0; i < known->n; i++) {
        const char *name = known->at[i].name;
        bool sent = name && *name && known->at[i].access == ACCESS_VALUE;
        if (sent && (now->at[i].access == ACCESS_FILE || (now->at[i].compressed && n_compressed > 1)))
            return true;
    }
    return false;
}

int resume_tail_match(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                      struct input_warnings *watch, struct err *e)
{
    struct source_list known = w->sources, *l = &w->sources;
    int rc = 0;
    *l = (struct source_list){0};
    if (n_files < known.n)
        rc = err_set(
            e, EX_USAGE,
            "%s wants the rest of a run of %zu FILEs or more, which did not come to its end; give all of them, in "
            "the same order",
            asked_by, known.n);
    for (size_t i = 0; i < n_files && rc == 0; i++)
        rc = source_list_add(l, files[i], false, watch, e);
    by_value = rc == 0 && (by_value || was_inline(&known, l));
    for (size_t i = 0; i < l->n && rc == 0; i++) {
        bool covered = i < known.n && !known.at[i].name;
        bool compressed = i < known.n && known.at[i].access == ACCESS_COMPRESSED;
        if (by_value && !covered && !compressed)
            source_by_value(&l->at[i]);
        rc = match(&l->at[i], i, &known, by_value, asked_by, e);
    }
    source_list_free(&known);
    return rc;
}
