/* bpe - the everyday commands, and a front end for all others, as git has one: `bpe train` runs the pipeline train.
 *
 * A command is a part of this program (cmd/bpe/), or a file in another language that can be executed, in pipelines/
 * (installed: libexec/bpetools), whose second line says what it is for and whose name has no dot. `bpe slurm train`
 * runs slurm/train there, and `bpe ray train` ray/train.py. The programs are those beside this one.
 *
 * Exit status: that of the command; 64 if there is no such command; 127 if what runs it is not installed.
 */
#include "bpe/commands.h"
#include "cli/program.h"
#include "driver/job.h"
#include "driver/place.h"
#include "io/fd.h"
#include "sys/nearest.h"
#include "usage/chunk_usage.h"
#include "usage/count_usage.h"
#include "usage/decode_usage.h"
#include "usage/encode_usage.h"
#include "usage/merge_usage.h"
#include "usage/model_usage.h"
#include "usage/shard_usage.h"
#include "usage/sum_usage.h"
#include "usage/view_usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "bpe"

static const struct builtin {
    const char *name, *about;
    int (*main)(int argc, char **argv);
} builtins[] = {
    {"describe", "what tokenizers do to a text: bytes per token, frequent tokens", describe_main},
    {"encode", "text to ids, on all cores of one machine, in order", encode_main},
    {"plan", "what training on a large corpus takes, from a sample of it: pretokens, bytes, memory, time, cost",
     plan_main},
    {"shard", "text to shards of token ids for training, on all cores; run again, it goes on where it was", shard_main},
    {"sum-tree", "adds up many counts or sums by several processes", sum_tree_main},
    {"tasks", "train or shard as numbered tasks in a shared directory, for any engine that runs them", tasks_main},
    {"train", "text to a tokenizer, on all cores of one machine", train_main},
    {"tune", "how many processes, and pieces of which size, are fastest for a corpus on this machine", tune_main},
    {"upload", "moves the shards of bpe-shard to S3, GCS or any remote of rclone, while more are made", upload_main},
    {0},
};

static const struct usage *const programs[] = {&chunk_usage, &count_usage, &decode_usage, &encode_usage, &merge_usage,
                                               &model_usage, &shard_usage, &sum_usage,    &view_usage};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

static const struct builtin *builtin(const char *name)
{
    for (const struct builtin *b = builtins; b->name; b++) {
        if (strcmp(b->name, name) == 0)
            return b;
    }
    return NULL;
}

static const struct usage *program(const char *name)
{
    for (size_t i = 0; i < N_PROGRAMS; i++) {
        if (strcmp(programs[i]->name, name) == 0)
            return programs[i];
    }
    return NULL;
}

/* A program by its name, or by what comes after `bpe-`. */
static const struct usage *program_of(const char *name)
{
    char full[100];
    snprintf(full, sizeof full, "bpe-%.80s", name);
    return program(name) ? program(name) : program(full);
}

/* ---- Commands in other languages ---- */

/* Whether DIR/NAME is a file that can be executed. */
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

static bool is_script(const char *name)
{
    return is_name(name) && can_run(place_commands(), name);
}

/* The file of an engine's command, below the directory of commands; NULL: there is none. Owned by the caller. */
static char *of_engine(const char *engine, const char *command)
{
    struct err e;
    char *file = is_name(engine) && is_name(command) ? fd_path(engine, command, &e) : NULL;
    if (!file || can_run(place_commands(), file))
        return file;
    char *python = malloc(strlen(file) + 4);
    if (python)
        snprintf(python, strlen(file) + 4, "%s.py", file);
    free(file);
    if (python && can_run(place_commands(), python))
        return python;
    free(python);
    return NULL;
}

static bool is_engine(const char *name)
{
    char *file = of_engine(name, "train");
    free(file);
    return file != NULL;
}

static bool was_closed[3]; /* standard streams, before fd_prepare; a script is to find them as they were */

/* Whether what runs a script is on PATH, if its first line leaves it to env(1) to find it. -1 with 127: it is not. */
static int need_interpreter(const char *path, struct err *e)
{
    char line[100], name[50];
    FILE *f = fopen(path, "re");
    bool named = f && fgets(line, sizeof line, f) && sscanf(line, "#!/usr/bin/env %49s", name) == 1;
    if (f)
        fclose(f);
    return named ? job_need(name, e) : 0;
}

