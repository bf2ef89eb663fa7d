/* shard_work.c - bpe shard: makes shards in a directory, round by round.
 *
 * Whichever process of the pipeline (shard_line.c) dies, bpe-shard has kept in DIR/.work what it received, and reports
 * what is missing; bpe-chunk --only reads only that again. If a process of the pipeline died, this happens immediately,
 * as long as each round makes progress (one may fail to); if bpe shard itself died, it happens when the same command is
 * run again.
 * DIR/.work also has
 *
 *     asked, inputs      the request of this command (driver/resume.h)
 *     missing, wanted    the ranges that bpe-shard did not get, and those to be read again, as records
 *
 * all of which bpe-shard removes when DIR is complete. The manifest of a complete DIR records what it was made of; if
 * this command would make the same, nothing is done (shard_complete.c).
 */
#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/hash.h"
#include "bpe/shard.h"
#include "driver/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct shard_asked *asked;
static struct buf inputs; /* the contents of the file of this name */

/* ---- The directory ---- */

static struct {
    char *work, *asked, *missing, *wanted, *journal, *lock, *manifest; /* owned */
    int fd;                                                            /* of DIR, locked */
    bool locked;
} place = {.fd = -1};

static int find_places(struct err *e)
{
    place.work = fd_path(asked->dir, ".work", e);
    place.manifest = fd_path(asked->dir, MANIFEST_NAME, e);
    return place.work && place.manifest && (place.asked = fd_path(place.work, "asked", e)) &&
                   (place.missing = fd_path(place.work, "missing", e)) &&
                   (place.wanted = fd_path(place.work, "wanted", e)) &&
                   (place.journal = fd_path(place.work, "journal", e)) && (place.lock = fd_path(place.work, "lock", e))
               ? 0
               : -1;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static int remove_work(const char *const *names, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        char *path = fd_path(place.work, names[i], e);
        rc = path ? resume_remove(path, e) : -1;
        free(path);
    }
    return rc;
}

/* Without a manifest no ids have been kept, and there is nothing to resume. */
static int begin_anew(struct err *e)
{
    static const char *const names[] = {"asked", "inputs", "note.new", "missing", "journal"};
    return remove_work(names, sizeof names / sizeof *names, e);
}

/* alive and said are from an older version, the script pipelines/shard. */
static void clean(void)
{
    static const char *const ours[] = {"alive", "said", "wanted"}, *const lock[] = {"lock"};
    struct err ignored;
    if (!place.locked)
        return;
    remove_work(ours, sizeof ours / sizeof *ours, &ignored);
    if (is_there(place.manifest) || begin_anew(&ignored) || remove_work(lock, 1, &ignored))
        return;
    rmdir(place.work);
    rmdir(asked->dir);
}

