/* upload.c - bpe upload: uploads the shards of bpe-shard to S3, GCS or any remote of rclone, while more are made.
 *
 * DIR/manifest.json lists the finished shards; it is read again whenever it changes, until it is complete. Files that
 * it lists and the remote does not have are copied, several by one rclone, because starting it is slow; the manifest
 * itself is copied last.
 *
 * A copy counts if the remote lists it with the size in the manifest and the checksum of the local file: the checksum
 * that the remote keeps (MD5 in S3 and GCS) or, if it keeps none, that of the copy read back. Nothing else is trusted,
 * not even rclone's exit status: it only explains why a copy is missing in the end. S3 knows the MD5 of objects that
 * were uploaded in one part, so all files up to 5 GiB are sent that way.
 *
 * Each start asks the remote for its state again, so a kill loses nothing. Only the checksums in DIR/.upload/sums are
 * kept (upload_local.c). DIR/.upload is removed with the last step.
 */
#include "bpe/upload.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/clock.h"
#include "base/sys/hash.h"
#include "bpe/front.h"
#include "driver/command.h"
#include "driver/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct upload u = {.wait_text = "60", .transfers = "4", .retries_text = "8", .type = "md5", .lock = -1};

/* ---- The directory ---- */

/* Waits for a bpe-shard that is just starting, but not as long as for one that resumes: this may be the wrong
 * directory. */
static int await_shards(struct err *e)
{
    const double max = u.once ? 0 : u.patience < 10 ? (double)u.patience : 10, step = 0.25;
    for (double start = clock_now(); !upload_is_here(&u, MANIFEST_NAME) && !upload_is_here(&u, ".work");
         upload_nap(step)) {
        if (clock_now() - start < max)
            continue;
        return upload_is_here(&u, ".")
                   ? err_set(e, EX_NOINPUT, "%s: missing; was this directory made by bpe-shard?", u.manifest)
                   : err_set(e, EX_NOINPUT, "%s: no such directory", u.from);
    }
    return 0;
}

/* Files in DIR/.upload are ours. Links are refused: their targets would be written to. */
static int check_state(const char *lock, struct err *e)
{
    struct stat st;
    if (lstat(u.state, &st) == 0 && S_ISLNK(st.st_mode))
        return err_set(e, EX_CANTCREAT, "%s: is a symbolic link; remove it", u.state);
    return durable_make_directory(u.state, e) || resume_only_file(lock, e) || resume_only_file(u.sums, e) ? -1 : 0;
}

/* Whether the file open as u.lock still has that name. */
static bool is_lock(const char *path)
{
    struct stat a, b;
    return fstat(u.lock, &a) == 0 && lstat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Allows one upload of a directory at a time. The locked file may be one that another upload removed as it ended. The
 * processes of one that was killed may take a moment to end. */
static int lock(struct err *e)
{
    enum { LONGEST_MS = 5000 };
    char *path = fd_path(u.state, "lock", e);
    int rc = path ? 1 : -1;
    while (rc > 0) {
        job_close(&u.lock);
        u.lock =
            check_state(path, e) ? -1 : fd_open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, EX_CANTCREAT, e);
        rc = u.lock < 0 ? -1 : resume_try_lock(u.from, u.lock, LONGEST_MS, e);
        if (rc > 0)
            rc = err_set(e, EX_CANTCREAT, "%s: another bpe upload is at work there", u.from);
        else if (rc == 0)
            rc = !is_lock(path);
    }
    free(path);
    return rc;
}

/* ---- The remote, before anything is written there ---- */

/* Its manifest; and a file that only DIR has: if it is listed, the remote is DIR itself. */
static struct upload_file around[2];
static struct buf theirs; /* contents of that manifest */

static int look_around(struct upload *up, struct err *e)
{
    struct upload_file *files[] = {&around[0], &around[1]};
    int rc = upload_list(up, up->to, NULL, files, 2, e);
    if (rc)
        return rc;
    if (around[1].listed)
        return err_set(e, EX_USAGE, "%s is %s itself", up->to, up->from);
    return around[0].listed ? upload_fetch(up, &around[0], &theirs, e) : 0;
}

/* Files there with our names may belong to other shards; the remote's manifest shows that. */
static int check_remote(struct err *e)
{
    static char manifest[] = MANIFEST_NAME;
    uint64_t random;
    char name[64];
    struct outfile probe;
    random_bytes(&random, sizeof random);
    snprintf(name, sizeof name, "probe.%016llx", (unsigned long long)random);
    char *path = fd_path(u.state, name, e);
    int rc = path ? outfile_open(&probe, path, e) : -1;
    if (rc == 0) {
        around[0].name = manifest;
        snprintf(name, sizeof name, ".upload/%s", strrchr(probe.tmp, '/') + 1);
        around[1].name = name;
        rc = upload_persist(&u, look_around, e);
        outfile_drop(&probe);
    }
    if (rc == 0 && around[0].listed)
        rc = upload_compare_manifest(&u, &theirs, e);
    buf_free(&theirs);
    free(path);
    return rc;
}

/* ---- All ---- */

