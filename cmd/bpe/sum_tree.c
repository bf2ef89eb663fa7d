/* sum_tree.c - bpe sum-tree: adds up many counts or sums with several processes.
 *
 *     FILE FILE FILE FILE ... FILE     each bpe-sum --partial adds up as many neighbors as FAN_IN, JOBS at a time;
 *     sum       sum       ... sum      their sums are added up as soon as they are ready, and so on
 *     sum                              the last bpe-sum writes what bpe-sum FILE... would
 *
 * A partial sum counts as a whole or not at all: if FILEs overlap in part, a tree may leave out more than one bpe-sum
 * does. Also, an error in a FILE should be reported only once. So if anything is wrong in the tree, it is abandoned,
 * and one bpe-sum of all FILEs decides. Missing ranges are not an error here.
 *
 * Partial sums are unnamed files, which the processes open through the descriptors of this one.
 */
#include "bpe/front.h"

#include "base/io/fd.h"
#include "base/sys/memory.h"
#include "base/sys/num.h"
#include "driver/command.h"
#include "driver/installed.h"
#include "driver/output.h"
#include "driver/partition.h"
#include "driver/resume.h"
#include "usage/source_options.h"
#include "usage/sum_usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAN_IN_MIN = 4, FAN_IN_MAX = 256 }; /* of the default; bpe-sum reads at most FAN_IN_MAX files at a time */
enum { PROCESS_MEMORY_MIN = 16 << 20 };

/* Items are FILEs, and after them the sums, level by level. */
struct item {
    char name[64];      /* of a sum: the path of its file; empty until it is made */
    const char *use;    /* the file to read: name, or that of its only neighbor; NULL: not ready */
    const char *weight; /* of `use`, as the user wrote it; NULL: none */
    int fd;             /* of a sum's file; -1: none */
    size_t first, n;    /* of a sum: the neighbors that it adds up */
    size_t parent;      /* the sum that adds it up; 0: none */
    size_t missing;     /* number of neighbors that are not ready */
};

static struct sum_tree {
    struct command_options common; /* jobs */
    const char *fan_in_text, *temp, *path;
    uint64_t memory, fan_in;
    bool has_memory;
    struct sum_options sum;
    char **files;
    int n_files;
    /* The tree. */
    struct item *items;
    size_t n_items, root; /* root: the first item of the last level, which has no more than FAN_IN */
    struct output out;
} self;

static struct command_program programs[] = {{.usage = &sum_usage, .options = &self.sum}};

/* ---- The tree ---- */

static int plan(struct err *e)
{
    size_t n = (size_t)self.n_files, root = 0, max = 2 * n + 64; /* each level has at most half as many, rounded up */
    self.items = calloc(max, sizeof *self.items);
    if (!self.items)
        return err_mem(e, "a tree", max * sizeof *self.items);
    for (size_t i = 0; i < n; i++)
        self.items[i] =
            (struct item){.use = self.files[i], .weight = option_placed_of(&self.common.weights, (int)i), .fd = -1};
    self.n_items = n;
    while (n > self.fan_in) {
        size_t groups = (n + self.fan_in - 1) / self.fan_in;
        for (size_t i = 0; i < groups; i++) {
            struct item *sum = &self.items[self.n_items];
            *sum = (struct item){.fd = -1, .first = root + n * i / groups, .n = n * (i + 1) / groups - n * i / groups};
            sum->missing = sum->n;
            for (size_t k = 0; k < sum->n; k++)
                self.items[sum->first + k].parent = self.n_items;
            self.n_items++;
        }
        root += n;
        n = groups;
    }
    self.root = root;
    return 0;
}

/* Marks an item as ready, so that the sum that adds it up may become possible; a sum of one item is that item. */
static void is_there(size_t i)
{
    size_t parent = self.items[i].parent;
    struct item *sum = &self.items[parent];
    if (!parent || --sum->missing)
        return;
    if (sum->n == 1) {
        sum->use = self.items[i].use;
        sum->weight = self.items[i].weight;
        sum->fd = self.items[i].fd;
        self.items[i].fd = -1;
        is_there(parent);
    }
}

/* The next sum that can be made, of the highest level, so that few files are open. 0: none. */
static size_t next_sum(void)
{
    for (size_t i = self.n_items; i-- > (size_t)self.n_files;) {
        const struct item *sum = &self.items[i];
        if (sum->fd < 0 && !sum->use && sum->missing == 0)
            return i;
    }
    return 0;
}

static void close_items(size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        job_close(&self.items[i].fd);
}

