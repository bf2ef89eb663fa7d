/* bpe-chunk - splits text into chunks for counting or encoding: text in, chunks out.
 *
 * For a regular file it writes the positions of the pieces (ranges; it reads only the text near the cuts), so that the
 * text itself goes through no pipe. For any other input, or with --inline, it writes the text. Every record has the
 * complete rules (pattern, special tokens). The promise is the inventory of inputs: all their names and sizes, with
 * which bpe-sum compares the counts. It comes last, and also first if all sizes are known.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "base/sys/hash.h"
#include "chunk/chunk_writer.h"
#include "chunk/chunks.h"
#include "chunk/input_warnings.h"
#include "chunk/resume_ranges.h"
#include "input/cut.h"
#include "model/model.h"
#include "pretok/pretokenize.h"
#include "pretok/scan.h"
#include "usage/chunk_usage.h"
#include "usage/weight_option.h"
#include "wire/payload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-chunk"

struct chunker {
    struct chunk_options opt;
    struct model model;               /* -m */
    struct pretokenizer pretokenizer; /* only for its special tokens; it gets no text */
    struct cutter cutter;
    struct chunk_writer writer;
    struct input_warnings watch;
    struct progress progress;
    uint64_t n_bytes; /* bytes of text by value read so far */
};

/* ---- Rules ---- */

/* Sets up the cutter from the rules, and checks that bpe-count will accept them. */
static int set_cutter(struct chunker *c, const struct rules *r, enum form form, struct err *e)
{
    const struct pretoken_sink nowhere = {0};
    if (pretokenizer_open(&c->pretokenizer, r, INVALID_ERROR, &nowhere, e))
        return -1;
    c->watch.form = input_forms[form];
    cutter_init(&c->cutter, c->watch.form, rules_cut_inside(r) && special_keeps_lines(&c->pretokenizer.late),
                &c->pretokenizer.special);
    return 0;
}

static int make_rules(struct chunker *c, struct err *e)
{
    const struct chunk_options *o = &c->opt;
    struct rules r = {0};
    struct reading reading;
    int rc = source_options_reading(&o->source, &reading, e) || rules_options_get(&o->rules, &c->model, &r, e) ||
                     rules_put(&c->writer.rules, &r, e) || reading_put(&c->writer.reading, &reading, e) ||
                     set_cutter(c, &r, reading.form, e)
                 ? -1
                 : 0;
    rules_free(&r);
    return rc;
}

/* ---- Running ---- */

/* Searches the text for the default special token if -s replaced it with others that do not contain it. */
static void set_watch(struct chunker *c)
{
    const struct rules_options *o = &c->opt.rules;
    bool replaced = o->special.n && !o->model;
    for (size_t i = 0; i < o->special.n; i++)
        replaced &= strstr(o->special.at[i], RULES_SPECIAL) == NULL;
    if (replaced)
        c->watch.token = str_of(RULES_SPECIAL);
}

/* Sets how the source added last is read, if it has a weight. Without weights, all sources share c->writer.reading. */
static int set_weight(struct chunker *c, int file, struct err *e)
{
    struct source *s = &c->writer.sources.at[c->writer.sources.n - 1];
    struct reading reading;
    if (source_options_reading(&c->opt.source, &reading, e))
        return -1;
    reading.weight = weight_option_of(&c->opt.weights, file);
    return ratio_is_one(reading.weight) ? 0 : reading_put(&s->reading, &reading, e);
}

/* Sets rules and inputs from the options. */
static int set_sources(struct chunker *c, struct err *e)
{
    const struct chunk_options *o = &c->opt;
    if (make_rules(c, e))
        return -1;
    set_watch(c);
    /* If special tokens can overlap, the one just before a piece may depend on text far before it. */
    bool by_value = o->inline_text || (o->rules.model && !cut_takes_files(&c->cutter));
    for (int i = 0; i < o->n_files; i++) {
        if (source_list_add(&c->writer.sources, o->files[i], by_value, &c->watch, e))
            return file_list_place(&o->source.list, i, e);
        if (o->weights.n && set_weight(c, i, e))
            return -1;
    }
    return 0;
}

