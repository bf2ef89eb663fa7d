/* plan.c - bpe plan: estimates what training on a large corpus takes, from a sample of it.
 *
 * The parts are listed in plan.h.
 */
#include "bpe/plan.h"

#include "base/io/fd.h"
#include "base/sys/num.h"
#include "bpe/front.h"
#include "driver/command.h"
#include "usage/chunk_usage.h"

#include <stdlib.h>
#include <string.h>

static struct self {
    struct command_options common;
    struct chunk_options chunk;
    uint64_t size, hosts, memory, vocabulary, read, network, sample;
    double cost;
    bool has_size, has_vocabulary, has_network, has_sample, json;
    const char *hosts_text, *cost_text;
    char **files;
    int n_files;
} self;

static struct command_program programs[] = {{.usage = &chunk_usage, .options = &self.chunk}};

/* ---- Options ---- */

static int check_size(const char *word, void *options, struct err *e)
{
    return ((const struct self *)options)->size
               ? 0
               : err_set(e, EX_USAGE, "--size %s: must be the size of the text, such as 5TB", word);
}

static int check_hosts(const char *word, void *options, struct err *e)
{
    enum { HOSTS_MAX = 999999 };
    struct self *s = options;
    s->hosts = num_whole(word, HOSTS_MAX);
    return s->hosts ? 0 : err_set(e, EX_USAGE, "--hosts=%s: not a number of machines", word);
}

static int check_cost(const char *word, void *options, struct err *e)
{
    struct self *s = options;
    size_t whole = strspn(word, "0123456789"), part = word[whole] == '.' ? strspn(word + whole + 1, "0123456789") : 0;
    s->cost = strtod(word, NULL);
    return whole == 0 || word[whole + (part ? part + 1 : 0)]
               ? err_set(e, EX_USAGE, "--cost=%s: not a price, such as 0.05", word)
               : 0;
}

static int check_vocabulary(const char *word, void *options, struct err *e)
{
    const struct self *s = options;
    return s->vocabulary < 256 || s->vocabulary > INT32_MAX ? err_set(e, EX_USAGE, "-v %s: not a vocabulary size", word)
                                                            : 0;
}

static int check_sample(const char *word, void *options, struct err *e)
{
    enum { SAMPLE_MIN = 1000000 };
    return ((const struct self *)options)->sample < SAMPLE_MIN
               ? err_set(e, EX_USAGE, "--sample=%s: must be at least %d", word, SAMPLE_MIN)
               : 0;
}

static const struct option_row rows[] = {
    {0, "size", "SIZE",
     "size of the text, decompressed (default: that of FILEs). All SIZEs:\n"
     "5TB, 1.5TB, 300GB are powers of 1000; 5T, 1.5T, 64M are powers of 1024",
     OPTION_TO(DATA, struct self, size), OPTION_GIVEN(struct self, has_size), .check = check_size},
    COMMAND_JOBS(struct self, common, "work on each machine"),
    {0, "hosts", "N", "number of machines (default 1)", OPTION_TO(TEXT, struct self, hosts_text), .check = check_hosts},
    {0, "memory", "SIZE", "memory of each machine (default: no limit)", OPTION_TO(DATA, struct self, memory)},
    {0, "cost", "USD", "price of a core for an hour", OPTION_TO(TEXT, struct self, cost_text), .check = check_cost},
    {'v', "vocab-size", "N", "vocabulary size (default 32000)", OPTION_TO(COUNT, struct self, vocabulary),
     OPTION_GIVEN(struct self, has_vocabulary), .check = check_vocabulary},
    {0, "read", "SIZE", "text that a machine reads in a second (default: no limit)",
     OPTION_TO(DATA, struct self, read)},
    {0, "network", "SIZE", "data that a machine receives from others in a second (default 1G)",
     OPTION_TO(DATA, struct self, network), OPTION_GIVEN(struct self, has_network)},
    {0, "sample", "SIZE", "size of the sample of FILEs (default 100M)", OPTION_TO(DATA, struct self, sample),
     OPTION_GIVEN(struct self, has_sample), .check = check_sample},
    {0, "json", NULL, "print JSON", OPTION_TO(FLAG, struct self, json)},
    {'m', "model", "MODEL", "--model: leave it out; bpe plan is about learning a new model", .kind = OPTION_REFUSED},
    {0, "only", "FILE", NULL, .kind = OPTION_REFUSED},
    {0, "files-from", "LIST", NULL, .kind = OPTION_REFUSED},
    {0, "files0-from", "LIST", NULL, .kind = OPTION_REFUSED},
    {0, "dealt", NULL, NULL, .kind = OPTION_REFUSED},
    {0, "input-status", "FD", NULL, .kind = OPTION_REFUSED},
    COMMAND_NO_WEIGHT("leave it out; the counts take as much time and memory without it"),
    COMMAND_NO_VERSION,
    {0},
};

