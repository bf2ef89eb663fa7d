/* pages.h - the pages of this manual, where they lie side by side, or installed. */
#ifndef BPE_CMD_PAGES_H
#define BPE_CMD_PAGES_H

#include "base/cli/options.h"
#include "base/sys/err.h"

/* Adds the files of all pages, in order of their names. */
int pages_list(struct option_words *pages, struct err *e);

/* The name of a page, without the section: `bpe-train`. Returns `to`. */
enum { PAGE_NAME = 100 };
const char *page_name(const char *file, char to[PAGE_NAME]);

/* The page of that name, or of what comes after `bpe-`; NULL: there is none. Borrowed from `pages`. */
const char *page_find(const struct option_words *pages, const char *word);

/* Adds the names of all pages, with and without `bpe-`. */
int page_names_add(struct option_words *names, struct err *e);

#endif