static int upload_all(struct err *e)
{
    if (await_shards(e) || lock(e))
        return -1;
    while (!upload_has_new_manifest(&u)) {
        if (u.once)
            return err_set(e, EX_TEMPFAIL, "%s: no shard is finished yet; run the same command again", u.from);
        if (!upload_wait_for_manifest(&u))
            return err_set(e, EX_TEMPFAIL,
                           "%s: no shard is finished, and no bpe-shard is at work; run the same command again", u.from);
    }
    if (upload_read_manifest(&u, e) || check_remote(e) || upload_persist(&u, upload_ask_features, e) ||
        upload_read_sums(&u, e))
        return -1;
    upload_show(&u, NULL);
    while (upload_files(&u, e) == 0) {
        if (u.complete)
            return upload_last(&u, around[0].listed, e) || resume_remove_directory(u.state, e) ? -1 : 0;
        if (!(u.once ? upload_has_new_manifest(&u) : upload_wait_for_manifest(&u)))
            return err_set(
                e, EX_TEMPFAIL,
                "%s: %zu shards are uploaded, but the manifest is not complete%s; run the same command again", u.from,
                u.n_shards, u.once ? "" : ", and no bpe-shard is at work");
        if (upload_read_manifest(&u, e))
            return -1;
    }
    return -1;
}

static int run(struct job *j, struct err *e)
{
    u.job = j;
    j->holds = true;
    setenv("RCLONE_INPLACE", "true", 1);        /* so that a kill leaves no .partial files */
    setenv("RCLONE_S3_UPLOAD_CUTOFF", "5G", 0); /* in one part, so that S3 has the MD5 */
    int rc = !(u.manifest = fd_path(u.from, MANIFEST_NAME, e)) || !(u.state = fd_path(u.from, ".upload", e)) ||
                     !(u.sums = fd_path(u.state, "sums", e))
                 ? -1
                 : upload_all(e);
    job_show(NULL);
    job_close(&u.lock);
    for (size_t i = 0; i < u.n_known; i++)
        upload_free_file(u.known[i]);
    for (size_t i = 0; i < u.n_sums; i++)
        free(u.sum[i].hash);
    free(u.known);
    free(u.listed);
    free(u.sum);
    free(u.manifest);
    free(u.state);
    free(u.sums);
    return rc;
}

/* ---- The command line ---- */

static int number(const char *option, const char *word, uint64_t min, uint64_t *to, struct err *e)
{
    enum { DIGITS_MAX = 9 };
    size_t n = strspn(word, "0123456789");
    if (n == 0 || word[n] || n > DIGITS_MAX)
        return err_set(e, EX_USAGE, "%s=%s: not a number", option, word);
    *to = strtoull(word, NULL, 10);
    return *to < min ? err_set(e, EX_USAGE, "%s=%s: must be at least %llu", option, word, (unsigned long long)min) : 0;
}

/* A name that rclone does not take for an option or, if it is a local one, for a remote. Owned by the caller. */
static char *name_for_rclone(const char *word, bool local, struct err *e)
{
    bool plain = *word != '-' && (!local || *word == '/' || !strchr(word, ':'));
    return plain ? strdup(word) : fd_path(".", word, e);
}

static int check(struct err *e)
{
    static char *from, *to;
    uint64_t transfers;
    if (number("--wait", u.wait_text, 0, &u.patience, e) || number("--transfers", u.transfers, 1, &transfers, e) ||
        number("--retries", u.retries_text, 0, &u.retries, e))
        return -1;
    size_t n = u.n_files == 2 ? strlen(u.files[0]) : 0;
    if (n && u.files[0][n - 1] == '/')
        u.files[0][--n] = '\0';
    if (!n || !*u.files[1])
        return err_set(e, EX_USAGE, "give DIR and REMOTE:PATH; see --help");
    if (!(from = name_for_rclone(u.files[0], true, e)) || !(to = name_for_rclone(u.files[1], false, e)))
        return err_mem(e, "a file name", n);
    u.from = from;
    u.to = to;
    return job_need("rclone", e)
               ? err_set(e, e->code, "rclone is not installed, or not on PATH; Debian: apt-get install rclone")
               : 0;
}

static const struct option_row rows[] = {
    {0, "delete-after", NULL, "delete the files of a shard when their copies are verified",
     OPTION_TO(FLAG, struct upload, delete_after)},
    {0, "once", NULL, "upload only what is finished now: exit status 75 if that is not all",
     OPTION_TO(FLAG, struct upload, once)},
    {0, "wait", "SECONDS", "how long to wait for bpe-shard when none is running (default 60)",
     OPTION_TO(TEXT, struct upload, wait_text)},
    {0, "download", NULL, "read each copy back to verify it, even if the remote keeps checksums",
     OPTION_TO(FLAG, struct upload, download)},
    {0, "transfers", "N", "files to copy at the same time (default 4)", OPTION_TO(TEXT, struct upload, transfers)},
    {0, "retries", "N", "retries in a row when a remote fails (default 8: 3 minutes)",
     OPTION_TO(TEXT, struct upload, retries_text)},
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe upload",
    .usage = "usage: bpe upload [--delete-after] [--once] [--wait=SECONDS] [--download] [--transfers=N]\n"
             "                  [--retries=N] DIR REMOTE:PATH\n"
             "Copies the shards that bpe-shard has finished in DIR to REMOTE:PATH with rclone, continues as more\n"
             "are finished, and copies DIR/manifest.json last. After a kill, the same command resumes.\n",
    .options = rows,
    COMMAND_TO(u),
    .check = check,
    .run = run,
};

int upload_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
