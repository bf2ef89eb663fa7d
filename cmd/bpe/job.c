/* job.c - bpe job: runs a command as a job of an engine, and tells the engine whether a process was killed or failed.
 *
 *     bpe job -- COMMAND             COMMAND
 *     bpe job --pack -- ssh HOST     zstd | ssh HOST | zstd -d | whole records
 *     bpe job --unpack -- COMMAND    zstd -d | COMMAND | zstd: what HOST runs for --pack
 *     bpe job --hosts=FILE COMMAND   many jobs, by GNU parallel (job_parallel.c)
 *
 * It ends with the process that started it, and so do all processes that COMMAND started (driver/job.h).
 *
 * Exit status: that of COMMAND; 75 if a process was killed, so that an engine retries; 74 if something could not be
 * read or written, or zstd failed.
 */
#include "bpe/job_relay.h"

#include "bpe/front.h"

#include "driver/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { STAGE_IN, STAGE_COMMAND, STAGE_OUT };

/* ---- One job ---- */

static int start_zstd(struct job *j, bool packs, int in, int out, int stage, struct err *e)
{
    const char *const argv[] = {"zstd", packs ? "-1cq" : "-dcq", NULL};
    return job_start(j, &(struct job_start){.argv = argv, .in = in, .out = out, .stage = stage}, e) ? 0 : -1;
}

/* Starts COMMAND, with zstd before and after it if requested, and sets r->from. */
static int start(const struct job_options *o, struct job *j, struct job_relay *r, struct err *e)
{
    bool zstd = o->pack || o->unpack, whole = o->pack || o->records;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, records[2] = {-1, -1};
    const char *const *argv = (const char *const *)(uintptr_t)o->command;
    int rc = whole && job_pipe(records, e) ? -1 : 0;
    int last = whole ? records[1] : 1;
    if (rc == 0 && zstd)
        rc = job_pipe(in, e) || job_pipe(out, e) || start_zstd(j, o->pack, 0, in[1], STAGE_IN, e) ||
                     start_zstd(j, !o->pack, out[0], last, STAGE_OUT, e)
                 ? -1
                 : 0;
    if (rc == 0 && !job_start(j,
                              &(struct job_start){.argv = argv,
                                                  .in = zstd ? in[0] : 0,
                                                  .out = zstd ? out[1] : last,
                                                  .stage = STAGE_COMMAND,
                                                  .foreign = true},
                              e))
        rc = -1;
    job_close_both(in);
    job_close_both(out);
    job_close(&records[1]);
    r->from = records[0];
    return rc;
}

/* The exit status; -1: a process was killed, or zstd failed. */
static int outcome(const struct job_options *o, const struct job *j, struct err *e)
{
    static const char worker[] = "a worker", process[] = "a process";
    int status = 0;
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        if (job_was_killed(p))
            return err_set(e, EX_TEMPFAIL, "%s was killed",
                           p->stage != STAGE_COMMAND            ? p->name
                           : o->pack || o->unpack || o->records ? worker
                                                                : process);
        if (p->stage == STAGE_COMMAND)
            status = p->status;
    }
    for (size_t i = 0; i < j->n; i++) {
        const struct job_process *p = j->at[i];
        bool needed = status == 0 || ((uint64_t)status == o->ok && p->stage == STAGE_OUT); /* needs no more text */
        if (p->stage != STAGE_COMMAND && p->status && needed)
            return err_set(e, EX_IOERR, "%s failed with status %d", p->name, p->status);
    }
    return (uint64_t)status == o->ok ? 0 : status;
}

static int one(const struct job_options *o, struct job *j, struct err *e)
{
    struct job_relay r = {.to = -1, .from = -1, .watches_output = o->pack || o->unpack || o->records};
    int rc = start(o, j, &r, e) || job_relay(j, &r, e) ? -1 : 0;
    bool cut = r.left.len > 0;
    job_relay_free(&r);
    rc = rc ? -1 : outcome(o, j, e);
    return rc == 0 && cut ? err_set(e, EX_TEMPFAIL, "the last record of the worker is cut off") : rc;
}

/* ---- The command ---- */

static struct job_options self = {.as = "bpe job", .retries = 3};

static int check(struct err *e)
{
    if (self.n_command == 0)
        return err_set(e, EX_USAGE, "missing COMMAND; see --help");
    return self.pack && self.unpack ? err_set(e, EX_USAGE, "--pack and --unpack cannot be combined") : 0;
}

static int run(struct job *j, struct err *e)
{
    enum { FIRST = 3, LAST = 9 }; /* descriptors that a shell may have opened */
    j->command = self.as;
    prctl(PR_SET_NAME, "bpe-job"); /* bpe monitor names pipelines by `bpe`; this is a part of one */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (int fd = FIRST; fd <= LAST; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    int status = self.hosts ? job_parallel(&self, j, e) : one(&self, j, e);
    if (status < 0) {
        static char text[ERR_TEXT];
        job_end(j);
        job_print(self.as, err_text(e, text));
        status = e->code;
    }
    return status;
}

static const struct option_row rows[] = {
    {0, "as", "NAME", "begin messages with NAME", OPTION_TO(TEXT, struct job_options, as)},
    {0, "records", NULL, "write whole records only", OPTION_TO(FLAG, struct job_options, records)},
    {0, "pack", NULL, "give COMMAND compressed text, decompress what it writes, and write\nwhole records only",
     OPTION_TO(FLAG, struct job_options, pack)},
    {0, "unpack", NULL, "decompress the text for COMMAND, and compress what it writes",
     OPTION_TO(FLAG, struct job_options, unpack)},
    {0, "ok", "STATUS", "exit with 0 if COMMAND exits with STATUS", OPTION_TO(COUNT, struct job_options, ok)},
    {0, "hosts", "FILE", "run COMMAND for each block of records, on the hosts in FILE, with GNU\nparallel",
     OPTION_TO(TEXT, struct job_options, hosts)},
    {0, "retries", "N", "--hosts: start each job up to N times (default 3)",
     OPTION_TO(COUNT, struct job_options, retries)},
    {0, "block", "SIZE", "--hosts: size of the text for a job (default 32M, or a record that names\nfiles)",
     OPTION_TO(TEXT, struct job_options, block)},
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe job",
    .usage = "usage: bpe job [OPTION]... -- COMMAND [ARGUMENT]...\n"
             "Runs COMMAND for an engine: if a process is killed, reports that and exits with 75. When the\n"
             "process that started it ends, it ends, too, with all processes that COMMAND started.\n",
    .options = rows,
    .to = &self,
    .files = &self.command,
    .n_files = &self.n_command,
    .check = check,
    .run = run,
};

int job_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
