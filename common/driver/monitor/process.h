/* process.h - one process as /proc shows it: what it waits for, what it has used, and which pipes and sockets it
 * holds.
 *
 * All is read from outside (proc(5)): the process is not stopped, and need not know.
 */
#ifndef BPE_DRIVER_MONITOR_PROCESS_H
#define BPE_DRIVER_MONITOR_PROCESS_H

#include "base/cli/options.h"
#include "base/cli/progress.h"
#include "base/sys/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process does at one moment. */
enum process_state {
    PROCESS_RUNS,    /* or is ready to */
    PROCESS_DISK,    /* waits for a file system or a device */
    PROCESS_READS,   /* waits for what is to come through a pipe, a socket or a terminal */
    PROCESS_WRITES,  /* waits for room in one */
    PROCESS_SLEEPS,  /* until a time */
    PROCESS_CHILD,   /* waits for the end of a child */
    PROCESS_WAITS,   /* for one of several things (poll), another thread, or what cannot be told */
    PROCESS_STOPPED, /* by a signal */
    PROCESS_ENDED,
};

/* An end of a pipe or socket that it holds. Standard error is left out, and so is what it holds both ends of. */
struct process_link {
    int fd;
    enum link_kind { LINK_PIPE, LINK_FIFO, LINK_SOCKET } kind;
    uint64_t id;        /* the inode; of a FIFO with its device in it */
    bool reads, writes; /* a socket: both */
};

enum { PROCESS_FILES = 16 };

/* What is used up: seconds of CPU time, bytes read and written. */
struct used {
    double cpu, in, out;
};

struct process {
    pid_t pid, parent;
    uint64_t began; /* ticks since the system began: with the pid, it is this process and no later one */
    char name[20];  /* the program's, at most 15 bytes of it */
    bool ended;

    enum process_state state;
    struct used used;   /* by itself */
    struct used reaped; /* by its children that have ended, and theirs */
    uint64_t rss;       /* bytes */
    unsigned threads;

    /* What process_links has found: */
    struct process_link *links; /* owned */
    size_t n_links, cap_links;
    int files[PROCESS_FILES]; /* descriptors of files that have names */
    size_t n_files;
    int page; /* that of base/cli/progress.h; -1: none */
};

/* A regular file that a process reads or writes. */
struct process_file {
    char name[256]; /* the end of its path */
    uint64_t id;    /* of the file */
    uint64_t position, size;
    bool writes;
};

void process_free(struct process *p);

/* Reads what it has used, and on demand its state, and in and out. False: it has ended, or its pid is another
 * process's (then p->ended is set); the first time (began is 0), also that it cannot be read. */
enum { PROCESS_STATE = 1, PROCESS_IO = 2 };
bool process_look(struct process *p, unsigned what);

/* Reads at most n - 1 bytes of a file of /proc, and puts NUL after them. Returns how many; 0: it is not there, or not
 * for us. */
size_t process_read(const char *path, char *to, size_t n);

/* The pids of all processes, in an array (owned by the caller) of *cap: how many; -1: /proc cannot be read. */
ptrdiff_t process_list(pid_t **pids, size_t *cap, struct err *e);

/* Reads which links it has. FIFOs: only those whose names are among `fifos`, as to ask for what a name stands for may
 * take long; `all`: ask, and add the names that were found. -1: out of memory. */
int process_links(struct process *p, struct option_words *fifos, bool all, struct err *e);

/* Reads at most `max` of the regular files that process_links has found, each once, but not those that are empty, or
 * mean nothing to it: it has them as standard error, too, or its parent has them. Returns how many. */
size_t process_files(const struct process *p, struct process_file *files, size_t max);

/* What the program publishes of its work (base/cli/progress.h), as process_links has found; what it does may be empty.
 * False: nothing. */
bool process_progress(const struct process *p, struct progress_page *page);

/* The words of its command line, separated by blanks, cut to fit; without directories in the first. Of a program that a
 * script has become, those of the script are in its environment, after the number of the process, as its children
 * inherit them. */
#define PROCESS_COMMAND "BPE_COMMAND"
void process_command(pid_t pid, char *to, size_t n);

#endif
