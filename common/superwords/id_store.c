/* id_store.c - see id_store.h. */
#include "superwords/id_store.h"

#include "base/io/fd.h"
#include "base/sys/hash.h"
#include "encode/ids.h"
#include "superwords/superword_model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const unsigned char MAGIC[8] = "bpe ids\n";

int id_store_init(struct id_store *s, const char *dir, struct err *e)
{
    struct stat st;
    *s = (struct id_store){.dir = dir, .fd = -1};
    return !dir || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
               ? 0
               : err_set(e, EX_NOINPUT, "--cache=%s: not a directory; make it first", dir);
}

/* Gives up the piece that is being written. */
static void drop(struct id_store *s)
{
    if (s->made && s->fd >= 0) {
        close(s->fd);
        unlink(s->made);
    }
    free(s->made);
    s->made = NULL;
    s->fd = -1;
    s->block.len = 0;
}

void id_store_close(struct id_store *s)
{
    drop(s);
    buf_free(&s->block);
}

struct id_store_key id_store_key_of(const struct source_facts *f, struct str rules, uint64_t begin, uint64_t end)
{
    struct id_store_key key;
    const uint64_t numbers[] = {f->access, f->size, f->mtime_s, f->mtime_ns, begin, end};
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t hash = hash_bytes(numbers, sizeof numbers, i);
        hash = hash_bytes(f->name.p, f->name.len, hash);
        hash = hash_bytes(f->reading.p, f->reading.len, hash);
        key.at[i] = hash_bytes(rules.p, rules.len, hash);
    }
    return key;
}

static char *path_of(const struct id_store *s, struct id_store_key key, const char *suffix, struct err *e)
{
    char name[80];
    snprintf(name, sizeof name, "%016llx%s", (unsigned long long)key.at[0], suffix);
    return fd_path(s->dir, name, e);
}

/* ---- Reading ---- */

static bool suits(const struct id_store_head *h, struct id_store_key key, const struct model *m)
{
    return memcmp(h->magic, MAGIC, sizeof MAGIC) == 0 && h->key.at[0] == key.at[0] && h->key.at[1] == key.at[1] &&
           h->width == superword_model_width(m) && superword_model_begins(m, h->n_merges, h->model);
}

int id_store_find(const struct id_store *s, struct id_store_key key, const struct model *m, struct id_store_piece *x,
                  struct err *e)
{
    struct err ignored;
    *x = (struct id_store_piece){.fd = -1};
    if (!s->dir)
        return 0;
    char *path = path_of(s, key, "", e);
    if (!path)
        return -1;
    x->path = path;
    x->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (x->fd >= 0 && fd_read(x->fd, &x->head, sizeof x->head, path, &ignored) == sizeof x->head &&
        suits(&x->head, key, m)) {
        x->left = x->head.n;
        return 1;
    }
    id_store_end_read(x);
    return 0;
}

static int damaged(const struct id_store_piece *x, struct err *e)
{
    return err_set(e, EX_DATAERR, "%s: is damaged; remove it, and run the same command again", x->path);
}

/* Reads the place of the first bad line. */
static int read_place(struct id_store_piece *x, struct bad_lines *skipped, struct err *e)
{
    char text[1000];
    const size_t n = x->head.where < sizeof text ? (size_t)x->head.where : 0;
    if (fd_read(x->fd, text, n, x->path, e) != (ssize_t)n)
        return damaged(x, e);
    if (x->head.skipped && !skipped->n && buf_put(&skipped->first, text, n, e))
        return -1;
    skipped->n += x->head.skipped;
    return 0;
}

