/* model_file.h - reads a model's file and builds file names, for the readers of all formats; the set of files to
 * write. */
#ifndef BPE_MODEL_MODEL_FILE_H
#define BPE_MODEL_MODEL_FILE_H

#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "json/json_read.h"

#include <stdbool.h>
#include <stddef.h>

#define MODEL_FILE_MAX ((size_t)1 << 32)

/* Fills head with the first bytes of fd; a small file is read completely. */
int model_file_head(int fd, const char *name, struct buf *head, struct err *e);
/* Sets up a JSON reader at the start of the file; call json_read_free afterwards. */
int model_file_json(struct json_reader *r, int fd, const char *name, struct err *e);
/* Appends the rest of the file, at most MODEL_FILE_MAX, and JSON_READ_PAD zeros that are not counted. */
int model_file_all(int fd, const char *name, struct buf *all, struct err *e);
size_t model_file_size(int fd); /* 0 if it is not a regular file, or empty */

/* The path of `name` in the directory at path, or in that of the file at path. The caller frees it. NULL: out of
 * memory. */
char *model_file_join(const char *path, bool is_directory, const char *name, struct err *e);

enum { MODEL_FILES = 3 }; /* maximum number of files of a model */

/* The files to write, at least one. The last one is put in place last, so if it exists, the others do, too. */
struct model_files {
    bool alone; /* only one file can be written, the one without a suffix */
    size_t n;
    struct model_file {
        const char *suffix; /* static: appended to the path; "/name" is a file in a directory at this path */
        struct buf bytes;
    } file[MODEL_FILES];
};

/* Adds an empty file; suffix is static. */
struct buf *model_files_add(struct model_files *f, const char *suffix);
void model_files_free(struct model_files *f);

#endif
