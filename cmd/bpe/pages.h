/* pages.h - the pages of this manual, where they lie side by side, or installed. */
#ifndef BPE_CMD_PAGES_H
#define BPE_CMD_PAGES_H

#include "base/sys/err.h"

#include <stddef.h>

struct names { /* zeroed: none */
    char **at; /* owned, as each; NULL after the last */
    size_t n;
};

int names_add(struct names *names, const char *name, struct err *e); /* copied */
void names_free(struct names *names);

/* Adds the files of all pages, in order of their names. */
int pages_list(struct names *pages, struct err *e);

/* The name of a page, without the section: `bpe-train`. Returns `to`. */
enum { PAGE_NAME = 100 };
const char *page_name(const char *file, char to[PAGE_NAME]);

/* The page of that name, or of what comes after `bpe-`; NULL: there is none. Borrowed from `pages`. */
const char *page_find(const struct names *pages, const char *word);

/* Adds the names of all pages, with and without `bpe-`. */
int page_names_add(struct names *names, struct err *e);

#endif