ptrdiff_t id_store_read(struct id_store_piece *x, unsigned char *p, struct bad_lines *skipped, struct err *e)
{
    const size_t max = ID_STORE_BLOCK / x->head.width, want = x->left < max ? (size_t)x->left : max;
    const size_t bytes = want * x->head.width;
    size_t got = 0;
    for (ssize_t n = 1; got < bytes && n; got += (size_t)n)
        if ((n = fd_read(x->fd, p + got, bytes - got, x->path, e)) < 0)
            return -1;
    if (got < bytes)
        return damaged(x, e);
    x->left -= want;
    if (want) {
        x->checksum = hash_bytes(p, bytes, x->checksum);
        return (ptrdiff_t)want;
    }
    return x->checksum != x->head.checksum ? damaged(x, e) : read_place(x, skipped, e);
}

void id_store_end_read(struct id_store_piece *x)
{
    if (x->fd >= 0)
        close(x->fd);
    free((char *)(uintptr_t)x->path);
    *x = (struct id_store_piece){.fd = -1};
}

/* ---- Writing ---- */

/* Whether there is room for ids: a quarter of the disk, or 256 MB, is left to files without which the work fails. */
static bool has_room(const char *dir)
{
    const uint64_t most = (uint64_t)256 << 20;
    struct statvfs f;
    if (statvfs(dir, &f))
        return true;
    const uint64_t total = (uint64_t)f.f_blocks * f.f_frsize, left = (uint64_t)f.f_bavail * f.f_frsize;
    return left >= most || left >= total / 4;
}

void id_store_begin(struct id_store *s, struct id_store_key key, const struct model *m)
{
    struct err ignored;
    char suffix[60];
    drop(s);
    if (!s->dir || !has_room(s->dir))
        return;
    uint64_t unique;
    random_bytes(&unique, sizeof unique);
    snprintf(suffix, sizeof suffix, ".%016llx.new", (unsigned long long)unique);
    s->made = path_of(s, key, suffix, &ignored);
    s->fd = s->made ? open(s->made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    s->head = (struct id_store_head){.key = key,
                                     .width = superword_model_width(m),
                                     .n_merges = m->n_merges,
                                     .model = superword_model_hash(m, m->n_merges)};
    memcpy(s->head.magic, MAGIC, sizeof MAGIC);
    if (s->fd >= 0 && lseek(s->fd, sizeof s->head, SEEK_SET) < 0)
        drop(s);
}

/* Writes the ids that are waiting. The checksum is that of the blocks as they are read: of ID_STORE_BLOCK bytes, and
 * the rest. */
static void write_block(struct id_store *s)
{
    struct err ignored;
    s->head.checksum = hash_bytes(s->block.p, s->block.len, s->head.checksum);
    s->head.n += s->block.len / s->head.width;
    if (fd_write(s->fd, s->block.p, s->block.len, s->made, &ignored))
        drop(s);
    s->block.len = 0;
}

void id_store_put(struct id_store *s, const unsigned char *ids, size_t n)
{
    struct err ignored;
    for (size_t bytes = n * s->head.width, some; s->fd >= 0 && bytes; ids += some, bytes -= some) {
        some = ID_STORE_BLOCK - s->block.len < bytes ? ID_STORE_BLOCK - s->block.len : bytes;
        if (buf_put(&s->block, ids, some, &ignored))
            drop(s);
        else if (s->block.len == ID_STORE_BLOCK)
            write_block(s);
    }
}

void id_store_end(struct id_store *s, uint64_t text, uint64_t skipped, struct str where)
{
    struct err ignored;
    if (s->fd >= 0 && s->block.len)
        write_block(s);
    if (s->fd < 0)
        return;
    s->head.text = text;
    s->head.skipped = skipped;
    s->head.where = skipped ? where.len : 0;
    char *path = path_of(s, s->head.key, "", &ignored);
    if (!path || fd_write(s->fd, where.p, s->head.where, s->made, &ignored) ||
        fd_pwrite(s->fd, &s->head, sizeof s->head, 0, s->made, &ignored) || rename(s->made, path)) {
        drop(s);
    } else {
        close(s->fd);
        s->fd = -1;
        free(s->made);
        s->made = NULL;
    }
    free(path);
}