static int check(struct err *e)
{
    if (command_options_check(&self.common, &self.chunk.source, false, self.n_files, e) ||
        command_check(&programs[0], self.files, self.n_files, e))
        return -1;
    self.hosts = self.hosts ? self.hosts : 1;
    self.vocabulary = self.has_vocabulary ? self.vocabulary : 32000;
    self.network = self.has_network ? self.network : (uint64_t)1 << 30;
    self.sample = self.has_sample ? self.sample : (uint64_t)100 << 20;
    if (self.n_files == 0) {
        self.files = usage_no_files;
        self.n_files = 1;
    }
    return 0;
}

/* ---- The work ---- */

static int need_programs(struct err *e)
{
    static const char *const all[] = {"bpe-chunk", "bpe-count", "bpe-sum", "bpe-merge", "bpe-encode", NULL};
    int rc = 0;
    for (const char *const *name = all; *name && rc == 0; name++)
        rc = job_need(*name, e);
    return rc;
}

static int print(const struct plan_ask *ask, const struct plan_facts *f, struct err *e)
{
    struct plan p;
    struct plan_command commands[PLAN_COMMANDS] = {0};
    struct buf out = {0};
    size_t n = 0;
    plan_make(&p, ask, f);
    int rc = plan_commands(commands, &n, &p, ask, &programs[0].words, self.files, self.n_files, e) ||
                     (self.json ? plan_put_json(&out, &p, ask, f, commands, n, e)
                                : plan_put_text(&out, &p, ask, commands, n, e)) ||
                     fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e)
                 ? -1
                 : 0;
    for (size_t i = 0; i < PLAN_COMMANDS; i++)
        buf_free(&commands[i].line);
    buf_free(&out);
    return rc;
}

static int run(struct job *j, struct err *e)
{
    const struct source_options *o = &self.chunk.source;
    const struct input_form *form = input_forms[source_options_form(o)];
    struct plan_sample sample = {0};
    struct plan_facts facts;
    if (need_programs(e) || (watch_reads_input(self.files, self.n_files) && command_input_check(j, e)))
        return -1;
    int status = plan_sample_take(&sample, form, self.sample, self.files, self.n_files, e);
    uint64_t size = self.has_size ? self.size : sample.whole;
    if (status == 0 && size == 0)
        status = err_set(e, EX_USAGE, "missing --size=SIZE: standard input has no known size");
    if (status == 0)
        status = plan_measure(&facts, j, &sample, &programs[0].words, self.vocabulary, e);
    if (status == 0)
        status = print(&(struct plan_ask){.size = (double)size,
                                          .whole = (double)sample.whole,
                                          .jobs = (double)(self.common.jobs * self.hosts),
                                          .hosts = (double)self.hosts,
                                          .vocabulary = (double)self.vocabulary,
                                          .cost = self.cost,
                                          .memory = (double)self.memory,
                                          .read = (double)self.read,
                                          .network = (double)self.network,
                                          .places = (double)sample.n_blocks,
                                          .first = (double)sample.first},
                       &facts, e);
    plan_sample_free(&sample);
    return status;
}

static const struct command command = {
    .name = "bpe plan",
    .usage = "usage: bpe plan [--size=SIZE] [-j JOBS] [--hosts=N] [--memory=SIZE] [--cost=USD] [-v N]\n"
             "                [--read=SIZE] [--network=SIZE] [--sample=SIZE] [--json] [OPTION]... [FILE]...\n"
             "Measures a sample of FILEs (standard input if none, or -) and estimates what training on SIZE of\n"
             "such text takes: distinct pretokens, bytes of counts, memory, time and cost of each stage.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int plan_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
