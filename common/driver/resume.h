/* resume.h - a directory in which work goes on after a loss: one command works there at a time, with the options and
 * files that it was begun with. Two files say which these were:
 *
 *     asked     the options and the names of the files
 *     inputs    size, time of last change and name of each file; of what is no regular file, the name alone
 *
 * They end with a newline.
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

/* Creates the directory unless it is there, with those above it, so that something can be written there. -1 with
 * EX_CANTCREAT. */
int resume_make_directory(const char *dir, struct err *e);

/* Locks what fd is open for, against all others, and waits if it must, with a line on standard error that names dir.
 * What ends just now, as do the processes of a command that was killed, is not worth a word. -1: EX_OSERR. */
int resume_lock(struct job *j, const char *dir, int fd, struct err *e);

/* The same, but waits no longer than this. 1: others have the lock still. */
int resume_try_lock(const char *dir, int fd, int milliseconds, struct err *e);

/* Creates the directory, opens dir/name, which is there or is created, and locks it as resume_lock. Returns its
 * descriptor: it holds the lock. -1: EX_CANTCREAT, EX_OSERR. */
int resume_lock_file(struct job *j, const char *dir, const char *name, struct err *e);

/* Whether nothing is there, or a regular file, and no link to one: what is a pipe would be waited for, and what a link
 * leads to, changed. -1 with EX_CANTCREAT. */
int resume_only_file(const char *path, struct err *e);

/* The same of all files in a directory, but `except`, which may be NULL. A directory that is not there has none. */
int resume_only_files(const char *dir, const char *except, struct err *e);

/* Removes a file, if it is there. -1 with EX_IOERR. */
int resume_remove(const char *path, struct err *e);

/* Removes a directory of plain files; it may not be there. -1 with EX_IOERR. */
int resume_remove_directory(const char *path, struct err *e);

/* Makes `made` durable and gives it the name `path`, unless somebody else has made a file of that name of the same:
 * then it stays what it is, and `made` is removed, if that has not been done. -1 with EX_IOERR. */
int resume_publish(const char *made, const char *path, struct err *e);

/* ---- What was asked ---- */

/* Appends words as shell_words_show does, with spaces between them, and after what is there. */
int resume_put_words(struct buf *to, const char *const *words, size_t n, struct err *e);

/* Appends what `asked` has of work that cuts text and counts or encodes it: the options for reading Parquet files,
 * those of bpe-chunk, those of the worker but for the first ones that bpe-chunk has, too (the model), and the files.
 */
int resume_put_asked(struct buf *to, const struct option_words *reader, const struct option_words *chunk,
                     const char *const *worker, size_t n_worker, char **files, int n_files, struct err *e);

/* Appends what `inputs` has for these files, without the last newline. local: names like far://file are refused
 * (EX_USAGE), as it cannot be seen whether such a file changes. -1 with EX_NOINPUT: one is not there, or a directory.
 */
int resume_put_inputs(struct buf *to, char **files, int n, bool local, struct err *e);

/* Whether a name may be that of a file that can be read again. */
bool resume_may_be_read_again(const char *name);

/* Whether all files are regular ones, which can be read again. why: what that is needed for, and what to do, as the
 * message ends: "; put it into a file". -1: EX_USAGE. */
int resume_only_regular(char **files, int n, const char *why, struct err *e);

/* Whether a file, whose name holds in `where`, is as `inputs` in a directory has it: not there, if that has no line for
 * it. dir: of these notes; user: what the user calls the work. -1 with EX_DATAERR: it has changed. */
int resume_compare_input(const char *user, const char *dir, const char *where, const char *name, struct err *e);

/* Whether some of these inputs is no regular file: it cannot be read again. */
bool resume_reads_once(struct str inputs);

/* Notes both in a directory; they are on disk then, `asked` last: if that is there, all of both is. -1 with EX_IOERR or
 * EX_CANTCREAT; there may be a file note.new then. */
int resume_note(const char *dir, struct str asked, struct str inputs, struct err *e);

/* Whether both are as a directory has them; name is the user's word for it, for messages. -1: EX_USAGE if the options
 * or names are others; EX_DATAERR if a file has changed since. */
int resume_compare(const char *name, const char *dir, struct str asked, struct str inputs, struct err *e);

#endif
