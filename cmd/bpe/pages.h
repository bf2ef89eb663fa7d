/* pages.h - finds the manual pages, in one directory or installed by section. */
#ifndef BPE_CMD_PAGES_H
#define BPE_CMD_PAGES_H

#include "base/cli/options.h"
#include "base/sys/err.h"

/* Adds the files of all pages, sorted by name. */
int pages_list(struct option_words *pages, struct err *e);

/* The name of a page, without the section: `bpe-train`. Returns `to`. */
enum { PAGE_NAME = 100 };
const char *page_name(const char *file, char to[PAGE_NAME]);

/* The page of that name, with or without `bpe-`; NULL: not found. Borrowed from `pages`. */
const char *page_find(const struct option_words *pages, const char *word);

/* Adds the names of all pages, with and without `bpe-`. */
int page_names_add(struct option_words *names, struct err *e);

#endif
