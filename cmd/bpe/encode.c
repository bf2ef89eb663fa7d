/* encode.c - bpe encode: text to ids, on all cores of one machine, in order.
 *
 *     bpe-chunk -m MODEL FILE... | as many bpe-encode -f turns as jobs          encode_shared.c
 *     as many (bpe parquet --part=I/N... FILE... | bpe-encode -0 -f turns)      encode_parquet.c
 *     bpe-encode -m MODEL FILE...                                               if more of them gain nothing
 *
 * The bpe-encodes write to the output directly; this process tells each when it is its turn (driver/dispatch.h).
 *
 * If one fails, the ids before the failure are written, as by bpe-encode, and -o PATH does not appear. The exit status
 * is that of the process that failed first in the order of the text; 128 plus the signal if it was killed.
 */
#include "bpe/encode.h"

#include "base/io/fd.h"
#include "bpe/front.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of files for which a single bpe-encode is as fast, because all words are new to each process. (On two cores, 16
 * MB took 60 ms either way; two processes used 105 ms of CPU.) */
enum { SMALL = 16 << 20 };

static struct encode self;

static struct command_program programs[] = {{.usage = &encode_usage, .options = &self.options}};

/* A model such as that of `-m <(...)` can be read only once, but several processes read it: it is copied to a memory
 * file, which they open through its descriptor in this process. path "-": standard input. -1: EX_NOINPUT, EX_IOERR. */
static int keep_model(const char *path, struct err *e)
{
    struct stat st;
    struct buf text = {0};
    bool named = strcmp(path, "-") != 0;
    if (named && stat(path, &st) < 0) /* report it once, not in each process */
        return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
    if (named && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0;
    int rc = fd_read_file(path, &text, e);
    if (rc == 0 && text.len == 0)
        rc = err_set(e, EX_NOINPUT, "-m %s: the model is empty", path);
    if (rc == 0 && (self.model = memfd_create("model", MFD_CLOEXEC)) < 0)
        rc = err_sys(e, EX_OSERR, errno, "cannot keep the model in memory");
    rc = rc || fd_write(self.model, text.p, text.len, "the model in memory", e) ||
         option_words_add(&programs[0].words, e, "--model=/proc/%ld/fd/%d", (long)getpid(), self.model);
    buf_free(&text);
    return rc ? -1 : 0;
}

/* ---- One bpe-encode ---- */

/* Whether one bpe-encode is enough: the files are small, or the work cannot be shared. */
static bool is_for_one(void)
{
    const struct source_options *s = &self.options.source;
    struct stat st;
    uint64_t bytes = 0;
    if (self.common.jobs == 1 || self.options.format == IDS_TEXT)
        return true;
    if (s->files_from || s->files0_from)
        return false;
    for (int i = 0; i < self.n_files || i == 0; i++) {
        const char *name = self.n_files ? self.files[i] : "-";
        if ((strcmp(name, "-") ? stat(name, &st) : fstat(0, &st)) || !S_ISREG(st.st_mode))
            return false;
        bytes += (uint64_t)st.st_size;
    }
    return bytes <= SMALL;
}

static int by_one(struct job *j, struct err *e)
{
    struct command_line l = {0};
    struct job_start s = {.in = 0, .out = self.out.fd, .stage = ENCODE_IDS, .writes = self.out.name};
    const struct job_process *p = NULL;
    if (command_line_add(&l, e, "bpe-encode") == 0 && command_line_options(&l, &programs[0].words, e) == 0 &&
        command_line_files(&l, self.files, self.n_files, e) == 0) {
        s.argv = l.words;
        p = job_start(j, &s, e);
    }
    command_line_free(&l);
    if (!p)
        return -1;
    watch_start(&self.watch, j, self.common.progress, self.files, self.n_files, ENCODE_IDS);
    watch_until_all_ended(&self.watch);
    return p->status ? encode_tell(&self, j, p, NULL, NULL, e) : 0;
}

/* ---- All ---- */

static int run(struct job *j, struct err *e)
{
    const struct source_options *s = &self.options.source;
    bool listed = s->files_from || s->files0_from;
    self.program = &programs[0];
    self.feed.fd = self.model = -1;
    if (!listed && watch_reads_input(self.files, self.n_files) && command_input_check(j, e))
        return -1;
    int status = keep_model(self.options.model, e) || output_open(&self.out, self.path, e) ? -1
                 : self.common.parquet                                                     ? encode_parquet(&self, j, e)
                 : is_for_one()                                                            ? by_one(j, e)
                                                                                           : encode_shared(&self, j, e);
    if (status == 0)
        status = output_close(&self.out, e);
    if (status == 0)
        job_say_all(j);
    job_end(j);
    output_drop(&self.out);
    dispatch_free(&self.dispatch);
    chunk_feed_free(&self.feed);
    job_close(&self.model);
    return status;
}

static int check(struct err *e)
{
    const struct encode_options *o = &self.options;
    if (command_options_check(&self.common, &o->source, false, self.n_files, e) ||
        command_check(&programs[0], self.files, self.n_files, e))
        return -1;
    if (o->format == IDS_TEXT && self.common.parquet)
        return err_set(
            e, EX_USAGE,
            "--parquet and -f text cannot be combined; use bpe parquet FILE... | bpe-encode -m MODEL -0 -f text");
    if (encode_options_keep_apart(o, self.path, e))
        return -1;
    if (!self.path && o->format != IDS_TEXT && isatty(1))
        return err_set(e, EX_USAGE, "standard output is a terminal; give -o PATH, or redirect the ids");
    return 0;
}

/* The formats of bpe-encode that are not for chunks only. */
static const char *const formats[] = {"raw", "text", NULL};

static int take_format(const char *name, void *owner, struct err *e)
{
    struct encode *x = owner;
    x->options.format = x->format == 0 ? IDS_RAW : IDS_TEXT;
    return option_words_add(&programs[0].words, e, "--format=%s", name);
}

static const struct option_row rows[] = {
    {'f', "format", "FORMAT", "raw: little-endian ids (default); text: decimal ids, a line per document",
     OPTION_TO(CHOICE, struct encode, format), .words = formats, .check = take_format},
    COMMAND_JOBS(struct encode, common, "encode"),
    {'o', "output", "PATH", "write the ids to PATH, which appears when it is complete",
     OPTION_TO(OUTPUT, struct encode, path)},
    COMMAND_PARQUET(struct encode, common),
    COMMAND_PROGRESS(struct encode, common),
    COMMAND_NO_VERSION,
    {0},
};

static const struct command command = {
    .name = "bpe encode",
    .usage = "usage: bpe encode -m MODEL [-j JOBS] [-f raw|text] [-d u16|u32] [--eot=none|before|after]\n"
             "                  [--eot-token=TOKEN] [--special=token|text|error]\n"
             "                  [--invalid=error|replace|skip|bytes] [--jsonl[=FIELD]]\n"
             "                  [--on-error=fail|skip] [-0] [--wet] [--fe] [--parquet[=COLUMN]]\n"
             "                  [--files-from LIST | --files0-from LIST] [-p NAME]\n"
             "                  [-s TOKEN[=ID]]... [-o PATH] [FILE]...\n"
             "Encodes FILEs (standard input if none, or -) as bpe-encode does, with several processes. The ids go\n"
             "to standard output, or to PATH, which appears when complete.\n",
    .options = rows,
    COMMAND_TO(self),
    COMMAND_PROGRAMS(programs),
    .check = check,
    .run = run,
};

int encode_main(int argc, char **argv)
{
    return command_main(&command, argc, argv);
}