/* Sets rules and inputs from a list of wanted ranges (--only). */
static int set_wanted(struct chunker *c, struct err *e)
{
    const struct chunk_options *o = &c->opt;
    struct rules rules = {0};
    struct reading reading;
    struct str how = {0};
    int rc = resume_ranges_read(&c->writer, o->only, &how, e);
    if (rc == 0 && c->writer.sources.n) {
        rc = rules_get(&rules, buf_str(&c->writer.rules), e) || reading_get(&reading, how, e) ||
                     reading_check_text(&reading, e) || set_cutter(c, &rules, reading.form, e)
                 ? err_place(e, fd_name(o->only), 0)
                 : 0;
        rules_free(&rules);
    }
    if (rc)
        return -1;
    return resume_ranges_match(&c->writer, o->files, (size_t)o->n_files, o->inline_text, o->only, &c->watch, e);
}

/* Prints warnings about the text that was read. */
static void note_found(const struct input_warnings *w)
{
    char text[FORMAT_GUESS_TEXT];
    if (w->guess.found)
        program_note(NAME, "%s", format_guess_text(&w->guess, text));
    if (w->has_token)
        program_note(NAME, "the text has " RULES_SPECIAL ", which is not named by -s, so it is counted as text; "
                           "add -s '" RULES_SPECIAL "' if documents end with it");
}

/* Shows progress for text by value only: by reference this program finishes early, and bpe-sum shows what was counted.
 */
static void show_progress(void *ctx, uint64_t bytes)
{
    struct chunker *c = ctx;
    uint64_t total = c->progress.active ? source_list_value_files(&c->writer.sources) : 0;
    c->n_bytes += bytes;
    progress_show(&c->progress, c->n_bytes, total, true, "read");
}

static int run(void *ctx, struct err *e)
{
    struct chunker *c = ctx;
    struct chunk_options *o = &c->opt;
    const struct chunk_seen seen = {show_progress, c};
    bool only = o->only != NULL, named = o->files != usage_no_files;
    if (only && !named)
        o->n_files = 0;
    c->writer.status = (int)o->status;
    c->writer.dealt = o->dealt;
    if (o->has_status && fcntl(c->writer.status, F_GETFD) < 0)
        return err_set(e, EX_USAGE, "--input-status %d: not an open descriptor", c->writer.status);
    progress_start(&c->progress, NAME);
    progress_part(&c->progress, "", "bytes");
    int rc = source_options_files(&o->source, &o->files, &o->n_files, e) ||
             (only ? set_wanted(c, e) : set_sources(c, e)) ||
             chunks_write(&c->writer, &c->cutter, o->block, only, &c->watch, &seen, e);
    progress_end(&c->progress);
    if (rc)
        return -1;
    if (!only)
        note_found(&c->watch);
    return fd_close_stdout(e);
}

/* Tells programs downstream why input is missing; without this, they would only see that it is. If a text was cut off
 * (EX_TEMPFAIL), sends nothing, because the reason is unknown. */
static void send_failure(void *ctx, const struct err *e)
{
    struct chunker *c = ctx;
    if (e->code == EX_TEMPFAIL)
        return;
    if (!c->opt.only || c->writer.sources.n) /* otherwise the run is not known yet */
        chunk_writer_fail(&c->writer, e);
}

static void chunker_free(void *ctx)
{
    struct chunker *c = ctx;
    file_list_free(&c->opt.source.list);
    pretokenizer_close(&c->pretokenizer);
    model_free(&c->model);
    chunk_writer_free(&c->writer);
}

/* ---- The command line ---- */

static struct chunker self = {.writer = {.fd = 1, .name = "standard output"}};

static const struct program program = {
    .usage = &chunk_usage,
    .options = &self.opt,
    .scanner = scanner_versions,
    .codecs = codec_versions,
    .writes_records = true,
    .ctx = &self,
    .run = run,
    .send_failure = send_failure,
    .free = chunker_free,
};

int main(int argc, char **argv)
{
    random_bytes(self.writer.run, ID_LEN);
    return program_main(&program, argc, argv);
}
