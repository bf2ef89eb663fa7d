/* dispatch.h - distributes records to long-running workers (bpe-encode -f turns), which write their results in the
 * order of the records. Also distributes texts to workers that each read their own; results follow the order of the
 * texts.
 *
 * All workers share an output. Each has a pipe for records and a socket on which it is told when it may write the
 * results of its next record, and on which it reports its progress (encode/id_writer.h). So results pass through no
 * other process; only the turn is passed around. The least busy worker gets the next record. Results ahead of their
 * turn wait in their worker's memory. This memory is bounded: no record is given while `ahead` bytes of text or more
 * have been given and not yet written.
 *
 * Text by value goes from its source's pipe to a worker's pipe without being copied (splice(2)).
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
 * A worker's own texts come from a process that reports when each was read to its end; until then the next text has no
 * turn. So after a failure, all results before it are written, and none after it.
 */
#ifndef BPE_DRIVER_DISPATCH_H
#define BPE_DRIVER_DISPATCH_H

#include "driver/job.h"

#include <stdint.h>

enum { DISPATCH_MAX = 8 }; /* unfinished records that a worker may have */

struct dispatch_worker {
    struct job_process *process; /* NULL: not started yet; borrowed from the job */
    int to, turns;               /* the pipe, and the socket; -1: closed, or ended */
    struct buf left;             /* left.p[written ..]: records that its pipe had no room for */
    size_t written;
    uint64_t owed;     /* bytes of text in the records it has not yet encoded */
    unsigned first, n; /* these records: text[first], ..., a ring */
    uint64_t text[DISPATCH_MAX];
    uint64_t n_given, n_written; /* records given; those whose results are all written */
    bool alone;                  /* it reads its own texts: */
    int status;                  /* a pipe with one byte for each text that was read to its end; -1: closed */
    uint64_t n_complete;         /* texts read to their end */
    bool failed;                 /* it reported a failure, or ended too early; earlier results may still be written */
    bool at_end;                 /* it has written everything before its failure, or has ended */
};

struct dispatch_unit { /* a record whose results are not all written */
    struct dispatch_worker *worker;
    uint64_t text;   /* bytes of its text */
    uint64_t source; /* the source of the text, for the caller */
    bool by_value;
    uint64_t number; /* of this record among those of its worker, from 0 */
    bool told;       /* its worker was told that it may write */
};

struct dispatch {
    struct job *job;          /* borrowed, as are words and writes */
    const char *const *words; /* a worker's command line; NULL after the last */
    int out;                  /* the output */
    const char *writes;       /* the output's name (struct job_start) */
    int stage;
    uint64_t ahead;
    /* Set by these functions: */
    struct dispatch_worker *worker; /* owned */
    size_t n_workers, n_started;
    struct pollfd *fds; /* owned, for dispatch_move */
    struct dispatch_unit *unit;
    size_t first, n_units, cap_units;     /* in order: unit[first .. n_units) */
    uint64_t in_row;                      /* bytes of text in the last units, all of one worker */
    uint64_t n_written_units;             /* units whose results are written */
    uint64_t given, done;                 /* bytes of text: given to workers; with results written */
    bool ended;                           /* no more records will come */
    bool stopped;                         /* a worker failed: nothing more is given */
    const struct dispatch_worker *failed; /* the first in order that failed: everything before it is written */
    struct dispatch_unit failed_unit;     /* and its unit; worker NULL: it was given none */
    /* A record being passed from `source` to a worker, with `to_come` bytes still to come. */
    struct dispatch_worker *passing;
    int source;
    size_t to_come;
    bool cut; /* the source ended inside a record */
};

/* Prepares n workers. `at_once` of them start now, the others when there is work for them. */
int dispatch_open(struct dispatch *d, size_t n, size_t at_once, struct err *e);
void dispatch_free(struct dispatch *d); /* zeroed is fine */

/* Whether a record can be given now. */
bool dispatch_has_room(const struct dispatch *d);

/* Gives a record (copied) to a worker. u: everything about it except the worker. */
int dispatch_give(struct dispatch *d, const void *record, size_t n, struct dispatch_unit u, struct err *e);

/* Announces that the next results in order are those of a text that only worker i reads; at most DISPATCH_MAX per
 * worker. */
int dispatch_expect(struct dispatch *d, size_t i, struct err *e);

/* Starts the next worker; workers are started in the order of their numbers. It reads its n texts from descriptors
 * JOB_FIRST_MORE and up, which are copies of `in`; `in` stays open here. status: see struct dispatch_worker; taken.
 * NULL: as job_start. */
struct dispatch_worker *dispatch_follow(struct dispatch *d, const int *in, size_t n, int status, struct err *e);

/* The number, from 0, of the text at which a worker or its input failed; UINT64_MAX: neither did. */
uint64_t dispatch_failed_at(const struct dispatch_worker *w);

/* Gives the first n bytes of a record; the remaining `more` bytes follow from a nonblocking pipe. */
int dispatch_pass(struct dispatch *d, const void *record, size_t n, int from, size_t more, struct dispatch_unit u,
                  struct err *e);

/* Announces that no more records come: workers that have finished theirs end. */
void dispatch_end(struct dispatch *d);

/* Whether a worker may still write or may still start; false once a failure has its turn. */
bool dispatch_is_open(const struct dispatch *d);

/* Waits until data can be moved, `in` (-1: none) is readable, or the time is over; then moves all that can be moved.
 * -1: out of memory. */
int dispatch_move(struct dispatch *d, int in, int milliseconds, struct err *e);

#endif
