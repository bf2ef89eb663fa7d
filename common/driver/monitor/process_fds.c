/* process_fds.c - see process.h: the descriptors that a process holds. */
#include "driver/monitor/process.h"

#include "base/sys/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t file_id(const struct stat *st)
{
    return (uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40;
}

/* Whether a name in /proc/PID/fd may be that of a file or FIFO on a disk. */
static bool may_be_file(const char *name)
{
    static const char *const none[] = {"/dev/", "/proc/", "/memfd:", "/sys/"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (strncmp(name, none[i], strlen(none[i])) == 0)
            return false;
    }
    return *name == '/';
}

static bool is_among(const char *name, const struct option_words *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(name, names->at[i]) == 0)
            return true;
    }
    return false;
}

/* Drops pipes of which it holds both ends: they are for internal use, or not yet passed to its children. */
static void leave_out_own(struct process *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_links; i++) {
        struct process_link l = p->links[i];
        bool reads = false, writes = false;
        for (size_t k = 0; k < p->n_links && l.kind != LINK_SOCKET; k++) {
            const struct process_link *other = &p->links[k];
            reads |= other->id == l.id && other->kind == l.kind && other->reads;
            writes |= other->id == l.id && other->kind == l.kind && other->writes;
        }
        if (reads && writes)
            p->links[i].reads = p->links[i].writes = true;
    }
    for (size_t i = 0; i < p->n_links; i++) {
        if (p->links[i].kind == LINK_SOCKET || p->links[i].reads != p->links[i].writes)
            p->links[kept++] = p->links[i];
    }
    p->n_links = kept;
}

/* Records the descriptor of a named file, or of the progress page that a program publishes. */
static void note_file(struct process *p, int fd, const char *name)
{
    static const char page[] = "/memfd:" PROGRESS_FILE;
    if (strncmp(name, page, sizeof page - 1) == 0)
        p->page = fd;
    else if (may_be_file(name) && !str_ends(name, " (deleted)") && p->n_files < PROCESS_FILES)
        p->files[p->n_files++] = fd;
}

int process_links(struct process *p, struct option_words *fifos, bool all, struct err *e)
{
    char path[64], name[512];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
    DIR *dir = opendir(path);
    p->n_links = p->n_files = 0;
    p->page = -1;
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        unsigned long long id;
        struct stat st;
        struct process_link l = {.fd = atoi(d->d_name)};
        ssize_t len = d->d_name[0] == '.' || l.fd == 2 ? -1 : readlinkat(dirfd(dir), d->d_name, name, sizeof name - 1);
        if (len < 0)
            continue;
        name[len] = '\0';
        if (sscanf(name, "pipe:[%llu]", &id) == 1) {
            l.kind = LINK_PIPE;
            l.id = id;
        } else if (sscanf(name, "socket:[%llu]", &id) == 1) {
            l.kind = LINK_SOCKET;
            l.id = id;
            l.reads = l.writes = true;
        } else if (may_be_file(name) && (all || is_among(name, fifos)) && fstatat(dirfd(dir), d->d_name, &st, 0) == 0 &&
                   S_ISFIFO(st.st_mode)) {
            l.kind = LINK_FIFO;
            l.id = file_id(&st);
            if (!is_among(name, fifos) && option_words_add(fifos, e, "%s", name))
                goto fail;
        } else {
            note_file(p, l.fd, name);
            continue;
        }
        if (l.kind != LINK_SOCKET) { /* the link's mode tells how it was opened */
            if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                continue;
            l.reads = (st.st_mode & S_IRUSR) != 0;
            l.writes = (st.st_mode & S_IWUSR) != 0;
        }
        if (array_grow(&p->links, &p->cap_links, p->n_links + 1, sizeof *p->links, "pipes", e))
            goto fail;
        p->links[p->n_links++] = l;
    }
    if (dir)
        closedir(dir);
    leave_out_own(p);
    return 0;
fail:
    closedir(dir);
    return -1;
}

/* Reads a descriptor's position in its file, and whether it is open for writing. */
static bool read_position(pid_t pid, int fd, struct process_file *f)
{
    char path[64], text[256];
    unsigned long long position;
    unsigned flags;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
    if (!process_read(path, text, sizeof text) || sscanf(text, "pos: %llu flags: %o", &position, &flags) != 2)
        return false;
    f->position = position;
    f->writes = (flags & O_ACCMODE) != O_RDONLY;
    return true;
}

/* Sets the last component of a name, made safe for a terminal. */
static void set_name(struct process_file *f, const char *name)
{
    snprintf(f->name, sizeof f->name, "%.*s", (int)sizeof f->name - 1, strrchr(name, '/') + 1);
    for (char *c = f->name; *c; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
}

/* Whether a process has the file of that name open at a descriptor. */
static bool has_at(pid_t pid, int fd, const char *name)
{
    char path[64], its[512];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t len = readlink(path, its, sizeof its - 1);
    its[len < 0 ? 0 : len] = '\0';
    return strcmp(its, name) == 0;
}

size_t process_files(const struct process *p, struct process_file *files, size_t max)
{
    char path[64], name[512];
    size_t n = 0;
    for (size_t k = 0; k < p->n_files && n < max; k++) {
        struct process_file f;
        struct stat st;
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->pid, p->files[k]);
        ssize_t len = readlink(path, name, sizeof name - 1);
        name[len < 0 ? 0 : len] = '\0';
        if (!may_be_file(name) || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
            !read_position(p->pid, p->files[k], &f) || (st.st_size == 0 && f.position == 0) ||
            has_at(p->pid, 2, name) || (p->files[k] > 2 && has_at(p->parent, p->files[k], name)))
            continue;
        f.id = file_id(&st);
        f.size = (uint64_t)st.st_size;
        set_name(&f, name);
        size_t i = 0;
        while (i < n && (files[i].id != f.id || files[i].writes != f.writes))
            i++;
        if (i == n)
            files[n++] = f;
        else if (f.position > files[i].position)
            files[i].position = f.position;
    }
    return n;
}

bool process_progress(const struct process *p, struct progress_page *page)
{
    char path[64];
    if (p->page < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->pid, p->page);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool found = fd >= 0 && pread(fd, page, sizeof *page, 0) == (ssize_t)sizeof *page;
    if (fd >= 0)
        close(fd);
    if (found)
        page->doing[sizeof page->doing - 1] = page->what[sizeof page->what - 1] = '\0';
    return found;
}
