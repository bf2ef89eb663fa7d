/* bpe - the bpe command, a front end for all subcommands, like git: `bpe train` runs the training pipeline.
 *
 * A subcommand is part of this program (cmd/bpe/), or an executable file in another language in pipelines/ (installed:
 * libexec/bpetools). The second line of such a file describes it, and its name has no dot. `bpe slurm train` runs
 * slurm/train there, and `bpe ray train` runs ray/train.py. The programs bpe-* are found in the directory of this one.
 *
 * Exit status: that of the subcommand; 64 if there is none of that name; 127 if its interpreter is not installed.
 */
#include "base/cli/program.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "bpe/front.h"
#include "driver/installed.h"
#include "pretok/scan.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe"

static bool asks_for_help(const char *word)
{
    return word && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0);
}

static int run_engine(int argc, char **argv, struct err *e)
{
    const char *command = argc > 2 ? argv[2] : "";
    if (asks_for_help(argv[2]))
        return help_on(argv[1], e);
    char *file = script_of_engine(argv[1], command);
    if (!file)
        return err_set(e, EX_USAGE, "%s%s%s: no such command; see bpe help %s", argv[1], *command ? " " : "", command,
                       argv[1]);
    int rc = script_run(file, argv + 2, e);
    free(file);
    return rc;
}

static int run(int argc, char **argv, struct err *e)
{
    if (argc < 2 || !*argv[1])
        return help_which_command(e);
    if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
        return argc > 2 ? help_on(argv[2], e) : help_overview(e);
    if (strcmp(argv[1], "--version") == 0) {
        struct buf out = {0};
        if (program_put_version(&out, NAME, scanner_versions, codec_versions, e) || help_print(&out, e))
            return -1;
        return 0;
    }
    if (strcmp(argv[1], "complete") == 0)
        return complete_main(argc - 1, argv + 1);
    const struct builtin *b = builtin(argv[1]);
    if (b)
        return b->main(argc - 1, argv + 1);
    if (script_note_command(argv, e))
        return -1;
    if (script_is_engine(argv[1]))
        return run_engine(argc, argv, e);
    return script_is(argv[1]) ? script_run(argv[1], argv + 1, e) : help_no_command(argv[1], e);
}

int main(int argc, char **argv)
{
    static struct err e;
    static char text[ERR_TEXT];
    /* SIGUSR1 asks for progress, and must not end a command that does not report any or has not set its handler yet. */
    signal(SIGUSR1, SIG_IGN);
    script_note_streams();
    fd_prepare();
    int status = installed_init(argv[0] ? argv[0] : NAME, &e) ? -1 : run(argc, argv, &e);
    if (status < 0) {
        program_note(NAME, "%s", err_text(&e, text));
        status = e.code;
    }
    return status;
}
