/* tasks.h - the actions of bpe tasks: tasks_plan.c plans the work, tasks_run.c runs tasks of it, tasks_finish.c makes
 * the model or the shards, tasks_split.c divides options; tasks_dir.c is shared. Each action takes the command line
 * from its own name on, and returns the exit status. */
#ifndef BPE_CMD_TASKS_H
#define BPE_CMD_TASKS_H

#include "driver/work.h"

int tasks_plan(int argc, char **argv);
int tasks_todo(int argc, char **argv);
int tasks_run(int argc, char **argv);
int tasks_train(int argc, char **argv);
int tasks_shard(int argc, char **argv);
int tasks_split(int argc, char **argv);

/* Shared by the actions that take a DIR. Initialize to zero. */
struct tasks {
    struct work work;
    struct command_options options;
};

/* Opens the work in DIR, the first of the FILEs, and finds its tasks. -1: usage error, such as more than `max` FILEs;
 * DIR has no work, or its work was not planned. */
int tasks_open(struct tasks *t, struct job *j, char **files, int n_files, int max, struct err *e);
void tasks_close(struct tasks *t);

/* Rows for options that planning, or training, does not take. */
/* clang-format off */
#define TASKS_NAMES_FILES \
    {0, "files-from", "LIST", "--files-from: bpe tasks needs the names of the files; give them as FILEs", \
     .kind = OPTION_REFUSED}, \
    {0, "files0-from", "LIST", "--files0-from: bpe tasks needs the names of the files; give them as FILEs", \
     .kind = OPTION_REFUSED}
#define TASKS_NO_SUPER \
    {0, "super", "T", "--super: the tasks are those of one step, with --pairs or --runs; see bpe-superwords(7)", \
     .kind = OPTION_REFUSED}
/* clang-format on */

/* The file that says why an attempt at a task failed. Owned by the caller; NULL: out of memory. */
char *tasks_failed_name(const struct work *w, const struct work_part *p, struct err *e);

#endif
