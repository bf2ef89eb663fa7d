/* tap.h - writes the Test Anything Protocol (TAP) for unit tests. */
#ifndef BPE_TESTS_TAP_H
#define BPE_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_n, tap_failed;

/* Reports one test; the name (printf style) describes the behaviour. Returns ok. */
__attribute__((format(printf, 2, 3), unused)) static int tap_ok(int ok, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%sok %d - ", ok ? "" : "not ", ++tap_n);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
    tap_failed += !ok;
    return ok;
}

/* Prints a comment line, which is not a test. */
__attribute__((format(printf, 1, 2), unused)) static void tap_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("# ", stdout);
    vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

/* Prints the plan; returns the exit status for main. */
static int tap_done(void)
{
    printf("1..%d\n", tap_n);
    return tap_failed ? 1 : 0;
}

#endif
