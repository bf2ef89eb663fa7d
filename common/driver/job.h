/* job.h - the processes that a bpe command starts: starting them, reading their messages, ending them.
 *
 * They start as in a shell pipeline: with fork and exec, connected by the kernel, in the caller's process group, so
 * that Ctrl-C and job control reach all of them. In addition:
 *
 * - No process outlives the command. A signal that ends the command ends them first. If it is killed (SIGKILL), the
 *   system sends each of them SIGTERM (PR_SET_PDEATHSIG). A user's command, or a tool such as xargs, starts further
 *   processes, which that signal does not reach. So it gets a keeper, a process of ours between it and the command. The
 *   keeper can end all its descendants that have not left with setsid(2) (SIGHUP, then SIGTERM, finally SIGKILL). Those
 *   that have left, or run on another host, see the end of their pipes.
 * - A program's standard error is read here. Its last line is held back until the outcome is known: if the job fails,
 *   one line explains why (job_outcome); all other lines are passed on.
 */
#ifndef BPE_DRIVER_JOB_H
#define BPE_DRIVER_JOB_H

#include "base/sys/buf.h"
#include "base/sys/err.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct job_process {
    const char *name; /* of the program; borrowed */
    int stage;        /* its position in the pipeline: upstream processes have smaller numbers */
    int group;        /* which of several pipelines; 0 if there is only one */
    pid_t pid;
    const char *writes, *remedy; /* see struct job_start */
    bool foreign;
    bool ended;
    int status;     /* when it has ended: its exit status, or 128 plus the number of the signal that ended it */
    bool dismissed; /* ended by job_end: its status means nothing */
    bool spoke;     /* its last line was passed on, because it did not end soon after */
    size_t ended_at, dismissed_at; /* sequence numbers of these events */
    int said;                      /* the read end of its standard error; -1: none, or closed */
    double cpu;                    /* when it has ended: seconds of CPU time, */
    uint64_t memory;               /* and its peak memory in bytes: at least this process's at the start */
    uint64_t read;                 /* bytes of files read, as last seen by watch.h */
    struct buf text;               /* messages not yet passed on: at most the last line, and that only for a while */
    double heard_at;               /* seconds; when the last of it arrived */
};

struct job {
    const char *command;     /* begins the driver's messages: "bpe train"; borrowed */
    struct job_process **at; /* owned */
    size_t n, cap;
    uint64_t read;     /* by forgotten processes */
    size_t events;     /* ends and dismissals so far */
    bool last_decides; /* if the last stage succeeds, the job does: it is told of every earlier failure */
    bool to_file;      /* the last stage writes its own file: it does not matter who reads standard output */
    bool holds;        /* messages are kept until job_say_all or job_forget, which order them differently */
    void (*at_end)(void *ctx, struct job_process *p); /* called at a process's end, while it is in /proc; or NULL */
    int (*how_far)(void *ctx, char *to, size_t n);    /* formats the command's progress, as snprintf does; or NULL */
    void *ctx;                                        /* argument of these two */
    /* Called by job_wait; returns the milliseconds until the next call, -1: any time. NULL: not called. */
    int (*tick)(void *ctx);
    void *tick_ctx;
    bool shows_blocks; /* on a terminal, blocks take the place of the progress line */
};

/* The environment variable by which a caller asks a command to end when the caller ends, even by SIGKILL: the caller's
 * process id. (For the system, the caller is the thread that started the command.) */
#define JOB_PARENT "BPE_PARENT"

/* Call first. From now on, a signal that ends this process ends the job's processes first. There is one job at a time.
 * SIGUSR1 is kept for job_was_asked; the processes ignore it, because a shell sends it to all processes of a job. */
int job_init(struct job *j, const char *command, struct err *e);

/* Whether SIGUSR1 has come since the last call. */
bool job_was_asked(void);

/* From now on, writing to a pipe without a reader fails with an error instead of SIGPIPE in this process. Unlike
 * SIG_IGN, this is not inherited by programs that are started. */
void job_ignore_sigpipe(void);

/* Sets a function that a signal calls after it has ended the processes; it must be safe in a signal handler. */
void job_at_signal(void (*then)(void));

/* Ends running processes (job_end), and releases everything. */
void job_free(struct job *j);

enum { JOB_FIRST_MORE = 4, JOB_MORE = 8 };

struct job_start {
    const char *const *argv;    /* ends with NULL; argv[0] is looked up on PATH */
    int in, out;                /* its standard input and output; they stay open here; -1: /dev/null */
    int also;                   /* its descriptor 3, if this is larger than 2 */
    int n_more, more[JOB_MORE]; /* its descriptors from JOB_FIRST_MORE up; they stay open here */
    int stage, group;
    const char *dir;    /* the directory in which it runs; NULL: the caller's */
    const char *name;   /* for messages; NULL: argv[0]. Borrowed until the process is forgotten */
    const char *writes; /* the name of its standard output: "out.bin"; NULL: unnamed. Borrowed, as is `remedy` */
    const char *remedy; /* what to do if that cannot be written, added to the message; NULL: nothing */
    bool foreign;       /* it may start further processes, and writes to the user's standard error */
    bool heard;         /* a foreign one's messages are read here after all, and held if the job holds messages */
    /* A foreign one: it gets its own session, so that signals to the process group do not reach it; it is ended by
     * SIGKILL, because on other signals it prints much, and waits. */
    bool apart;
};

