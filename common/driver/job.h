/* job.h - the processes that a command of bpe starts: how they begin, what they say, how they end.
 *
 * They are what a shell would start for the same pipeline: fork and exec, connected by the kernel, in the process group
 * of the caller, so that Ctrl-C and job control reach all of them. Beyond that:
 *
 * - No process outlives the command. A signal that ends the command ends them first. If it is killed (SIGKILL), the
 *   system sends each of them SIGTERM (PR_SET_PDEATHSIG). A command of the user's, and a tool such as xargs, starts
 *   processes of its own, which no such signal reaches: it has a keeper, a process of ours between it and the command.
 *   As long as the command runs, the keeper can end all its descendants that have not left with setsid(2) (SIGHUP, then
 *   SIGTERM, at last SIGKILL). What has, or runs on another host, sees the end of its pipes.
 * - What a program writes to standard error is read here. Its last line is held until more is known: if the job fails,
 *   one line says why (job_outcome); all other lines are passed on.
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
    int stage;        /* its place in the pipeline: what feeds it has a smaller number */
    int group;        /* of several pipelines, which one; 0 if there is one */
    pid_t pid;
    const char *writes, *remedy; /* see struct job_start */
    bool foreign;
    bool ended;
    int status;     /* when it has ended: its exit status, or 128 and the number of the signal that ended it */
    bool dismissed; /* ended by job_end: its status says nothing */
    bool spoke;     /* a last line was passed on, as the process took long to end after it */
    size_t ended_at, dismissed_at; /* in the order of such events */
    int said;                      /* the read end of its standard error; -1: none, or it has ended */
    double cpu;                    /* when it has ended: seconds of CPU time, */
    uint64_t memory; /* and the most memory that it had, in bytes: at least this process's, when it began */
    uint64_t read;   /* bytes of files, as watch.h last saw it */
    struct buf text; /* what it said and was not passed on: at most its last line, if it was long ago */
    double heard_at; /* seconds, of the last of it */
};

struct job {
    const char *command;     /* messages of the driver begin with it: "bpe train"; borrowed */
    struct job_process **at; /* owned */
    size_t n, cap;
    uint64_t read;     /* by processes that were forgotten */
    size_t events;     /* ends and dismissals so far */
    bool last_decides; /* if the last stage ends well, all is well: it has been told of every failure before it */
    bool to_file;      /* the last stage's output is a file of its own: who reads standard output is of no matter */
    bool holds;        /* messages are kept until job_say_all or job_forget: their order is another one */
    void (*at_end)(void *ctx,
                   struct job_process *p);         /* called when one has ended, while /proc still knows it; or NULL */
    int (*how_far)(void *ctx, char *to, size_t n); /* writes how far the command is, as snprintf does; or NULL */
    void *ctx;                                     /* of these two */
    /* Called by job_wait; returns the milliseconds until it is to be called again, -1: any time. NULL: not called. */
    int (*tick)(void *ctx);
    void *tick_ctx;
    bool shows_blocks; /* on a terminal the place for a line of progress is taken */
};

/* The environment variable by which whoever starts a command asks that it ends when the caller does, even by SIGKILL:
 * the id of that process. (To the system, that is the thread which started the command.) */
#define JOB_PARENT "BPE_PARENT"

/* Call first. From now on signals that end this process end the job's processes before. There is one job at a time.
 * SIGUSR1 is kept for job_was_asked; the processes ignore it, as a shell sends it to all of a job. */
int job_init(struct job *j, const char *command, struct err *e);

/* Whether SIGUSR1 has come since the last call. */
bool job_was_asked(void);

/* From now on a pipe that nobody reads is an error of write(2) here, for a process that writes to those of others.
 * Unlike with SIG_IGN, a program that is started begins without that. */
void job_ignore_sigpipe(void);

/* What a signal does after it has ended the processes; only what is safe in a signal handler. */
void job_at_signal(void (*then)(void));

/* Ends what still runs (job_end), and releases all. */
void job_free(struct job *j);

enum { JOB_FIRST_MORE = 4, JOB_MORE = 8 };

struct job_start {
    const char *const *argv;    /* ends with NULL; argv[0] is looked for on PATH */
    int in, out;                /* become its standard input and output, and stay open here; -1: /dev/null */
    int also;                   /* becomes its descriptor 3, if it is larger than 2 */
    int n_more, more[JOB_MORE]; /* become those from JOB_FIRST_MORE on; they stay open here */
    int stage, group;
    const char *dir;    /* the directory in which it runs; NULL: the caller's */
    const char *name;   /* for messages; NULL: argv[0]. Borrowed as long as the process is known */
    const char *writes; /* what its standard output is: "out.bin"; NULL: not to be named. Borrowed, as is `remedy` */
    const char *remedy; /* what to do if it cannot be written to, added to the message; NULL: nothing */
    bool foreign;       /* it may start processes of its own, and says what it wants to the user's standard error */
    bool heard;         /* what a foreign one says is read here after all, and is not passed on if the job holds it */
    bool apart; /* a foreign one: it is in a session of its own, so that no signal reaches it that is sent to all,
                           and is ended by SIGKILL, as it would say much of another, and wait */
};

