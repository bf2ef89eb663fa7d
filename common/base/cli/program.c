/* program.c - see program.h. */
#include "base/cli/program.h"

#include "base/io/fd.h"
#include "base/sys/memory.h"
#include "base/sys/simd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const char *name, const char *msg)
{
    static char line[ERR_TEXT + 100];
    int n = snprintf(line, sizeof line, "%s: %s\n", name, msg);
    if (n >= (int)sizeof line) {
        n = (int)sizeof line - 1;
        line[n - 1] = '\n';
    }
    if (write(2, line, (size_t)n) < 0) {
        /* A failed write to standard error cannot be reported anywhere. */
    }
}

void program_note(const char *name, const char *fmt, ...)
{
    char msg[2000];
    struct err clean;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    err_set(&clean, 0, "%s", msg); /* escapes control characters, which names of files and fields may contain */
    say(name, clean.msg);
}

int program_no_terminal(const char *hint, struct err *e)
{
    return isatty(1) ? err_set(e, EX_USAGE, "standard output is a terminal; %s", hint) : 0;
}

/* ---- Help and version ---- */

int program_put_version(struct buf *out, const char *name, program_versions *scanner, program_versions *codecs,
                        struct err *e)
{
    char text[200];
    if (simd_prepare(e) || buf_printf(out, e, "%s %s", name, BPE_VERSION) ||
        (scanner && buf_printf(out, e, " (%s)", scanner(text, sizeof text))) || buf_put_byte(out, '\n', e) ||
        (codecs && buf_printf(out, e, "%s; ", codecs(text, sizeof text))) ||
        buf_printf(out, e, "vector instructions: %s\n", simd_name(simd_level())))
        return -1;
    return 0;
}

static int print_help(const struct program *p, bool version, struct err *e)
{
    struct buf out = {0};
    int rc = (version ? program_put_version(&out, p->usage->name, p->scanner, p->codecs, e)
                      : usage_put_help(&out, p->usage, e)) ||
             fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e);
    buf_free(&out);
    return rc ? -1 : 0;
}

/* ---- Running ---- */

/* The stack that the deepest calls need: PCRE2 compiling a regex of 200 nested parentheses, which 100 levels in the
 * user's regex expand to. */
enum { STACK = 224 << 10 };

static int check_stack(struct err *e)
{
    uint64_t left = memory_stack_left();
    return left >= STACK
               ? 0
               : err_set(e, EX_OSERR, "only %llu KiB of stack are left, but %d are needed; raise the limit (ulimit -s)",
                         (unsigned long long)left >> 10, STACK >> 10);
}

static int prepare(const struct program *p, int argc, char **argv, int first, struct err *e)
{
    usage_set_files(p->usage, p->options, argv + first, argc - first);
    if ((p->usage->check && p->usage->check(p->options, e)) ||
        (p->writes_records && program_no_terminal(PROGRAM_FOR_RECORDS, e)))
        return -1;
    return simd_prepare(e);
}

int program_main(const struct program *p, int argc, char **argv)
{
    static struct err e; /* static, because check_stack may find the stack too small */
    static char text[ERR_TEXT];
    int first, status = -1;
    bool silent = false, ran = false; /* silent: do not call send_failure */
    const struct option_set set = {.rows = p->usage->options, .to = p->options};
    fd_prepare();
    if (p->usage->init)
        p->usage->init(p->options);
    switch (check_stack(&e) ? OPTIONS_WRONG : options_parse(&set, 1, argc, argv, &first, &e)) {
    case OPTIONS_WRONG:
        break;
    case OPTIONS_RUN:
        silent = fd_keep_apart(NULL, argv + first, (size_t)(argc - first), &e) !=
                 0; /* sending the failure would corrupt an input */
        ran = !silent && prepare(p, argc, argv, first, &e) == 0;
        status = ran ? p->run(p->ctx, &e) : -1;
        break;
    case OPTIONS_HELP:
        silent = true;
        status = print_help(p, false, &e);
        break;
    case OPTIONS_VERSION:
        silent = true;
        status = print_help(p, true, &e);
        break;
    }
    if (status < 0) {
        if (p->send_failure && !silent && !isatty(1))
            p->send_failure(p->ctx, &e);
        say(p->usage->name, err_text(&e, text));
        status = e.code;
    }
    if (ran && p->free)
        p->free(p->ctx);
    options_free(p->usage->options, p->options);
    return status;
}
