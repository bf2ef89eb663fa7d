/* prog.c - see prog.h. */
#include "io/prog.h"

#include "sys/num.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void say(const char *name, const char *msg)
{
    char line[ERR_TEXT + 100];
    int n = snprintf(line, sizeof line, "%s: %s\n", name, msg);
    if (n >= (int)sizeof line) {
        n = (int)sizeof line - 1;
        line[n - 1] = '\n';
    }
    if (write(2, line, (size_t)n) < 0) {
        /* Nobody is left to be told. */
    }
}

int prog_fail(const char *name, const struct err *e)
{
    char text[ERR_TEXT];
    say(name, err_text(e, text));
    return e->code;
}

void prog_note(const char *name, const char *fmt, ...)
{
    char msg[2000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    say(name, msg);
}

int prog_print(const char *name, const char *text)
{
    struct err e;
    if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
        err_sys(&e, EX_IOERR, errno, "standard output: cannot write");
        return prog_fail(name, &e);
    }
    return 0;
}

int prog_bad_option(int c, char **argv, struct err *e)
{
    const char *word = argv[optind - 1];
    if (c == ':')
        return err_set(e, EX_USAGE, "option %s needs an argument; see --help", word);
    if (optopt && strncmp(word, "--", 2) != 0)
        return err_set(e, EX_USAGE, "unknown option -%c; see --help", optopt);
    return err_set(e, EX_USAGE, "unknown option %s, or one that takes no argument; see --help", word);
}

int prog_choice(const char *option, const char *word, const char *const *list, struct err *e)
{
    char all[200] = "";
    for (int i = 0; list[i]; i++) {
        if (strcmp(word, list[i]) == 0)
            return i;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", list[i]);
    }
    return err_set(e, EX_USAGE, "%s %s: must be one of %s", option, word, all);
}

char **prog_files(int argc, char **argv, int *n)
{
    static char *standard_input[] = {"-"};
    *n = optind < argc ? argc - optind : 1;
    return optind < argc ? argv + optind : standard_input;
}

int prog_add(const char ***list, size_t *n, const char *word, struct err *e)
{
    const char **grown = realloc(*list, (*n + 1) * sizeof *grown);
    if (!grown)
        return err_mem(e, "options", (*n + 1) * sizeof *grown);
    *list = grown;
    grown[(*n)++] = word;
    return 0;
}

int prog_no_terminal(struct err *e)
{
    return isatty(1) ? err_set(e, EX_USAGE,
                               "standard output is a terminal; records go into a pipe or a file (bpe-view shows them)")
                     : 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(struct progress *p, const char *name)
{
    *p = (struct progress){.name = name, .active = isatty(2), .start = now()};
}

void progress_show(struct progress *p, uint64_t done, uint64_t total, bool bytes, const char *what)
{
    if (!p->active)
        return;
    double t = now(), took = t - p->start;
    if (took < 2 || t - p->last < 0.2)
        return;
    p->last = t;
    p->shown = true;
    char line[200], a[32], b[32], c[32];
    double rate = (double)done / took;
    if (bytes) {
        num_bytes(a, sizeof a, (double)done);
        num_bytes(b, sizeof b, (double)total);
        num_bytes(c, sizeof c, rate);
    } else {
        snprintf(a, sizeof a, "%llu", (unsigned long long)done);
        snprintf(b, sizeof b, "%llu", (unsigned long long)total);
        snprintf(c, sizeof c, "%.0f", rate);
    }
    int n = total && done <= total && rate > 0
                ? snprintf(line, sizeof line, "\r\033[K%s: %s of %s %s, %s/s, %.0f s left", p->name, a, b, what, c,
                           (double)(total - done) / rate)
                : snprintf(line, sizeof line, "\r\033[K%s: %s %s, %s/s", p->name, a, what, c);
    if (write(2, line, (size_t)n) < 0)
        p->active = false;
}

void progress_end(struct progress *p)
{
    if (p->shown && write(2, "\r\033[K", 4) < 0)
        p->active = false;
    p->shown = false;
}
