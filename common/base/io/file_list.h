/* file_list.h - a list of file names, from a file or standard input: one a line, or each with a NUL byte after it. */
#ifndef BPE_BASE_IO_FILE_LIST_H
#define BPE_BASE_IO_FILE_LIST_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>

struct file_list {    /* zeroed: empty */
    const char *name; /* of the list, for messages; borrowed */
    bool null;        /* names end with NUL, not with a newline */
    struct buf text;  /* owned: the names */
    char **at;        /* owned array of n names */
    int n;
};

/* Reads a list (path "-": standard input). What ends a name may be missing after the last one. -1: EX_NOINPUT if it
 * cannot be opened or has no name; EX_DATAERR if a name is empty, or is that of standard input where this is the list;
 * EX_IOERR. */
int file_list_read(struct file_list *l, const char *path, bool null, struct err *e);
void file_list_free(struct file_list *l);

/* Adds to an error about the name at[i] where it stands in the list. Always -1. No effect if the list is empty. */
int file_list_place(const struct file_list *l, int i, struct err *e);

#endif
