/* file_command.c - see file_command.h. */
#include "input/file_command.h"

#include "base/io/fd.h"
#include "base/sys/shell_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether a message can show the name, and a command can read the file by it: tar takes the part before a colon for a
 * host. */
static bool is_shown(const char *name)
{
    bool shown = *name && *name != '-' && !strchr(name, ':') && strcmp(name, fd_name("-")) != 0 &&
                 strncmp(name, "/dev/", 5) != 0 && strncmp(name, "/proc/", 6) != 0 && !str_ends(name, ".gz") &&
                 !str_ends(name, ".zst");
    for (const char *p = name; *p && shown; p++)
        shown = !iscntrl((unsigned char)*p);
    return shown;
}

const char *file_command(const char *command, const char *name, char to[FILE_COMMAND])
{
    static const char mark[] = " FILE";
    const char *at = strstr(command, mark);
    struct buf word = {0};
    struct err ignored;
    snprintf(to, FILE_COMMAND, "%s", command);
    if (at && is_shown(name) && shell_words_put(&word, &name, 1, &ignored) == 0 &&
        strlen(command) + word.len < FILE_COMMAND)
        snprintf(to, FILE_COMMAND, "%.*s%.*s%s", (int)(at - command), command, (int)word.len, (const char *)word.p,
                 at + sizeof mark - 1);
    buf_free(&word);
    return to;
}
