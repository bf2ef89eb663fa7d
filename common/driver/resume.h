/* resume.h - a directory in which work resumes after a failure. One command at a time works there, with the options and
 * files that the work was begun with. Two files record these:
 *
 *     asked     the options and the names of the files
 *     inputs    size, time of last change and name of each regular file; only the name of other files
 *
 * Both end with a newline.
 */
#ifndef BPE_DRIVER_RESUME_H
#define BPE_DRIVER_RESUME_H

#include "base/cli/options.h"
#include "base/sys/buf.h"
#include "base/sys/err.h"
#include "driver/job.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- The directory ---- */

/* Creates the directory and its parents if needed, and checks that it is writable. -1 with EX_CANTCREAT. */
int resume_make_directory(const char *dir, struct err *e);

/* Locks the open file fd exclusively. If it must wait longer than a second, prints a line that names dir: processes of
 * a killed command may just be ending, which needs no message. -1: EX_OSERR. */
int resume_lock(struct job *j, const char *dir, int fd, struct err *e);

/* The same, but waits only for so many milliseconds, and prints nothing. 1: others still hold the lock. */
int resume_try_lock(const char *dir, int fd, int milliseconds, struct err *e);

/* Creates the directory, opens or creates dir/name, and locks it as resume_lock does. Returns its descriptor, which
 * holds the lock. -1: EX_CANTCREAT, EX_OSERR. */
int resume_lock_file(struct job *j, const char *dir, const char *name, struct err *e);

/* Checks that path does not exist or is a regular file. A pipe would block, and through a symbolic link another file
 * would be changed. -1 with EX_CANTCREAT. */
int resume_only_file(const char *path, struct err *e);

/* The same for all files in a directory except `except`, which may be NULL. The directory need not exist. */
int resume_only_files(const char *dir, const char *except, struct err *e);

/* Removes a file if it exists. -1 with EX_IOERR. */
int resume_remove(const char *path, struct err *e);

/* Removes a directory of plain files if it exists. -1 with EX_IOERR. */
int resume_remove_directory(const char *path, struct err *e);

/* Makes `made` durable and renames it to `path`. If another process has already published the same result there, keeps
 * that file and removes `made`, which may be gone already. -1 with EX_IOERR. */
int resume_publish(const char *made, const char *path, struct err *e);

/* ---- What was asked ---- */

/* Appends words as shell_words_show does, with spaces between them and before the first if *to is not empty. */
int resume_put_words(struct buf *to, const char *const *words, size_t n, struct err *e);

/* Appends the contents of `asked` for work that counts or encodes text: the options for reading Parquet files, those of
 * bpe-chunk, those of the worker without the leading ones that bpe-chunk has too (the model), and the files. */
int resume_put_asked(struct buf *to, const struct option_words *reader, const struct option_words *chunk,
                     const char *const *worker, size_t n_worker, char **files, int n_files, struct err *e);

/* Appends the contents of `inputs` for these files, without the last newline. local: refuses names like far://file
 * (EX_USAGE), because changes of such a file cannot be detected. -1 with EX_NOINPUT: a file does not exist, or is a
 * directory. */
int resume_put_inputs(struct buf *to, char **files, int n, bool local, struct err *e);

/* Whether a file of this name can perhaps be read again. */
bool resume_may_be_read_again(const char *name);

/* Checks that all files are regular, so that they can be read again. why: the end of the message, with the reason and
 * what to do: "; put it into a file". -1: EX_USAGE. */
int resume_only_regular(char **files, int n, const char *why, struct err *e);

/* Checks that a file, whose name is relative to `where`, matches its line in `inputs`; without a line, it must not
 * exist. dir: the directory of `inputs`; user: the user's name for the work. -1 with EX_DATAERR: it has changed. */
int resume_compare_input(const char *user, const char *dir, const char *where, const char *name, struct err *e);

/* Whether any of these inputs is not a regular file, and so cannot be read again. */
bool resume_reads_once(struct str inputs);

/* Writes both files to a directory, durably; `asked` last: if it exists, both are complete. -1 with EX_IOERR or
 * EX_CANTCREAT; a file note.new may remain then. */
int resume_note(const char *dir, struct str asked, struct str inputs, struct err *e);

/* Checks that both match the files in a directory; name: what the user calls it, for messages. -1: EX_USAGE if options
 * or names differ; EX_DATAERR if a file has changed. */
int resume_compare(const char *name, const char *dir, struct str asked, struct str inputs, struct err *e);

#endif
