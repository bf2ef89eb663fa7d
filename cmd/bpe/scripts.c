/* scripts.c - commands of bpe in other languages: executable files whose names have no dot and whose second line
 * describes them. */
#include "bpe/front.h"

#include "base/io/fd.h"
#include "driver/installed.h"
#include "driver/job.h"
#include "driver/monitor/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool was_closed[3];

void script_note_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        was_closed[fd] = fcntl(fd, F_GETFD) < 0;
}

/* Whether DIR/NAME is an executable file. */
static bool can_run(const char *dir, const char *name)
{
    struct err e;
    struct stat st;
    char *path = fd_path(dir, name, &e);
    bool can = path && access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    return can;
}

/* Whether a word may be the name of a command or an engine. */
static bool is_name(const char *word)
{
    return *word && !strpbrk(word, "/.");
}

bool script_is(const char *name)
{
    return is_name(name) && can_run(installed.commands, name);
}

char *script_of_engine(const char *engine, const char *command)
{
    struct err e;
    char *file = is_name(engine) && is_name(command) ? fd_path(engine, command, &e) : NULL;
    if (!file || can_run(installed.commands, file))
        return file;
    char *python = malloc(strlen(file) + 4);
    if (python)
        snprintf(python, strlen(file) + 4, "%s.py", file);
    free(file);
    if (python && can_run(installed.commands, python))
        return python;
    free(python);
    return NULL;
}

bool script_is_engine(const char *name)
{
    char *file = script_of_engine(name, "train");
    free(file);
    return file != NULL;
}

void script_about(const char *name, char *to, size_t n)
{
    struct err e;
    char line[300] = "", *path = installed_command(name, &e);
    FILE *f = path ? fopen(path, "re") : NULL;
    *to = '\0';
    if (f && fgets(line, sizeof line, f) && fgets(line, sizeof line, f)) {
        const char *text = strstr(line, " - ");
        if (text)
            snprintf(to, n, "%.*s", (int)strcspn(text + 3, "\n"), text + 3);
    }
    if (f)
        fclose(f);
    free(path);
}

/* If the first line of a script has env(1) find its interpreter, checks that this is on PATH. -1 with 127: it is not.
 */
static int need_interpreter(const char *path, struct err *e)
{
    char line[100], name[50];
    FILE *f = fopen(path, "re");
    bool named = f && fgets(line, sizeof line, f) && sscanf(line, "#!/usr/bin/env %49s", name) == 1;
    if (f)
        fclose(f);
    return named ? job_need(name, e) : 0;
}

int script_note_command(char **argv, struct err *e)
{
    enum { MOST = 500 }; /* bytes: a line of bpe monitor shows fewer */
    struct buf words = {0};
    int rc = buf_printf(&words, e, "%d", (int)getpid()); /* exec keeps it */
    for (int i = 0; argv[i] && words.len < MOST && rc == 0; i++)
        rc = buf_put_byte(&words, ' ', e) || buf_put_str(&words, argv[i], e) ? -1 : 0;
    words.len = words.len < MOST ? words.len : MOST;
    rc = rc || buf_put_byte(&words, '\0', e) ? -1 : 0;
    if (rc == 0 && setenv(PROCESS_COMMAND, (const char *)words.p, 1))
        rc = err_mem(e, "the command", words.len);
    buf_free(&words);
    return rc;
}

int script_run(const char *file, char **argv, struct err *e)
{
    char *path = installed_command(file, e);
    if (!path || need_interpreter(path, e)) {
        free(path);
        return -1;
    }
    argv[0] = path;
    for (int fd = 0; fd < 3; fd++) {
        if (was_closed[fd])
            close(fd);
    }
    execv(path, argv);
    return err_sys(e, errno == ENOENT ? 127 : EX_OSERR, errno, "%s: cannot run", path);
}