/* Checks that DIR/.work contains only files of ours; `alive` may be a pipe of an older version. */
static int check_work(struct err *e)
{
    struct stat st;
    if (lstat(place.work, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(e, EX_CANTCREAT, "%s: is a symbolic link; remove it, or give another directory", place.work);
    if (stat(place.manifest, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, EX_DATAERR, "%s: is not a regular file; give another directory", place.manifest);
    return resume_only_files(place.work, "alive", e);
}

/* Whether the open directory is still the one of that name: a previous holder of the lock may have removed it. */
static bool is_same(int fd, const char *path)
{
    struct stat one, other;
    return fstat(fd, &one) == 0 && stat(path, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

/* Allows one command at a time. Also waits for the bpe-shard of one that was killed, which ends soon. */
static int lock(struct job *j, struct err *e)
{
    do {
        job_close(&place.fd);
        if (resume_make_directory(asked->dir, e))
            return -1;
        place.fd = open(asked->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (place.fd < 0)
            return err_sys(e, EX_CANTCREAT, errno, "%s: cannot open", asked->dir);
        if (resume_lock(j, asked->dir, place.fd, e))
            return -1;
    } while (!is_same(place.fd, asked->dir));
    if (check_work(e))
        return -1;
    place.locked = true;
    int fd = open(place.lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 ? 0 : resume_lock(j, asked->dir, fd, e);
    job_close(&fd);
    return rc;
}

/* ---- Rounds ---- */

/* Checks that the files have not changed since the directory was begun. */
static int still(void *ctx, struct err *e)
{
    struct buf now = {0};
    (void)ctx;
    if (!is_there(place.asked)) /* it was begun by bpe-shard, without this command */
        return 0;
    int rc = resume_put_inputs(&now, asked->files, asked->n_files, asked->parquet, e) ||
                     resume_compare(asked->dir, place.work, asked->words, buf_str(&now), e)
                 ? -1
                 : 0;
    buf_free(&now);
    return rc;
}

/* Makes what DIR/.work must have; bpe-shard removes it if nothing has arrived. */
static int prepare(struct err *e)
{
    if (durable_make_directory(place.work, e))
        return -1;
    return is_there(place.asked) || is_there(place.journal)
               ? 0
               : resume_note(place.work, asked->words, buf_str(&inputs), e);
}

/* Makes the list of missing ranges the list of wanted ones. Sets *what to a hash of it; 0: there is none, and
 * everything is read. */
static int want(uint64_t *what, struct err *e)
{
    struct stat st;
    struct buf list = {0};
    *what = 0;
    if (stat(place.missing, &st) < 0 || st.st_size == 0)
        return resume_remove(place.missing, e);
    if (rename(place.missing, place.wanted))
        return err_sys(e, EX_IOERR, errno, "%s: cannot be renamed", place.missing);
    int rc = fd_read_file(place.wanted, &list, e);
    if (rc == 0)
        *what = hash_bytes(list.p, list.len, 0) | 1;
    buf_free(&list);
    return rc;
}

static int look(struct job *j, struct buf *said, struct err *e)
{
    said->len = 0;
    return shard_line_look(asked, is_there(place.work) ? place.missing : NULL, j, said, e);
}

static int say_going_on(struct job *j, const char *how)
{
    char line[1000];
    snprintf(line, sizeof line, "%.900s: resuming %s", asked->dir, how);
    job_print(j->command, line);
    return 0;
}

/* Runs rounds as long as each makes progress; one may fail to. */
static int go_on(struct job *j, int status, struct buf *said, struct err *e)
{
    enum { ROUNDS_MAX = 20 };
    uint64_t was = 0, is = 0;
    const bool once = resume_reads_once(buf_str(&inputs)), alone = once && asked->n_files == 1;
    for (int round = 0, idle = 0; status == EX_TEMPFAIL && round < ROUNDS_MAX; round++, was = is) {
        if (alone && round) /* its text has been consumed, and must be sent again */
            break;
        if (prepare(e) || want(&is, e))
            return -1;
        idle = round && is == was ? idle + 1 : 0; /* 1: a process was killed before anything was kept */
        if (idle && (idle > 1 || once))           /* input that is not a regular file was consumed */
            break;
        if (round == 0 && !asked->status && watch_reads_input(asked->files, asked->n_files) &&
            command_input_check(j, e))
            return -1;
        if (round)
            say_going_on(j, "with what is missing");
        said->len = 0;
        status = shard_line_run(
            &(struct shard_line){
                .asked = asked, .only = is ? place.wanted : NULL, .missing = place.missing, .still = still},
            j, said, e);
        /* bpe-shard may have been killed when everything was done. */
        if (status == EX_TEMPFAIL && (is_there(place.journal) || is_there(place.manifest)) && !is_there(place.missing))
            status = look(j, said, e);
    }
    return status;
}

/* Looks at what was done before. Returns EX_TEMPFAIL if there is something to do. *complete: DIR is complete, and the
 * status is final. */
static int go_back(struct job *j, bool *complete, struct buf *said, struct err *e)
{
    struct manifest m = {0};
    struct err ignored; /* bpe-shard reports it */
    if (!is_there(place.manifest))
        return begin_anew(e) ? -1 : EX_TEMPFAIL;
    if (still(NULL, e))
        return -1;
    *complete = manifest_read(&m, asked->dir, NULL, &ignored) > 0 && m.complete && !is_there(place.asked);
    int status = *complete ? shard_complete_compare(asked, &m, j, said, e) : look(j, said, e);
    manifest_free(&m);
    if (status == EX_TEMPFAIL && !*complete)
        say_going_on(j, "where it stopped");
    return status;
}

static int work(struct job *j, struct buf *said, struct err *e)
{
    bool complete = false;
    int status = go_back(j, &complete, said, e);
    if (complete || status < 0)
        return status;
    status = go_on(j, status, said, e);
    if (status == EX_TEMPFAIL && asked->via.n && said->len)
        return status; /* the command of --via ended like that, and may do so each time */
    if (status == EX_TEMPFAIL || (status > 128 && status != 128 + SIGPIPE))
        return err_set(e, EX_TEMPFAIL, "%s: not complete yet; run the same command again", asked->dir);
    return status;
}

int shard_work(const struct shard_asked *a, struct job *j, struct err *e)
{
    struct buf said = {0};
    struct err ignored;
    asked = a;
    int status = resume_put_inputs(&inputs, a->files, a->n_files, a->parquet, e) || find_places(e) || lock(j, e)
                     ? -1
                     : work(j, &said, e);
    if (status >= 0 && buf_put_byte(&said, '\0', &ignored) == 0)
        job_print(NULL, (const char *)said.p);
    buf_free(&said);
    job_end(j);
    clean();
    return status;
}