/* Starts a process. NULL with EX_OSERR; 127: there is no such program. The process is owned by the job. */
struct job_process *job_start(struct job *j, const struct job_start *s, struct err *e);

/* Whether a program is on PATH. -1 with 127: "NAME is not installed, or not on PATH". */
int job_need(const char *program, struct err *e);

/* A pipe, both ends closed on exec, as wide as it may be. -1 with EX_OSERR. */
int job_pipe(int ends[2], struct err *e);

/* A file without a name that has these bytes, to be read from its start; closed on exec. -1 with EX_OSERR. */
int job_file(const void *p, size_t n, struct err *e);

/* A pair of sockets by which records are dealt: what bpe-chunk writes to ends[1] is read by processes that share
 * ends[0] as standard input, each message by the one that asks first. The programs see by themselves that it is such a
 * socket: fd_write (base/io/fd.c) sends a record as one message, or if it is too long, a file (base/io/packet.h);
 * input.c takes one message at a time. -1 with EX_OSERR. */
int job_socket(int ends[2], struct err *e);

/* Closes *fd unless it is -1, and makes it -1; both ends of a pipe or pair of sockets. */
void job_close(int *fd);
void job_close_both(int ends[2]);

/* Waits until one of fds is ready (poll(2): revents are set), a process has ended, or so many milliseconds have passed
 * (-1: without end; at once if no process runs and n is 0). Returns how many of fds are ready. Messages are read
 * meanwhile. */
int job_wait(struct job *j, struct pollfd *fds, size_t n, int milliseconds);

/* Waits until all, or this process, have ended. */
void job_wait_all(struct job *j);
void job_wait_for(struct job *j, const struct job_process *p);

size_t job_running(const struct job *j); /* how many have not ended */

/* Ends all that run, and waits for that. Their status counts no longer. */
void job_end(struct job *j);

/* The same for those of this stage and after it. */
void job_end_from(struct job *j, int stage);

/* Passes on all that was said and is held. */
void job_say_all(struct job *j);

/* Passes on what those of a group have said whose stage is before this one, which repeats what it has been told. */
void job_say_before(struct job *j, int group, int stage);

/* Forgets the processes, all of which must have ended, and what they have said: for another round. */
void job_forget(struct job *j);
void job_forget_group(struct job *j, int group); /* those of one pipeline */

/* After all have ended: the exit status of the whole, and unless it is 0 or 141, the line that says why, appended to
 * *line without a newline:
 * - what a program said that failed by itself: the one furthest upstream, as those after it only saw the consequence;
 *   among several of one stage, what the last stage says, which knows which failure comes first in the corpus;
 * - but 75, if one was killed, and none failed that is not after it, as what it wrote may end anywhere. SIGPIPE is no
 *   kill where what reads from it has failed;
 * - else the status of a foreign one, if it is one of those of bpe(7) (below 64 it counts the jobs that failed);
 * - else what the first of those says that miss something (75), and the status of a foreign one that has failed.
 * 141: the last stage writes to the user's output, which nobody reads any more (quiet). */
int job_outcome(const struct job *j, struct buf *line, struct err *e);

/* The same of one pipeline of several, all of whose processes have ended. */
int job_outcome_of(const struct job *j, int group, struct buf *line, struct err *e);

/* Appends to *line why a process failed that has ended: the last line that it said. Returns its status; -1: no memory.
 */
int job_tell(const struct job *j, const struct job_process *p, struct buf *line, struct err *e);

/* After job_outcome: prints the line, if there is one; passes on what is held, if none has failed (status 0). */
void job_report(struct job *j, int status, struct buf *line);

/* job_outcome, with the line printed; all other lines are dropped. If none has failed, what is held is passed on. */
int job_result(struct job *j);

/* Whether it was killed by a signal, but for SIGPIPE. */
bool job_was_killed(const struct job_process *p);

/* Shows a line of progress on the terminal, or a block of lines that each end with a newline, in place of the one
 * before; NULL: clears that. So does a message, and a signal that ends this process. */
void job_show(const char *line);

/* One line on standard error; from is put before it, unless it is NULL. An empty line, as job_tell gives of a process
 * that was heard before it ended, is not printed. */
void job_print(const char *from, const char *line);

/* Whether fd is a pipe or a socket: a reader may leave it, and then nothing needs to be said. */
bool job_may_be_unread(int fd);

#endif
