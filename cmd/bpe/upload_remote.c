/* upload_remote.c - the part of bpe upload that lists, copies and reads files on a remote, with rclone. */
#include "bpe/upload.h"

#include "json/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rclone's output ---- */

static void forget(struct upload_file *f)
{
    f->listed = false;
    free(f->listed_hash);
    f->listed_hash = NULL;
}

static int set_hash(struct upload_file *f, const char *hash, struct err *e)
{
    free(f->listed_hash);
    f->listed_hash = NULL;
    if (*hash && !strstr(hash, "ERROR") && strcmp(hash, "UNSUPPORTED") != 0 && !(f->listed_hash = strdup(hash)))
        return err_mem(e, "a checksum", strlen(hash));
    return 0;
}

/* The format of a line: a size, a checksum if requested, and a name, separated by tabs (names have none); or a
 * checksum, two spaces and a name. */
enum lines { LISTED, SUMMED };

static int take_line(char *line, enum lines kind, struct upload_file **sorted, size_t n, struct err *e)
{
    char *name = NULL, *size = NULL, *hash = line;
    if (kind == LISTED) {
        size = strsep(&hash, "\t");
        name = hash ? strrchr(hash, '\t') : NULL;
    } else {
        hash += strspn(hash, " ");
        name = strchr(hash, ' ');
    }
    if (name)
        *name++ = '\0'; /* ends the checksum */
    else
        name = hash, hash = "";
    if (kind == SUMMED && name)
        name++;
    struct upload_file *f = name ? upload_find(sorted, n, name) : NULL;
    if (!f)
        return 0;
    if (kind == LISTED) {
        f->listed = true;
        f->listed_bytes = strtoull(size, NULL, 10);
    }
    return set_hash(f, hash, e);
}

/* Enters what rclone wrote about these files. */
static int take_lines(struct buf *out, enum lines kind, struct upload_file **files, size_t n, struct err *e)
{
    struct upload_file **sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return err_mem(e, "files", n * sizeof *sorted);
    memcpy(sorted, files, n * sizeof *sorted);
    upload_sort(sorted, n);
    int rc = buf_put_byte(out, '\0', e);
    char *rest = (char *)out->p, *line;
    while (rc == 0 && (line = strsep(&rest, "\n")))
        rc = *line ? take_line(line, kind, sorted, n, e) : 0;
    free(sorted);
    return rc;
}

/* ---- Calls of rclone ---- */

int upload_list(struct upload *u, const char *place, const char *hash, struct upload_file **files, size_t n,
                struct err *e)
{
    enum { NO_SUCH_DIRECTORY = 3 }; /* or bucket, so far */
    const char *const words[] = {
        "lsf", "-R",     "--files-only",        "--format",      hash ? "shp" : "sp", "--separator",
        "\t",  "--hash", hash ? hash : u->type, "--no-traverse", UPLOAD_NAMES,        place,
        NULL};
    struct buf out = {0};
    for (size_t i = 0; i < n; i++)
        forget(files[i]);
    int rc = upload_rclone(u, words, files, n, NO_SUCH_DIRECTORY, &out, e);
    if (rc == 0)
        rc = take_lines(&out, LISTED, files, n, e);
    buf_free(&out);
    return rc;
}

int upload_read_back(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    const char *const words[] = {"hashsum",    u->type,      "--download", "--checkers",
                                 u->transfers, UPLOAD_NAMES, u->to,        NULL};
    struct buf out = {0};
    int rc = upload_rclone(u, words, files, n, 0, &out, e);
    if (rc >= 0 && take_lines(&out, SUMMED, files, n, e)) /* it may have read some of them */
        rc = -1;
    buf_free(&out);
    return rc;
}

int upload_copy(struct upload *u, struct upload_file **files, size_t n, struct err *e)
{
    /* -I: else rclone may skip a damaged copy of the same size */
    const char *const words[] = {"copy",
                                 "-I",
                                 "--no-traverse",
                                 "--transfers",
                                 u->transfers,
                                 "--checkers",
                                 u->transfers,
                                 UPLOAD_NAMES,
                                 u->from,
                                 u->to,
                                 isatty(2) ? "--stats=1s" : NULL,
                                 "--stats-one-line",
                                 "--stats-log-level=NOTICE",
                                 NULL};
    struct buf out = {0};
    int rc = upload_rclone(u, words, files, n, 0, &out, e);
    buf_free(&out);
    return rc;
}

int upload_fetch(struct upload *u, struct upload_file *file, struct buf *to, struct err *e)
{
    const char *const words[] = {"cat", "--no-traverse", UPLOAD_NAMES, u->to, NULL};
    int rc = upload_rclone(u, words, &file, 1, 0, to, e);
    if (rc == 0 && to->len != file->listed_bytes) {
        snprintf(u->reason, sizeof u->reason, "%.200s: received %zu of %llu bytes", file->name, to->len,
                 (unsigned long long)file->listed_bytes);
        rc = 1;
    }
    return rc;
}

/* ---- The checksums that a remote keeps ---- */

/* Types of checksums by which files can be compared, the first choice first. */
static const char *const types[] = {"md5",     "sha1",    "sha256", "sha512",    "blake3", "quickxor",
                                    "dropbox", "hidrive", "mailru", "whirlpool", NULL};

struct features {
    struct json_reader r;
    size_t best; /* index in types */
};

static int read_hashes(void *ctx, int key)
{
    struct features *f = ctx;
    struct str s;
    int more;
    (void)key;
    if (json_read_peek(&f->r) == 'n')
        return json_read_skip(&f->r);
    if (json_read_array(&f->r))
        return -1;
    while ((more = json_read_item(&f->r)) > 0) {
        if (json_read_string(&f->r, &s))
            return -1;
        for (size_t i = 0; i < f->best; i++) {
            if (str_equal(s, str_of(types[i])))
                f->best = i;
        }
    }
    return more;
}

int upload_ask_features(struct upload *u, struct err *e)
{
    static const char *const keys[] = {"Hashes", NULL};
    const char *const words[] = {"backend", "features", u->to, NULL};
    struct features f = {.best = sizeof types / sizeof *types - 1};
    struct buf out = {0};
    struct err ignored;
    uint32_t seen = 0;
    int rc = upload_rclone(u, words, NULL, 0, 0, &out, e);
    if (rc == 0 && buf_reserve(&out, JSON_READ_PAD, e))
        rc = -1;
    if (rc == 0 && !u->download) {
        json_read_memory(&f.r, out.p, out.len, true, &ignored);
        json_read_members(&f.r, keys, &seen, read_hashes, &f);
        json_read_free(&f.r);
        u->kept = types[f.best] != NULL;
        if (u->kept)
            u->type = types[f.best];
    }
    buf_free(&out);
    return rc;
}
