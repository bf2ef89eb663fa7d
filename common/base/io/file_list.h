/* file_list.h - a list of file names, from a file or standard input: one per line, or each terminated by a NUL byte. */
#ifndef BPE_BASE_IO_FILE_LIST_H
#define BPE_BASE_IO_FILE_LIST_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <stdbool.h>

struct file_list {    /* zeroed: empty */
    const char *name; /* of the list, for messages; borrowed */
    bool null;        /* names end with NUL, not newline */
    struct buf text;  /* owned: the names */
    char **at;        /* owned array of n names */
    int n;
};

/* Reads a list (path "-": standard input). The last name need not be terminated. -1: EX_NOINPUT if the list cannot be
 * opened or has no names; EX_DATAERR if a name is empty, or if the list is read from standard input and names it too;
 * EX_IOERR. */
int file_list_read(struct file_list *l, const char *path, bool null, struct err *e);
void file_list_free(struct file_list *l);

/* Appends the position of the name at[i] in the list to an error about it. Always -1. Does nothing if the list is
 * empty.
 */
int file_list_place(const struct file_list *l, int i, struct err *e);

#endif