/* Runs a file of another language in place of this program. */
static int run_file(const char *file, char **argv, struct err *e)
{
    char *path = place_command(file, e);
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

/* ---- Lists ---- */

struct names {
    char **at; /* owned, as each */
    size_t n;
};

static int add_name(struct names *names, const char *name, struct err *e)
{
    char **grown = realloc(names->at, (names->n + 2) * sizeof *grown);
    if (!grown)
        return err_mem(e, "names", (names->n + 2) * sizeof *grown);
    names->at = grown;
    grown[names->n] = strdup(name);
    if (!grown[names->n])
        return err_mem(e, "names", strlen(name));
    grown[++names->n] = NULL;
    return 0;
}

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i]);
    free(names->at);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All commands, or all engines, in order. */
static int list(struct names *names, bool engines, struct err *e)
{
    DIR *dir = opendir(place_commands());
    int rc = 0;
    for (const struct builtin *b = builtins; b->name && !engines && rc == 0; b++)
        rc = add_name(names, b->name, e);
    for (const struct dirent *d; dir && rc == 0 && (d = readdir(dir));) {
        if (engines ? is_engine(d->d_name) : is_script(d->d_name) && !builtin(d->d_name))
            rc = add_name(names, d->d_name, e);
    }
    if (dir)
        closedir(dir);
    if (names->n)
        qsort(names->at, names->n, sizeof *names->at, by_name);
    return rc;
}

static int put_names(struct buf *out, const struct names *names, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < names->n && rc == 0; i++)
        rc = (i && buf_put_str(out, ", ", e)) || buf_put_str(out, names->at[i], e) ? -1 : 0;
    return rc;
}

/* EX_USAGE: what is wrong, and which commands there are. near: the word that may be one of them, mistyped; or NULL. */
static int unknown(const char *what, const char *near, struct err *e)
{
    struct names names = {0};
    struct buf all = {0};
    if (list(&names, false, e) == 0 && put_names(&all, &names, e) == 0 && buf_put_byte(&all, '\0', e) == 0) {
        const char *meant = near ? nearest(near, (const char *const *)names.at, names.n) : NULL;
        err_set(e, EX_USAGE, "%s%s%s%s there are: %s; bpe help says more", what, meant ? " did you mean " : "",
                meant ? meant : "", meant ? "?" : "", (const char *)all.p);
    }
    names_free(&names);
    buf_free(&all);
    return -1;
}

static int no_command(const char *name, struct err *e)
{
    char text[600];
    const struct usage *u = program_of(name);
    if (u)
        snprintf(text, sizeof text, "%.200s: no such command, but a program of its own, %s;", name, u->name);
    else
        snprintf(text, sizeof text, "%.200s: no such command;", name);
    return unknown(text, u ? NULL : name, e);
}

/* ---- Help ---- */

