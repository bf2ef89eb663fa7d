/* dispatch.h - records to processes that stay (bpe-encode -f turns), which write their results in the order of the
 * records. Or texts to processes of their own, the same in the order of the texts.
 *
 * All workers share an output; each has a pipe for records, and a socket by which it is told when it may write the
 * results of its next record, and says how far it is (encode/id_writer.h). So results go through no other process, and
 * only the turn is passed around. Records go to whoever has least to do. What is ahead of its turn waits in the memory
 * of its worker, which is bounded because no record is given while more than `ahead` bytes of text are.
 *
 * Text by value goes from the pipe of its source into that of a worker without being copied (splice(2)).
 *
 *     dispatch_open(...);
 *     while (dispatch_is_open(&d)) {
 *         while (... && dispatch_has_room(&d))
 *             dispatch_give(&d, ...);
 *         if (no record is left)
 *             dispatch_end(&d);
 *         dispatch_move(&d, ...);
 *     }
 *
 * Texts that only one worker reads come from a process that says of each when it was read to its end; until then the
 * next has no turn. So after a failure, all results before it are written, and nothing that comes after it.
 */
#ifndef BPE_DRIVER_DISPATCH_H
#define BPE_DRIVER_DISPATCH_H

#include "driver/job.h"

#include <stdint.h>

enum { DISPATCH_MAX = 8 }; /* records that a worker may have and not have finished */

struct dispatch_worker {
    struct job_process *process; /* NULL: not started yet; borrowed from the job */
    int to, turns;               /* the pipe, and the socket; -1: closed, or ended */
    struct buf left;             /* left.p[written ..]: records that its pipe had no room for */
    size_t written;
    uint64_t owed;     /* bytes of text of the records that it has not encoded */
    unsigned first, n; /* which these are: text[first], ..., a ring */
    uint64_t text[DISPATCH_MAX];
    uint64_t n_given, n_written; /* records; the latter are those whose results are all written */
    bool alone;                  /* it reads texts that only it has: */
    int status;          /* the pipe in which there is a byte for each text that was read to its end; -1: closed */
    uint64_t n_complete; /* such texts */
    bool failed;         /* it has said so, or has ended too early; results before that may still be written */
    bool at_end;         /* it has written all up to where it has failed, or has ended */
};

struct dispatch_unit { /* a record whose results are not all written */
    struct dispatch_worker *worker;
    uint64_t text;   /* bytes of its text */
    uint64_t source; /* where that is from, for the caller */
    bool by_value;
    uint64_t number; /* of this record among those of its worker, from 0 */
    bool told;       /* its worker knows that it is its turn */
};

struct dispatch {
    struct job *job;          /* borrowed, as all that follows */
    const char *const *words; /* of a worker's command line; NULL after the last */
    int out;                  /* the output */
    const char *writes;       /* its name (struct job_start) */
    int stage;
    uint64_t ahead;
    /* Set by these functions: */
    struct dispatch_worker *worker; /* owned */
    size_t n_workers, n_started;
    struct pollfd *fds; /* owned, for dispatch_move */
    struct dispatch_unit *unit;
    size_t first, n_units, cap_units;     /* those in order: unit[first .. n_units) */
    uint64_t in_row;                      /* bytes of text: of the last units, which one worker has */
    uint64_t n_written_units;             /* units whose results are written */
    uint64_t given, done;                 /* bytes of text: in units; of those whose results are written */
    bool ended;                           /* no record comes any more */
    bool stopped;                         /* one has failed: no more is given */
    const struct dispatch_worker *failed; /* the one that failed first in order: all before it is written */
    struct dispatch_unit failed_unit;     /* and what it had; worker NULL: nothing was given to it */
    /* A record that goes from `source` to a worker: so many bytes of it are to come. */
    struct dispatch_worker *passing;
    int source;
    size_t to_come;
    bool cut; /* the source has ended inside a record */
};

/* Prepares n workers, of which `at_once` begin now, and others when there is work for them. */
int dispatch_open(struct dispatch *d, size_t n, size_t at_once, struct err *e);
void dispatch_free(struct dispatch *d); /* zeroed is fine */

/* Whether a record can be given now. */
bool dispatch_has_room(const struct dispatch *d);

/* Gives a record (copied), of which u says all but the worker. */
int dispatch_give(struct dispatch *d, const void *record, size_t n, struct dispatch_unit u, struct err *e);

/* Says that the next results in order are those of a text that only the ith worker reads: of DISPATCH_MAX at most. */
int dispatch_expect(struct dispatch *d, size_t i, struct err *e);

/* Starts the next worker, the ith if i were started before, which reads its n texts from descriptors JOB_FIRST_MORE and
 * so on: those of `in`, which stay open here. status: see there; it is owned here from now on. NULL: as job_start. */
struct dispatch_worker *dispatch_follow(struct dispatch *d, const int *in, size_t n, int status, struct err *e);

/* The number, from 0, of the text at which a worker, or what it reads from, has failed; UINT64_MAX: none has. */
uint64_t dispatch_failed_at(const struct dispatch_worker *w);

/* Gives the n bytes of a record's beginning; `more` bytes follow from a pipe that does not block. */
int dispatch_pass(struct dispatch *d, const void *record, size_t n, int from, size_t more, struct dispatch_unit u,
                  struct err *e);

/* No more is given: workers that have done all end. */
void dispatch_end(struct dispatch *d);

/* Whether a worker, if any has begun, may still write; not after a failure has come to its turn. */
bool dispatch_is_open(const struct dispatch *d);

/* Waits until something can be moved, or `in` (-1: none) can be read, or so many milliseconds, and moves all that can
 * be. -1: out of memory. */
int dispatch_move(struct dispatch *d, int in, int milliseconds, struct err *e);

#endif
