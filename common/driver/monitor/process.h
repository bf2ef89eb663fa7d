/* process.h - a process as shown by /proc: what it waits for, what it has used, and which pipes and sockets it holds.
 *
 * Everything is read from outside (proc(5)): the process is not stopped, and need not cooperate.
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

/* What a process is doing at one moment. */
enum process_state {
    PROCESS_RUNS,    /* or is ready to run */
    PROCESS_DISK,    /* waits for a file system or a device */
    PROCESS_READS,   /* waits for data from a pipe, a socket or a terminal */
    PROCESS_WRITES,  /* waits for room in one */
    PROCESS_SLEEPS,  /* until some time */
    PROCESS_CHILD,   /* waits for the end of a child */
    PROCESS_WAITS,   /* for one of several things (poll), for another thread, or unknown */
    PROCESS_STOPPED, /* by a signal */
    PROCESS_ENDED,
};

/* An end of a pipe or socket that it holds. Excludes standard error, and pipes of which it holds both ends. */
struct process_link {
    int fd;
    enum link_kind { LINK_PIPE, LINK_FIFO, LINK_SOCKET } kind;
    uint64_t id;        /* the inode; for a FIFO combined with its device */
    bool reads, writes; /* a socket: both */
};

enum { PROCESS_FILES = 16 };

/* Resources used: seconds of CPU time, bytes read and written. */
struct used {
    double cpu, in, out;
};

struct process {
    pid_t pid, parent;
    uint64_t began; /* ticks since boot; together with the pid, identifies this process */
    char name[20];  /* the program's name, cut to 15 bytes */
    bool ended;

    enum process_state state;
    struct used used;   /* by the process itself */
    struct used reaped; /* by its ended children, and theirs */
    uint64_t rss;       /* bytes */
    unsigned threads;

    /* Set by process_links: */
    struct process_link *links; /* owned */
    size_t n_links, cap_links;
    int files[PROCESS_FILES]; /* descriptors of named files */
    size_t n_files;
    int page; /* descriptor of the page of base/cli/progress.h; -1: none */
};

/* A regular file that a process reads or writes. */
struct process_file {
    char name[256]; /* the end of its path */
    uint64_t id;    /* identifies the file */
    uint64_t position, size;
    bool writes;
};

void process_free(struct process *p);

/* Reads what it has used, and on demand its state, and in and out. False: it has ended, or its pid belongs to another
 * process (sets p->ended); on the first call (began is 0), also if it cannot be read. */
enum { PROCESS_STATE = 1, PROCESS_IO = 2 };
bool process_look(struct process *p, unsigned what);

/* Reads at most n - 1 bytes of a file of /proc, and appends a NUL. Returns their number; 0: no such file, or no
 * permission. */
size_t process_read(const char *path, char *to, size_t n);

/* Reads the pids of all processes into an array (owned by the caller) of capacity *cap. Returns their number; -1: /proc
 * cannot be read. */
ptrdiff_t process_list(pid_t **pids, size_t *cap, struct err *e);

/* Reads its links. Recognizes only FIFOs whose names are among `fifos`, because stat(2) on a name may take long; `all`:
 * stats all, and adds the names of FIFOs found. -1: out of memory. */
int process_links(struct process *p, struct option_words *fifos, bool all, struct err *e);

/* Reads at most `max` of the regular files that process_links found, each once. Skips empty files, and files that are
 * also its standard error or that its parent holds. Returns their number. */
size_t process_files(const struct process *p, struct process_file *files, size_t max);

/* Reads the progress that the program publishes (base/cli/progress.h), found by process_links; `doing` may be empty.
 * False: none. */
bool process_progress(const struct process *p, struct progress_page *page);

/* Its command line, with blanks between the words, no directories in the first, and cut to fit. If a script has become
 * the program, the words of the script are in the environment, after the pid, because children inherit the variable. */
#define PROCESS_COMMAND "BPE_COMMAND"
void process_command(pid_t pid, char *to, size_t n);

#endif