/* What a command in another language is for: `# NAME - ...` in its second line. */
static void about_script(const char *name, char *to, size_t n)
{
    struct err e;
    char line[300] = "", *path = place_command(name, &e);
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

/* A program's description up to its first period or semicolon. */
static int put_program(struct buf *out, const struct usage *u, struct err *e)
{
    return buf_printf(out, e, "  %-11s %.*s\n", u->name, (int)strcspn(u->about, ".;\n"), u->about);
}

static int put_overview(struct buf *out, struct err *e)
{
    struct names commands = {0}, engines = {0};
    int rc = list(&commands, false, e) || list(&engines, true, e) ||
             buf_put_str(out,
                         "usage: bpe [ENGINE] COMMAND [OPTION]... [FILE]...\n"
                         "       bpe help [COMMAND | PROGRAM]\n"
                         "       bpe --version\n"
                         "Commands:\n",
                         e);
    for (size_t i = 0; i < commands.n && rc == 0; i++) {
        char text[200];
        const struct builtin *b = builtin(commands.at[i]);
        if (b)
            snprintf(text, sizeof text, "%s", b->about);
        else
            about_script(commands.at[i], text, sizeof text);
        rc = buf_printf(out, e, "  %-11s %s\n", commands.at[i], text);
    }
    if (rc == 0 && engines.n)
        rc = buf_put_str(out, "Engines, for train and shard on many machines: ", e) || put_names(out, &engines, e) ||
             buf_put_str(out, "; see bpe help engines\n", e);
    rc = rc || buf_put_str(out, "Programs that they are made of; each does one step, in a pipeline of your own:\n", e);
    for (size_t i = 0; i < N_PROGRAMS && rc == 0; i++)
        rc = put_program(out, programs[i], e);
    names_free(&commands);
    names_free(&engines);
    return rc ? -1 : 0;
}

static int print(struct buf *out, struct err *e)
{
    int rc = fd_write(1, out->p, out->len, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
    buf_free(out);
    return rc;
}

static int overview(struct err *e)
{
    struct buf out = {0};
    return put_overview(&out, e) || print(&out, e) ? -1 : 0;
}

/* The manual page of a command, an engine or a program. Owned by the caller; NULL: there is none. */
static char *page_of(const char *name)
{
    static const struct {
        const char *before, *after;
    } forms[] = {{"bpe-", ".1"},      {"", ".1"},      {"bpe-", ".7"}, /* not installed */
                 {"man1/bpe-", ".1"}, {"man1/", ".1"}, {"man7/bpe-", ".7"}};
    if (strchr(name, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char file[200];
        struct err e;
        snprintf(file, sizeof file, "%s%.100s%s", forms[i].before, name, forms[i].after);
        char *path = fd_path(place_pages(), file, &e);
        if (path && access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* Whether man(1) has shown a page. */
static bool show_page(const char *page)
{
    struct err e;
    int status = -1, null;
    if (job_need("man", &e))
        return false;
    /* As system(3): Ctrl-C is for the pager. */
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, interrupted);
        signal(SIGQUIT, quit);
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, 2);
        execlp("man", "man", page, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, interrupted);
    signal(SIGQUIT, quit);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The manual page, or the text of --help if it cannot be shown. */
static int help(char *name, struct err *e)
{
    bool engine = is_engine(name);
    char *page = page_of(engine ? "engines" : name), *words[] = {name, "--help", NULL};
    const struct builtin *b = builtin(name);
    const struct usage *u = program_of(name);
    struct buf out = {0};
    int rc;
    if (page && show_page(page))
        rc = 0;
    else if (b)
        rc = b->main(2, words);
    else if (is_script(name))
        rc = run_file(name, words, e);
    else if (u)
        rc = usage_put_help(&out, u, e) || print(&out, e) ? -1 : 0;
    else if (page)
        rc = buf_put_str(&out, page, e) || buf_put_str(&out, ": man cannot show it here\n", e) || print(&out, e) ? -1
                                                                                                                 : 0;
    else
        rc = no_command(name, e);
    free(page);
    return rc;
}

/* ---- All ---- */

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0);
}

static int run_engine(int argc, char **argv, struct err *e)
{
    const char *command = argc > 2 ? argv[2] : "";
    if (asks_for_help(argv[2]))
        return help(argv[1], e);
    char *file = of_engine(argv[1], command);
    if (!file)
        return err_set(e, EX_USAGE, "%s%s%s: no such command of that engine; see bpe help %s", argv[1],
                       *command ? " " : "", command, argv[1]);
    int rc = run_file(file, argv + 2, e);
    free(file);
    return rc;
}

static int run(int argc, char **argv, struct err *e)
{
    if (argc < 2 || !*argv[1])
        return unknown("which command?", NULL, e);
    if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
        return argc > 2 ? help(argv[2], e) : overview(e);
    if (strcmp(argv[1], "--version") == 0) {
        struct buf out = {0};
        return buf_put_str(&out, NAME " " BPE_VERSION "\n", e) || print(&out, e) ? -1 : 0;
    }
    const struct builtin *b = builtin(argv[1]);
    if (b)
        return b->main(argc - 1, argv + 1);
    if (is_engine(argv[1]))
        return run_engine(argc, argv, e);
    return is_script(argv[1]) ? run_file(argv[1], argv + 1, e) : no_command(argv[1], e);
}

int main(int argc, char **argv)
{
    static struct err e;
    static char text[ERR_TEXT];
    for (int fd = 0; fd < 3; fd++)
        was_closed[fd] = fcntl(fd, F_GETFD) < 0;
    fd_prepare();
    int status = place_init(argv[0] ? argv[0] : NAME, &e) ? -1 : run(argc, argv, &e);
    if (status < 0) {
        program_note(NAME, "%s", err_text(&e, text));
        status = e.code;
    }
    return status;
}