/* Starts a process. NULL with EX_OSERR, or with 127: no such program. The process is owned by the job. */
struct job_process *job_start(struct job *j, const struct job_start *s, struct err *e);

/* Checks that a program is on PATH. -1 with 127: "NAME is not installed, or not on PATH". */
int job_need(const char *program, struct err *e);

/* A pipe of up to 1 MiB, both ends closed on exec. -1 with EX_OSERR. */
int job_pipe(int ends[2], struct err *e);

/* An unnamed file with these bytes, positioned at its start; closed on exec. -1 with EX_OSERR. */
int job_file(const void *p, size_t n, struct err *e);

/* A pair of sockets that deals out records: processes that share ends[0] as standard input read what bpe-chunk writes
 * to ends[1]; each message goes to the first that asks. The programs detect such a socket: fd_write (base/io/fd.c)
 * sends a record as one message, or as a file if it is too long (base/io/packet.h); input.c takes one message at a
 * time. -1 with EX_OSERR. */
int job_socket(int ends[2], struct err *e);

/* Closes *fd unless it is -1, and sets it to -1; the same for both ends of a pipe or pair of sockets. */
void job_close(int *fd);
void job_close_both(int ends[2]);

/* Waits until one of fds is ready (poll(2); sets revents), a process has ended, or so many milliseconds have passed
 * (-1: no limit; returns immediately if no process runs and n is 0). Reads messages meanwhile. Returns how many of fds
 * are ready. */
int job_wait(struct job *j, struct pollfd *fds, size_t n, int milliseconds);

/* Waits until all processes, or this one, have ended. */
void job_wait_all(struct job *j);
void job_wait_for(struct job *j, const struct job_process *p);

size_t job_running(const struct job *j); /* how many still run */

/* Ends all running processes, and waits for them. Their status no longer counts. */
void job_end(struct job *j);

/* The same for processes of this stage and later ones. */
void job_end_from(struct job *j, int stage);

/* Passes on all messages held back. */
void job_say_all(struct job *j);

/* Passes on the messages of a group's stages before this one, which itself only repeats what it was told. */
void job_say_before(struct job *j, int group, int stage);

/* Forgets the processes, which must all have ended, and their messages, for another round. */
void job_forget(struct job *j);
void job_forget_group(struct job *j, int group); /* only those of one pipeline */

/* After all have ended: returns the exit status of the whole job. Unless it is 0 or 141, appends the line that explains
 * it to *line, without a newline:
 * - the message of the program furthest upstream that failed on its own, because those after it only saw the
 *   consequence; if several of one stage failed, the message of the last stage, which knows which failure comes first
 *   in the corpus;
 * - but 75 if a process was killed and only processes downstream of it failed, because its output may end anywhere.
 *   SIGPIPE does not count as a kill if its reader has failed;
 * - else the status of a foreign process, if it is one that bpe(7) lists (below 64 it counts failed jobs);
 * - else the message of the first process that misses input (75), and the status of a foreign one that failed. 141: the
 *   user's output, to which the last stage writes, has no reader any more (no message). */
int job_outcome(const struct job *j, struct buf *line, struct err *e);

/* The same for one of several pipelines; all its processes must have ended. */
int job_outcome_of(const struct job *j, int group, struct buf *line, struct err *e);

/* Appends to *line why a process failed: its last message. It must have ended. Returns its status; -1: out of memory.
 */
int job_tell(const struct job *j, const struct job_process *p, struct buf *line, struct err *e);

/* After job_outcome: prints the line, if any; if none failed (status 0), passes on the messages held back. */
void job_report(struct job *j, int status, struct buf *line);

/* job_outcome, with the line printed; all other lines are dropped. If none failed, passes on the messages held back. */
int job_result(struct job *j);

/* Whether it was killed by a signal other than SIGPIPE. */
bool job_was_killed(const struct job_process *p);

/* Shows a progress line on the terminal, or a block of lines that each end with a newline; it replaces the previous
 * one. NULL clears it, as do a message and a signal that ends this process. */
void job_show(const char *line);

/* Prints one line on standard error, prefixed with `from` unless that is NULL. An empty line, as job_tell makes for a
 * process whose last line was already passed on, is not printed. */
void job_print(const char *from, const char *line);

/* Whether fd is a pipe or a socket: its reader may leave, and then no message is needed. */
bool job_may_be_unread(int fd);

#endif
