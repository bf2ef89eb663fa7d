/* tasks.c - bpe tasks: counting or encoding as numbered tasks in a shared directory (driver/work.h), for any engine
 * that runs them.
 *
 *     tasks plan -o DIR FILE...       makes the tasks
 *     tasks todo DIR                  lists the tasks that have no result
 *     tasks run DIR TASK...           runs tasks: each any number of times, on any machine, in parallel with others
 *     tasks train DIR -v N            makes the model from their counts
 *     tasks shard DIR -o OUT          makes the shards from their ids
 *
 * The engine only has to run each task at least once: the first complete result is kept.
 *
 * Exit status: that of the programs; 64 if DIR was planned with other options or files, 65 if a file has changed since,
 * 66 if DIR does not exist, 75 if a task has no result.
 */
#include "bpe/tasks.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "bpe/front.h"

#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} actions[] = {
    {"plan", tasks_plan},   {"todo", tasks_todo},   {"run", tasks_run},
    {"train", tasks_train}, {"shard", tasks_shard}, {"split", tasks_split},
};

static const char usage[] =
    "usage: bpe tasks plan -o DIR [-m MODEL [--pairs [--among=LIVE]|--runs=LIVE]] [--tasks=N]\n"
    "                      [--parquet[=COLUMN]] [OPTION]... FILE...\n"
    "       bpe tasks todo [--ranges] DIR\n"
    "       bpe tasks run [-j JOBS] DIR TASK...\n"
    "       bpe tasks train DIR -v N [OPTION]...\n"
    "       bpe tasks shard DIR -o OUT [OPTION]...\n"
    "       bpe tasks split train|shard NAME [OPTION]... FILE...\n"
    "Does the work of bpe train, or with -m MODEL of bpe shard, as numbered tasks in DIR, which all\n"
    "machines share and any engine can run. Run the same command again to do only what is left. See also\n"
    "bpe tasks plan --help, and so on.\n";

int tasks_main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    struct err e;
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        if (fd_write(1, usage, sizeof usage - 1, "standard output", &e) == 0 && fd_close_stdout(&e) == 0)
            return 0;
        program_note("bpe tasks", "%s", e.msg);
        return e.code;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(name, actions[i].name) == 0)
            return actions[i].main(argc - 1, argv + 1);
    }
    if (*name)
        program_note("bpe tasks", "%s: must be one of plan, todo, run, train, shard, split; see --help", name);
    else
        program_note("bpe tasks", "missing plan, todo, run, train or shard; see --help");
    return EX_USAGE;
}
