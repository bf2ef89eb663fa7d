/* installed.c - see installed.h. */
#include "driver/installed.h"

#include "base/io/fd.h"
#include "base/sys/buf.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS "../libexec/bpetools"
#define PAGES "../share/man"

static char *programs, *commands, *pages; /* never freed */

const char *installed_programs(void)
{
    return programs;
}

const char *installed_commands(void)
{
    return commands;
}

const char *installed_pages(void)
{
    return pages;
}

/* An existing directory below `programs`, by its real path; NULL: there is none. */
static char *real_below(const char *name, struct err *e)
{
    char *path = fd_path(programs, name, e), *real = path ? realpath(path, NULL) : NULL;
    free(path);
    return real;
}

/* The directory of a file. NULL: out of memory. */
static char *directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
}

/* The directory of the file that this process runs. */
static char *find_programs(const char *argv0)
{
    char *file = realpath("/proc/self/exe", NULL);
    if (!file)
        file = realpath(argv0, NULL); /* as it is called by a path, or is in this directory */
    char *dir = directory_of(file ? file : argv0);
    free(file);
    return dir;
}

static int put_first_on_path(struct err *e)
{
    const char *path = getenv("PATH");
    struct buf b = {0};
    int rc = buf_put_str(&b, programs, e) || (path && (buf_put_byte(&b, ':', e) || buf_put_str(&b, path, e))) ||
                     buf_put_byte(&b, '\0', e)
                 ? -1
                 : 0;
    if (rc == 0 && setenv("PATH", (const char *)b.p, 1))
        rc = err_sys(e, EX_OSERR, errno, "cannot set PATH");
    buf_free(&b);
    return rc;
}

static int make_temporary_absolute(struct err *e)
{
    const char *dir = getenv("TMPDIR");
    char here[PATH_MAX];
    if (!dir || !*dir || *dir == '/' || !getcwd(here, sizeof here))
        return 0;
    char *path = fd_path(here, dir, e);
    int rc = path ? setenv("TMPDIR", path, 1) : -1;
    if (path && rc)
        err_sys(e, EX_OSERR, errno, "cannot set TMPDIR");
    free(path);
    return rc ? -1 : 0;
}

int installed_init(const char *argv0, struct err *e)
{
    programs = find_programs(argv0);
    if (!programs)
        return err_mem(e, "a file name", strlen(argv0));
    commands = real_below("pipelines", e);
    pages = real_below("man", e);
    if (!commands && !(commands = real_below(COMMANDS, e)))
        commands = fd_path(programs, COMMANDS, e);
    if (!pages && !(pages = real_below(PAGES, e)))
        pages = fd_path(programs, PAGES, e);
    if (!commands || !pages || put_first_on_path(e) || make_temporary_absolute(e))
        return -1;
    return 0;
}

char *installed_command(const char *name, struct err *e)
{
    return fd_path(commands, name, e);
}

const char *installed_temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}
