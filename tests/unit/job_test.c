/* job_test.c - the processes of a command: how they are connected, what they print, which failure is reported, and that
 * no process is left, however the command dies. */
#include "../unit/tap.h"
#include "driver/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct job job;
static struct err e;

static void is(const char *got, const char *want, const char *name)
{
    if (!tap_ok(strcmp(got, want) == 0, "%s", name))
        tap_note("got %s, wanted %s", got, want);
}

static struct job_process *sh(const char *script, int in, int out, int stage, bool foreign)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    return job_start(
        &job, &(struct job_start){.argv = argv, .name = "sh", .in = in, .out = out, .stage = stage, .foreign = foreign},
        &e);
}

/* Runs scripts as a pipeline whose last one writes to /dev/null; "STATUS LINE" (its outcome and last line) must equal
 * want. */
static void pipeline_is(const char *const *scripts, const char *want, const char *name)
{
    int in = -1, ends[2] = {-1, -1};
    struct buf line = {0};
    char got[300];
    job_init(&job, "bpe test", &e);
    for (int i = 0; scripts[i]; i++) {
        bool last = !scripts[i + 1];
        if (!last && job_pipe(ends, &e))
            break;
        const char *script = scripts[i];
        bool foreign = *script == '!';
        sh(script + foreign, in, last ? -1 : ends[1], i, foreign);
        job_close(&in);
        job_close(&ends[1]);
        in = last ? -1 : ends[0];
    }
    job_wait_all(&job);
    int status = job_outcome(&job, &line, &e);
    snprintf(got, sizeof got, "%d %.*s", status, (int)line.len, line.p ? (const char *)line.p : "");
    is(got, want, name);
    buf_free(&line);
    job_free(&job);
}

#define PIPELINE(want, name, ...) pipeline_is((const char *const[]){__VA_ARGS__, NULL}, want, name)

static void outcomes(void)
{
    PIPELINE("0 ", "all succeed", "echo a", "cat", "read x && [ $x = a ]");
    PIPELINE("65 a: bad", "one fails, and a later one fails because of it", "echo a: bad >&2; exit 65",
             "cat >/dev/null; echo b: bad >&2; exit 65");
    PIPELINE("65 a: second", "the last of several lines", "echo a: first >&2; echo a: second >&2; exit 65");
    PIPELINE("65 up: cut off", "the failure furthest upstream", "echo up: cut off >&2; exit 65",
             "cat; echo down: invalid >&2; exit 65");
    PIPELINE("75 bpe test: sh was killed; run the same command again", "a process is killed", "kill -9 $$",
             "cat; echo b: nothing came >&2; exit 75");
    PIPELINE("65 b: bad", "SIGPIPE because the next process failed", "kill -PIPE $$", "echo b: bad >&2; exit 65");
    PIPELINE("75 bpe test: sh was killed; run the same command again", "SIGPIPE from elsewhere", "kill -PIPE $$",
             "cat");
    PIPELINE("75 b: nothing came", "a process fails without a message, the next one reports missing input", "exit 75",
             "echo b: nothing came >&2; exit 75");
    PIPELINE("75 b: nothing came; sh ended with status 1", "a foreign command fails with another status", "!exit 1",
             "echo b: nothing came >&2; exit 75");
    PIPELINE("64 bpe test: sh ended with status 64", "a foreign command fails with a status of sysexits", "!exit 64",
             "echo b: nothing came >&2; exit 75");
    PIPELINE("75 bpe test: sh was killed; run the same command again", "a foreign command is killed", "!kill -9 $$",
             "cat");
    PIPELINE("70 bpe test: sh ended with status 70", "a process fails without a message", "exit 70", "cat");
}

/* A killed process is reported as the reason, even if it has not been waited for when another failure makes the
 * command end all processes. */
static void killed_unnoticed(void)
{
    static const char *const reader[] = {"sh", "-c", "kill -KILL $$", NULL}, *const after[] = {"sh", "-c",
                                                                                               "echo bad >&2; exit 65",
                                                                                               NULL};
    struct job j = {.command = "test"};
    struct buf line = {0};
    tap_ok(job_init(&j, "test", &e) == 0 &&
               job_start(&j, &(struct job_start){.argv = reader, .in = -1, .out = -1}, &e) &&
               job_start(&j, &(struct job_start){.argv = after, .in = -1, .out = -1, .stage = 1}, &e),
           "two processes");
    siginfo_t info;
    for (size_t i = 0; i < j.n; i++)
        waitid(P_PID, (id_t)j.at[i]->pid, &info, WEXITED | WNOWAIT);
    job_end(&j);
    tap_ok(job_outcome(&j, &line, &e) == EX_TEMPFAIL && line.len && memmem(line.p, line.len, "sh was killed", 13),
           "a process killed before the others were ended is reported as the reason");
    buf_free(&line);
    job_free(&j);
}

