/* installed.c - see installed.h. */
#include "driver/installed.h"

#include "base/io/fd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS "../libexec/bpetools"
#define PAGES "../share/man"

struct installed installed; /* its strings are never freed */

/* The real path of an existing directory below `programs`; NULL: none. */
static char *real_below(const char *name, struct err *e)
{
    char *path = fd_path(installed.programs, name, e), *real = path ? realpath(path, NULL) : NULL;
    free(path);
    return real;
}

/* The directory of a file. NULL: out of memory. */
static char *directory_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
}

/* The directory of this process's executable. */
static char *find_programs(const char *argv0)
{
    char *file = realpath("/proc/self/exe", NULL);
    if (!file)
        file = realpath(argv0, NULL); /* a path, or a name in the current directory */
    char *dir = directory_of(file ? file : argv0);
    free(file);
    return dir;
}

static int put_first_on_path(struct err *e)
{
    const char *path = getenv("PATH");
    char *all = NULL;
    if (asprintf(&all, "%s%s%s", installed.programs, path ? ":" : "", path ? path : "") < 0)
        return err_mem(e, "PATH", strlen(path ? path : ""));
    int rc = setenv("PATH", all, 1) ? err_sys(e, EX_OSERR, errno, "cannot set PATH") : 0;
    free(all);
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

char *installed_command(const char *name, struct err *e)
{
    return fd_path(installed.commands, name, e);
}

int installed_init(const char *argv0, struct err *e)
{
    installed.programs = find_programs(argv0);
    if (!installed.programs)
        return err_mem(e, "a file name", strlen(argv0));
    installed.commands = real_below("pipelines", e);
    installed.pages = real_below("man", e);
    if (!installed.commands && !(installed.commands = real_below(COMMANDS, e)))
        installed.commands = fd_path(installed.programs, COMMANDS, e);
    if (!installed.pages && !(installed.pages = real_below(PAGES, e)))
        installed.pages = fd_path(installed.programs, PAGES, e);
    installed.parquet = installed.commands ? installed_command("parquet", e) : NULL;
    if (!installed.parquet || !installed.pages || put_first_on_path(e) || make_temporary_absolute(e))
        return -1;
    return 0;
}

const char *installed_temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}