/* Starts bpe-sum of n items from `first` on. options: the user's; NULL: it makes a partial sum. */
static int start(struct job *j, size_t first, size_t n, const struct option_words *options, uint64_t memory, int out,
                 int group, struct err *e)
{
    struct command_line l = {0};
    struct command_weights weights = {.ended = self.common.weights.n == 0};
    char limit[40];
    const struct job_start how = {
        .in = -1, .out = out, .group = group, .writes = options && self.path ? self.path : NULL};
    snprintf(limit, sizeof limit, "--memory=%llu", (unsigned long long)memory);
    int rc =
        command_line_add(&l, e, "bpe-sum") ||
                (options ? command_line_options(&l, options, e) : command_line_add(&l, e, "--partial", "--quiet")) ||
                command_line_add(&l, e, limit, "--temp", self.temp, weights.ended ? "--" : NULL)
            ? -1
            : 0;
    for (size_t i = first; i < first + n && rc == 0; i++)
        rc = command_line_weighed(&l, &weights, self.items[i].weight, self.items[i].use, e);
    rc = rc || command_line_start(j, &how, &l, e) ? -1 : 0;
    command_line_free(&l);
    return rc;
}

static int start_sum(struct job *j, size_t i, struct err *e)
{
    struct item *sum = &self.items[i];
    uint64_t share = self.memory / self.common.jobs;
    sum->fd = partition_file(self.temp, e);
    if (sum->fd < 0)
        return err_add(e, "give another directory with -T");
    snprintf(sum->name, sizeof sum->name, "/proc/%ld/fd/%d", (long)getpid(), sum->fd);
    return start(j, sum->first, sum->n, NULL, share > PROCESS_MEMORY_MIN ? share : PROCESS_MEMORY_MIN, sum->fd, (int)i,
                 e);
}

static int killed(struct err *e)
{
    return err_set(e, EX_TEMPFAIL, "bpe-sum was killed; run the same command again");
}

/* Whether bpe-sum has left out counts that overlap others in part, according to its message. */
static bool overlapped(const struct job_process *p)
{
    return p->text.len && memmem(p->text.p, p->text.len, "overlap others in part", 22);
}

/* Makes all sums except the last. 1: done; 0: something is wrong, and the tree is abandoned. */
static int add_levels(struct job *j, struct err *e)
{
    size_t running = 0, next;
    for (int i = 0; i < self.n_files; i++)
        is_there((size_t)i);
    while ((next = next_sum()) || running) {
        if (next && running < self.common.jobs) {
            if (start_sum(j, next, e))
                return -1;
            running++;
            continue;
        }
        job_wait(j, NULL, 0, -1);
        for (size_t k = j->n; k-- > 0;) {
            const struct job_process *p = j->at[k];
            size_t i = (size_t)p->group;
            if (!p->ended)
                continue;
            if (p->status > 128)
                return killed(e);
            if (p->status || overlapped(p))
                return 0;
            job_forget_group(j, p->group);
            running--;
            close_items(self.items[i].first, self.items[i].n);
            self.items[i].use = self.items[i].name;
            is_there(i);
        }
    }
    return 1;
}

/* ---- The last sum ---- */

/* Copies a file to the output. */
static int put(int from, struct err *e)
{
    struct stat st;
    return fstat(from, &st) < 0 ? err_sys(e, EX_IOERR, errno, "%s: cannot read", self.temp)
                                : partition_copy(from, 0, (uint64_t)st.st_size, self.out.fd, self.out.name, e);
}

/* Ends the last bpe-sum, which wrote to the output or, unless `from` is -1, to a file. Returns its exit status. */
static int end(struct job *j, int from, struct err *e)
{
    const struct job_process *p = j->at[0];
    if (p->status != 0 && p->status != EX_TEMPFAIL)
        return job_result(j);
    if (from >= 0 && put(from, e))
        return -1;
    int status = p->status;
    job_say_all(j);
    return status;
}

static bool can_begin_again(void)
{
    return self.out.file.tmp != NULL;
}

/* Adds up the last level, into a file unless the output can be begun again. Returns the exit status; -2: something is
 * wrong, and the tree is abandoned. */
static int add_root(struct job *j, struct err *e)
{
    int status = -1, file = -1;
    if (!can_begin_again() && (file = partition_file(self.temp, e)) < 0)
        return err_add(e, "give another directory with -T");
    if (start(j, self.root, self.n_items - self.root, &programs[0].words, self.memory, file >= 0 ? file : self.out.fd,
              0, e) == 0) {
        job_wait_all(j);
        const struct job_process *p = j->at[0];
        bool good = (p->status == 0 || p->status == EX_TEMPFAIL) && !overlapped(p);
        status = p->status > 128 ? killed(e) : good ? end(j, file, e) : -2;
    }
    job_close(&file);
    return status;
}

