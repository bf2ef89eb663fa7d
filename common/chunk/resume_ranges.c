/* resume_ranges.c - see resume_ranges.h. */
/* If a macro of uthash runs out of memory, it does not add the item; the caller checks for that. */
#define HASH_NONFATAL_OOM 1
#include "chunk/resume_ranges.h"

#include "base/io/fd.h"
#include "wire/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

/* ---- The wanted ranges ---- */

static int take_file(struct chunk_writer *w, const struct source_facts *f, struct cursor *c, struct err *e)
{
    uint64_t offset, len;
    if (source_list_reach(&w->sources, f->number, e))
        return -1;
    struct source *s = &w->sources.at[f->number];
    if (!s->name)
        s->name = strndup((const char *)f->name.p, f->name.len);
    if (!s->name)
        return err_mem(e, "a file name", f->name.len);
    s->size = f->size;
    s->sized = true;
    w->rest |= f->size == UINT64_MAX;
    s->access = f->access;
    s->mtime_s = f->mtime_s;
    s->mtime_ns = f->mtime_ns;
    s->reading.len = 0;
    if (buf_put(&s->reading, f->reading.p, f->reading.len, e))
        return -1;
    for (uint64_t i = 0; i < f->n_pieces; i++) {
        if (range_get_piece(&offset, &len, f, c, e) || intervals_add(&s->wanted, offset, offset + len, e))
            return -1;
    }
    return 0;
}

struct wanted {
    struct chunk_writer *writer;
    size_t first; /* the first source in the list whose reading is known; SIZE_MAX: none yet */
};

/* A record_take. */
static int take_record(void *ctx, const struct record *rec, const char *name, struct err *e)
{
    struct wanted *wanted = ctx;
    struct chunk_writer *w = wanted->writer;
    struct range_head head;
    struct source_facts f;
    struct cursor c;
    bool first = rec->offset == 0;
    (void)name;
    if (rec->type != RECORD_RANGE)
        return err_set(e, EX_DATAERR,
                       "not a range record; this file must come from bpe-sum --missing or bpe-shard --missing");
    if (range_get_head(&head, &c, rec, e))
        return -1;
    if (!first && memcmp(w->run, head.run, ID_LEN) != 0)
        return err_set(e, EX_DATAERR, "ranges of several runs; use --only with one run at a time");
    if (first) {
        memcpy(w->run, head.run, ID_LEN);
        if (buf_put(&w->rules, head.rules.p, head.rules.len, e))
            return -1;
    }
    for (uint64_t i = 0; i < head.n_files; i++) {
        if (range_get_file(&f, &c, e) || take_file(w, &f, &c, e))
            return -1;
        if (wanted->first == SIZE_MAX && f.reading.len)
            wanted->first = (size_t)f.number;
    }
    return 0;
}

int resume_ranges_read(struct chunk_writer *w, const char *path, struct str *reading, struct err *e)
{
    struct wanted wanted = {w, SIZE_MAX};
    if (record_each_of(path, take_record, &wanted, e))
        return -1;
    if (wanted.first != SIZE_MAX) /* also for unknown sources: a run has one reading */
        *reading = buf_str(&w->sources.at[wanted.first].reading);
    return w->rest ? buf_put(&w->reading, reading->p, reading->len, e) : 0;
}

/* ---- The files to read ---- */

/* A file of the command line, by its name in messages; the first of several with the same name counts. */
struct named_file {
    const char *name, *path; /* borrowed */
    UT_hash_handle hh;
};

static int no_inline(const struct source *s, const char *asked_by, struct err *e)
{
    return err_set(e, EX_USAGE,
                   "--inline: %s lists ranges of the compressed file %s, whose text cannot be sent separately; "
                   "omit --inline, or start the whole run again with it",
                   asked_by, s->name);
}

