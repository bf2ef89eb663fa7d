/* report_sources.c - the names of the sources: FILEs are NAME=PATH, or PATH, and those with the same name are one
 * source. */
#include "bpe/report.h"

#include "base/io/fd.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A source, found by its name. */
struct named {
    size_t source;
    int last; /* its last FILE so far */
    UT_hash_handle hh;
};

/* There is a name if there is a '=' before any '/'. Returns its length; 0: there is none. */
static size_t name_len(const char *file)
{
    const size_t n = strcspn(file, "=/");
    return file[n] == '=' ? n : 0;
}

char *report_path(char *file)
{
    const size_t n = name_len(file);
    return n ? file + n + 1 : file;
}

static struct str source_name(const char *file)
{
    const size_t n = name_len(file);
    const char *name = n ? file : fd_is_stdin(file) ? "standard input" : file;
    return (struct str){(const unsigned char *)name, n ? n : strlen(name)};
}

/* Adds the ith FILE to its source, found in the hash table. x: its place there if the source is new. */
static void add_file(struct report *r, int i, struct named **table, struct named *x)
{
    const struct str name = source_name(r->files[i]);
    struct named *found;
    HASH_FIND(hh, *table, name.p, name.len, found);
    r->next[i] = r->n_files;
    if (found) {
        r->next[found->last] = i;
        found->last = i;
        return;
    }
    *x = (struct named){.source = r->n_sources, .last = i};
    r->source[r->n_sources++] = (struct report_source){.name = name, .first = i};
    HASH_ADD_KEYPTR(hh, *table, name.p, name.len, x);
}

int report_find_sources(struct report *r, struct err *e)
{
    const size_t n = (size_t)r->n_files;
    struct named *x = calloc(n + 1, sizeof *x), *table = NULL;
    int n_stdin = 0;
    r->path = calloc(n + 1, sizeof *r->path);
    r->next = calloc(n + 1, sizeof *r->next);
    r->source = calloc(n + 1, sizeof *r->source);
    if (!x || !r->path || !r->next || !r->source) {
        free(x);
        return err_mem(e, "the sources", n * sizeof *r->source);
    }
    for (int i = 0; i < r->n_files; i++) {
        r->path[i] = report_path(r->files[i]);
        n_stdin += fd_is_stdin(r->path[i]);
        add_file(r, i, &table, &x[i]);
    }
    HASH_CLEAR(hh, table);
    free(x);
    return n_stdin > 1 ? err_set(e, EX_USAGE, "standard input can be only one FILE") : 0;
}

void report_sources_free(struct report *r)
{
    for (size_t i = 0; i < r->n_sources; i++)
        free(r->source[i].cell);
    free(r->source);
    free(r->path);
    free(r->next);
}
