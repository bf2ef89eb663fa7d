/* usage.c - see usage.h. */
#include "base/cli/usage.h"

#include <stdio.h>
#include <string.h>

char *usage_no_files[] = {"-", NULL};

void usage_set_files(const struct usage *u, void *options, char **files, int n)
{
    *(char ***)(void *)((char *)options + u->files) = n ? files : usage_no_files;
    *(int *)(void *)((char *)options + u->n_files) = n ? n : 1;
}

/* All lines of the synopsis begin in the same column, except those that begin with the program's name. */
static int put_synopsis(struct buf *out, const struct usage *u, struct err *e)
{
    static const char usage[] = "usage: ";
    char before[100];
    int indent = snprintf(before, sizeof before, "%s%s ", usage, u->name);
    for (const char *line = u->synopsis, *end; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        bool form = strncmp(line, u->name, strlen(u->name)) == 0;
        if (buf_printf(out, e, "%*s%.*s\n", form ? (int)sizeof usage - 1 : indent, line == u->synopsis ? before : "",
                       (int)(end - line), line))
            return -1;
    }
    return 0;
}

int usage_put_help(struct buf *out, const struct usage *u, struct err *e)
{
    if (put_synopsis(out, u, e) || buf_put_str(out, u->about, e) || buf_put_byte(out, '\n', e) ||
        options_put_help(out, u->options, e))
        return -1;
    return 0;
}