static int find_file(struct source *s, struct named_file *by_name, bool by_value, const char *asked_by, struct err *e)
{
    struct named_file *found;
    struct stat st;
    HASH_FIND_STR(by_name, s->name, found);
    s->path = found ? found->path : s->access == ACCESS_VALUE ? NULL : s->name;
    if (!s->path)
        return err_set(e, EX_USAGE,
                       "%s: %s needs this input; give it on the command line by this name (- is standard input)",
                       s->name, asked_by);
    if (s->access != ACCESS_VALUE && strcmp(s->path, "-") == 0) /* a file whose name is the one that messages use for
                                                                   "-" */
        s->path = s->name;
    bool standard = strcmp(s->path, "-") == 0, timed = s->mtime_s || s->mtime_ns;
    if (!standard && stat(s->path, &st) < 0)
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", s->path);
    if (s->access == ACCESS_VALUE && (standard || !timed || !S_ISREG(st.st_mode)))
        return 0; /* text_splitter compares its length with the earlier one */
    if ((s->access != ACCESS_VALUE && (uint64_t)st.st_size != s->size) || (uint64_t)st.st_mtim.tv_sec != s->mtime_s ||
        (uint64_t)st.st_mtim.tv_nsec != s->mtime_ns)
        return err_at(e, EX_DATAERR, s->path, ERR_NO_OFFSET,
                      "changed since it was cut into chunks; start the whole run again with bpe-chunk "
                      "(vocab.mk, which keeps a sum of each file, counts again only what changed; see bpe(7))");
    if (by_value && s->access == ACCESS_COMPRESSED)
        return no_inline(s, asked_by, e);
    if (by_value)
        s->access = ACCESS_VALUE;
    return 0;
}

static int match_ranges(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                        struct err *e)
{
    struct named_file *file = calloc(n_files + 1, sizeof *file), *by_name = NULL, *old;
    int rc = file ? 0 : err_mem(e, "the list of inputs", n_files * sizeof *file);
    for (size_t i = 0; i < n_files && rc == 0; i++) {
        file[i].name = fd_name(files[i]);
        file[i].path = files[i];
        HASH_FIND_STR(by_name, file[i].name, old);
        if (old)
            continue;
        HASH_ADD_KEYPTR(hh, by_name, file[i].name, strlen(file[i].name), &file[i]);
        if (!file[i].hh.tbl)
            rc = err_mem(e, "the list of inputs", sizeof *file);
    }
    for (size_t i = 0; i < w->sources.n && rc == 0; i++) {
        if (w->sources.at[i].wanted.n)
            rc = find_file(&w->sources.at[i], by_name, by_value, asked_by, e);
    }
    HASH_CLEAR(hh, by_name);
    free(file);
    return rc;
}

/* ---- The files of a run that lacks its end: all of them, in the same order ---- */

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

/* A source of known size that is completely covered: it was by reference. */
static int match_covered(struct source *s, size_t number, const char *asked_by, struct err *e)
{
    if (!s->sized)
        return other_file(s, number, "a file", asked_by, e);
    if (s->compressed)
        s->access = ACCESS_COMPRESSED;
    s->compressed = false;
    return 0;
}

/* A known source with wanted ranges (*taken*: its wanted ranges and its reading). */
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
            return no_inline(s, asked_by, e);
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

static int match_source(struct source *s, size_t number, struct source_list *known, bool by_value, const char *asked_by,
                        struct err *e)
{
    struct source *k = number < known->n ? &known->at[number] : NULL;
    if (k && !k->name)
        return match_covered(s, number, asked_by, e);
    if (k && *k->name)
        return match_known(s, k, number, by_value, asked_by, e);
    return intervals_add(&s->wanted, 0, UINT64_MAX, e); /* nothing of it has arrived */
}

/* Whether the run sent by value some files that it could have sent by reference; if so, it sent all files by value. (A
 * single compressed file is usually sent by value anyway.) */
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

static int match_tail(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                      struct input_warnings *watch, struct err *e)
{
    struct source_list known = w->sources, *l = &w->sources;
    int rc = 0;
    *l = (struct source_list){0};
    if (n_files < known.n)
        rc = err_set(e, EX_USAGE,
                     "%s lists the rest of a run of %zu FILEs or more, which did not finish; give all of them, in "
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
        rc = match_source(&l->at[i], i, &known, by_value, asked_by, e);
    }
    source_list_free(&known);
    return rc;
}

int resume_ranges_match(struct chunk_writer *w, char **files, size_t n_files, bool by_value, const char *asked_by,
                        struct input_warnings *watch, struct err *e)
{
    return w->rest ? match_tail(w, files, n_files, by_value, asked_by, watch, e)
                   : match_ranges(w, files, n_files, by_value, asked_by, e);
}
