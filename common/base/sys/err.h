/* err.h - an error, passed up to the program, which prints it.
 *
 * Library code never prints and never exits. A function that can fail takes a `struct err *`, fills it and returns -1
 * (or NULL); the program prints `NAME: text` (err_text) once and exits with `code`, one of sysexits.h:
 *
 *   EX_USAGE 64 usage error       EX_DATAERR 65 bad input data     EX_NOINPUT 66 input missing or unreadable
 *   EX_SOFTWARE 70 our own bug    EX_OSERR 71 memory, fork          EX_CANTCREAT 73 output cannot be created
 *   EX_IOERR 74 input or output error                               EX_TEMPFAIL 75 incomplete: run the rest
 */
#ifndef BPE_BASE_SYS_ERR_H
#define BPE_BASE_SYS_ERR_H

#include <stddef.h>
#include <stdint.h>
#include <sysexits.h>

#define ERR_NO_OFFSET UINT64_MAX

struct err {
    int code;        /* exit status; 0 as long as nothing has failed */
    char input[512]; /* the input, as messages name it (truncated to fit); empty: not known yet, or none is involved */
    uint64_t offset; /* byte offset in the input, from 0; or ERR_NO_OFFSET */
    uint64_t line;   /* or line number, from 1; 0: unknown */
    char msg[2000];  /* one line, no newline: what was found, what to do */
};

/* Fills *e, without input and position. The message is truncated to fit, and control characters in it become \xHH, so
 * that it is always one line. Always returns -1, so that `return err_set(e, ...)` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Like err_set, with the input and the offset, which may be ERR_NO_OFFSET. */
int err_at(struct err *e, int code, const char *input, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Like err_set, followed by `: strerror(errnum)`. */
int err_sys(struct err *e, int code, int errnum, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Out of memory: "cannot allocate N bytes for the count table", where `what` is "the count table". Returns -1. */
int err_mem(struct err *e, const char *what, unsigned long long bytes);

/* Appends "; " and what to do to the message, if it fits; the position is kept. Returns -1. */
int err_add(struct err *e, const char *what_to_do);

/* Sets the input and position of an error, unless they are set already: the function closest to the error sets them
 * first, because it knows them best. offset may be ERR_NO_OFFSET. Returns -1. */
int err_place(struct err *e, const char *input, uint64_t offset);
int err_place_line(struct err *e, const char *input, uint64_t line);

/* Writes the whole message, beginning with the input and position: "a.txt: byte 7: ...". Returns `to`. */
enum { ERR_TEXT = 2600 };
const char *err_text(const struct err *e, char to[ERR_TEXT]);

#endif