static int add_all(struct job *j, struct err *e)
{
    int good = plan(e) ? -1 : self.root ? add_levels(j, e) : 0;
    int status = good > 0 ? add_root(j, e) : good < 0 ? -1 : -2;
    if (status != -2)
        return status;
    job_end(j);
    job_forget(j);
    close_items(0, self.n_items);
    if (can_begin_again() && (ftruncate(self.out.fd, 0) || lseek(self.out.fd, 0, SEEK_SET) < 0))
        return err_sys(e, EX_IOERR, errno, "%s: cannot write", self.path);
    if (start(j, 0, (size_t)self.n_files, &programs[0].words, self.memory, self.out.fd, 0, e))
        return -1;
    job_wait_all(j);
    return end(j, -1, e);
}

static int run(struct job *j, struct err *e)
{
    int status =
        resume_only_regular(self.files, self.n_files, "; put it into a file", e) || output_open(&self.out, self.path, e)
            ? -1
            : 0;
    j->holds = true; /* report errors once */
    j->to_file = self.path;
    if (status == 0)
        status = add_all(j, e);
    if (status == 0)
        status = output_close(&self.out, e);
    job_end(j);
    output_drop(&self.out);
    close_items(0, self.n_items);
    free(self.items);
    return status;
}

/* ---- The command line ---- */

static int check_fan_in(struct err *e)
{
    enum { GIVEN_MAX = 9999999 };
    const char *s = self.fan_in_text;
    uint64_t n = (uint64_t)self.n_files, jobs = self.common.jobs, each = (n + jobs - 1) / jobs;
    self.fan_in = jobs == 1 ? n : each < FAN_IN_MIN ? FAN_IN_MIN : each > FAN_IN_MAX ? FAN_IN_MAX : each;
    if (!s)
        return 0;
    self.fan_in = num_whole(s, GIVEN_MAX);
    return self.fan_in < 2 ? err_set(e, EX_USAGE, "-k %s: must be a number, at least 2", s) : 0;
}

static int check(struct err *e)
{
    const struct source_options none = {0};
    if (self.n_files == 0)
        return err_set(e, EX_USAGE, "missing FILE; see --help");
    if (command_options_check(&self.common, &none, false, self.n_files, e) ||
        command_weigh(&self.common, self.files, self.n_files, e) || check_fan_in(e) ||
        command_check(&programs[0], self.files, self.n_files, e))
        return -1;
    if (self.has_memory && self.memory == 0)
        return err_set(e, EX_USAGE, "-S: must be more than 0, such as 64M");
    self.memory = self.has_memory ? self.memory : memory_limit() / 2;
    self.temp = self.temp ? self.temp : installed_temporary();
    if (!self.path && isatty(1))
        return err_set(e, EX_USAGE, "standard output is a terminal; give -o PATH, or redirect the sum");
    return fd_keep_apart(self.path, self.files, (size_t)self.n_files, e);
}

static const struct option_row rows[] = {
    COMMAND_WEIGHT(struct sum_tree, common),
    COMMAND_JOBS(struct sum_tree, common, "add up"),
    {'k', "fan-in", "FAN_IN", "files or sums that a process adds up (default: FILEs divided by JOBS,\nat least 4)",
     OPTION_TO(TEXT, struct sum_tree, fan_in_text)},
    {'S', "memory", "SIZE", "memory for the counts of all processes together (default 50%)",
     OPTION_TO(MEMORY, struct sum_tree, memory), OPTION_GIVEN(struct sum_tree, has_memory)},
    {'T', "temp", "DIR", "write temporary files to DIR (default $TMPDIR, or /tmp)",
     OPTION_TO(TEXT, struct sum_tree, temp)},
    {'o', "output", "PATH", "write the sum to PATH, which appears when it is complete",
     OPTION_TO(OUTPUT, struct sum_tree, path)},
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe sum-tree",
    .usage = "usage: bpe sum-tree [-j JOBS] [-k FAN_IN] [-S SIZE] [-T DIR] [-o PATH] [OPTION]... FILE...\n"
             "Adds up FILEs, counts or sums, with several processes: the result is that of one bpe-sum. It goes\n"
             "to standard output, or with -o to PATH, which appears when complete.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int sum_tree_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
