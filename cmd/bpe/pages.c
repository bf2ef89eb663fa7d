/* pages.c - see pages.h. */
#include "bpe/pages.h"

#include "base/io/fd.h"
#include "driver/installed.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a file is a page of this manual; *n: the length of its name without the section. */
static bool is_page(const char *file, size_t *n)
{
    const char *dot = strchr(file, '.');
    *n = dot ? (size_t)(dot - file) : 0;
    return dot && strncmp(file, "bpe", 3) == 0 && dot[1] >= '1' && dot[1] <= '9' &&
           (!dot[2] || strcmp(dot + 2, ".gz") == 0);
}

/* Adds the files of the pages in the subdirectory `below` of the manual; "": in the manual's directory itself. */
static int add_pages(struct option_words *pages, const char *below, struct err *e)
{
    size_t n;
    char *path = *below ? fd_path(installed.pages, below, e) : strdup(installed.pages);
    DIR *dir = path ? opendir(path) : NULL;
    int rc = 0;
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (is_page(d->d_name, &n))
            rc = option_words_add(pages, e, "%s/%s", path, d->d_name);
    }
    if (dir)
        closedir(dir);
    free(path);
    return rc;
}

static int by_file(const void *a, const void *b)
{
    return strcmp(strrchr(*(char *const *)a, '/'), strrchr(*(char *const *)b, '/'));
}

int pages_list(struct option_words *pages, struct err *e)
{
    int rc = add_pages(pages, "", e);
    for (char section[] = "man1"; section[3] <= '9' && rc == 0; section[3]++)
        rc = add_pages(pages, section, e);
    if (pages->n)
        qsort(pages->at, pages->n, sizeof *pages->at, by_file);
    return rc;
}

const char *page_name(const char *file, char to[PAGE_NAME])
{
    size_t n;
    const char *name = strrchr(file, '/') + 1;
    is_page(name, &n);
    snprintf(to, PAGE_NAME, "%.*s", (int)(n < PAGE_NAME ? n : PAGE_NAME - 1), name);
    return to;
}

const char *page_find(const struct option_words *pages, const char *word)
{
    char name[PAGE_NAME];
    for (size_t i = 0; i < pages->n; i++) {
        page_name(pages->at[i], name);
        if (strcmp(name, word) == 0 || (strncmp(name, "bpe-", 4) == 0 && strcmp(name + 4, word) == 0))
            return pages->at[i];
    }
    return NULL;
}

int page_names_add(struct option_words *names, struct err *e)
{
    char name[PAGE_NAME];
    struct option_words pages = {0};
    int rc = pages_list(&pages, e);
    for (size_t i = 0; i < pages.n && rc == 0; i++) {
        page_name(pages.at[i], name);
        rc = option_words_add(names, e, "%s", name) ||
                     (strncmp(name, "bpe-", 4) == 0 && option_words_add(names, e, "%s", name + 4))
                 ? -1
                 : 0;
    }
    option_words_free(&pages);
    return rc;
}
