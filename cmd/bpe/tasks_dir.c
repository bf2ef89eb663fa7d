/* tasks_dir.c - opens the directory of tasks, the first FILE: see tasks.h. */
#include "bpe/tasks.h"

#include "base/io/fd.h"

#include <stdio.h>

int tasks_open(struct tasks *t, struct job *j, char **files, int n_files, int max, struct err *e)
{
    struct work *w = &t->work;
    if (n_files == 0 || !*files[0])
        return err_set(e, EX_USAGE, "missing DIR; see --help");
    if (n_files > max)
        return err_set(e, EX_USAGE, "%s: give only one directory", files[1]);
    w->job = j;
    w->dir = files[0];
    w->options = &t->options;
    if (work_open(w, e) || work_read(w, e) || work_find_parts(w, e))
        return -1;
    return 0;
}

void tasks_close(struct tasks *t)
{
    option_words_free(&t->work.chunk);
    option_words_free(&t->work.worker);
    option_words_free(&t->options.reader);
    work_close(&t->work);
}

char *tasks_failed_name(const struct work *w, const struct work_part *p, struct err *e)
{
    char name[64];
    snprintf(name, sizeof name, "%.32s.failed", p->name);
    return fd_path(w->results, name, e);
}