static void programs(void)
{
    const char *none[] = {"no-such-program", NULL};
    job_init(&job, "bpe test", &e);
    tap_ok(!job_start(&job, &(struct job_start){.argv = none, .in = -1, .out = -1}, &e) && e.code == 127,
           "a program that does not exist");
    is(e.msg, "no-such-program is not installed, or not on PATH", "its error message");
    tap_ok(job_need("no-such-program", &e) && !job_need("sh", &e),
           "a missing program is found before anything is started");
    job_free(&job);
}

/* A process that writes more lines than a pipe holds is not blocked. */
static void much_said(void)
{
    int kept = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    job_init(&job, "bpe test", &e);
    struct job_process *p = sh("i=0; while [ $i -lt 3000 ]; do echo 'a line that has some fifty bytes, or a few more "
                               "of them' >&2; i=$((i + 1)); done",
                               -1, -1, 0, false);
    job_wait_all(&job);
    dup2(kept, 2);
    tap_ok(p->ended && p->status == 0 && p->text.len < 100, "many lines are passed on, except the last");
    job_free(&job);
}

/* The resource use of each process is known when it has ended: its own, not the maximum of all processes. */
static void what_is_used(void)
{
    double cpu[2];
    uint64_t memory[2];
    const char *const scripts[] = {
        "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; x=$(head -c 30000000 /dev/zero | tr '\\0' a)", ":"};
    for (int i = 0; i < 2; i++) {
        job_init(&job, "bpe test", &e);
        const struct job_process *p = sh(scripts[i], -1, -1, 0, false);
        job_wait_all(&job);
        cpu[i] = p->cpu;
        memory[i] = p->memory;
        job_free(&job);
    }
    tap_ok(cpu[0] > 0.01 && cpu[0] < 60 && cpu[1] < cpu[0], "the CPU time of a process");
    tap_ok(memory[0] > 30000000 && memory[0] < 1000000000 && memory[1] < 20000000, "and its memory");
}

/* Whether a process exists, and is not a zombie. */
static bool lives(pid_t pid)
{
    char path[64], text[300];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *after = strrchr(text, ')');
    return after && after[2] != 'Z' && after[2] != 'X';
}

static pid_t read_pid(const char *path)
{
    for (int i = 0; i < 500; i++) {
        int pid = 0;
        FILE *f = fopen(path, "r");
        int n = f ? fscanf(f, "%d\n", &pid) : 0;
        if (f)
            fclose(f);
        if (n == 1)
            return pid;
        usleep(10000);
    }
    return -1;
}

/* A command whose processes would never end dies by a signal: no process is left, neither its own child nor one that a
 * foreign process started in the background and that may ignore signals. */
static void death(int sig, const char *trap)
{
    char script[300];
    unlink("own"), unlink("far");
    pid_t command = fork();
    if (command == 0) {
        snprintf(script, sizeof script,
                 "%s (%s echo $(exec sh -c 'echo $PPID') >far; while :; do sleep 0.05; done) & wait", trap, trap);
        job_init(&job, "bpe test", &e);
        sh("echo $$ >own; while :; do sleep 0.05; done", -1, -1, 0, false);
        sh(script, -1, -1, 1, true);
        for (;;)
            job_wait(&job, NULL, 0, -1);
    }
    pid_t own = read_pid("own"), far = read_pid("far");
    bool began = own > 0 && far > 0 && lives(own) && lives(far);
    kill(command, sig);
    int status, tries = 0;
    waitpid(command, &status, 0);
    bool at_once = !lives(own);
    while ((lives(own) || lives(far)) && tries++ < 800)
        usleep(10000);
    tap_ok(began && WIFSIGNALED(status) && WTERMSIG(status) == sig,
           "signal %d ends the command, which reports it as its status", sig);
    tap_ok(!lives(own) && !lives(far) && (at_once || sig == SIGKILL), "signal %d%s: no process is left", sig,
           *trap ? ", which is ignored" : "");
}

/* The output of a foreign process to standard error is read if requested; nothing is passed on. */
static void heard(void)
{
    const char *argv[] = {"sh", "-c", "echo one >&2; echo two >&2", NULL};
    job_init(&job, "bpe test", &e);
    job.holds = true;
    struct job_process *p =
        job_start(&job, &(struct job_start){.argv = argv, .in = -1, .out = -1, .foreign = true, .heard = true}, &e);
    job_wait_all(&job);
    tap_ok(p && p->status == 0 && p->text.len == 8 && memcmp(p->text.p, "one\ntwo\n", 8) == 0,
           "standard error of a foreign command is read");
    job_free(&job);
}

int main(void)
{
    char dir[] = "/tmp/job_test-XXXXXX";
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT}; /* a caller may ignore them */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    if (!mkdtemp(dir) || chdir(dir))
        return 1;
    outcomes();
    killed_unnoticed();
    programs();
    much_said();
    what_is_used();
    heard();
    death(SIGTERM, "");
    death(SIGINT, "");
    death(SIGHUP, "trap '' HUP;");
    death(SIGKILL, "");
    death(SIGKILL, "trap '' HUP TERM;");
    unlink("own"), unlink("far");
    if (chdir("/") || rmdir(dir))
        return 1;
    return tap_done();
}
