/* err.h - what went wrong, carried up to the program that prints it.
 *
 * Library code never prints and never exits. A function that can fail takes a `struct err *`, fills it and returns -1
 * (or NULL); the program prints `NAME: msg` once and exits with `code`, one of sysexits.h:
 *
 *   EX_USAGE 64 wrong use         EX_DATAERR 65 bad input data     EX_NOINPUT 66 input missing or unreadable
 *   EX_SOFTWARE 70 our own bug    EX_OSERR 71 memory, fork          EX_CANTCREAT 73 output cannot be created
 *   EX_IOERR 74 input or output error                               EX_TEMPFAIL 75 incomplete: run the missing part
 * again
 */
#ifndef BPE_SYS_ERR_H
#define BPE_SYS_ERR_H

#include <sysexits.h>

struct err {
    int code;       /* exit status, 0 as long as nothing failed */
    char msg[2000]; /* one line, no newline: input, place, what was found, what to do */
};

/* Fills *e (the message is cut to fit, and control characters in it are shown as \xHH so that it stays one line).
 * Always returns -1, so that `return err_set(e, ...)` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, followed by `: strerror(errnum)`. */
int err_sys(struct err *e, int code, int errnum, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Out of memory while doing `what` ("cannot get N bytes for the count table"). Returns -1. */
int err_mem(struct err *e, const char *what, unsigned long long bytes);

#endif
