/* bpe-merge - learns the merges: a sum in, a model out.
 *
 * Pattern and special tokens come with the sum; --add-special adds special tokens. The model is written only when it is
 * complete and nothing has failed.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/memory.h"
#include "base/sys/num.h"
#include "model/assign_ids.h"
#include "model/formats.h"
#include "model/model_remarks.h"
#include "model/model_save.h"
#include "train/trainer.h"
#include "usage/merge_usage.h"
#include "wire/record_text.h"
#include "wire/sum_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-merge"

__extension__ typedef unsigned __int128 u128;

/* For some pretokens: how many are distinct, their total count, and the bytes of all occurrences. */
struct amount {
    uint64_t distinct, total;
    u128 bytes;
};

struct merger {
    struct merge_options opt;
    struct trainer *trainer;
    struct amount kept, left_out; /* left_out: by --min-count */
    char memory[200];             /* message: the memory needed for learning */
    struct sum_reader sum;
    struct rules rules;
    struct progress progress;
    struct merge *merges; /* owned */
};

/* ---- Reading the sum ---- */

static int consume(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct merger *m = ctx;
    for (size_t i = 0; i < n; i++) {
        struct amount *to = w[i].count < m->opt.min_count ? &m->left_out : &m->kept;
        to->distinct++;
        to->total += w[i].count;
        to->bytes += (u128)w[i].count * w[i].len;
        if (to == &m->kept && trainer_add(m->trainer, w[i].p, w[i].len, w[i].count, e))
            return -1;
    }
    return 0;
}

/* Formats how much memory learning needs for the part of the sum read so far, and if less is available, the --min-count
 * that makes it fit. Returns whether there is enough. */
static bool note_memory(struct merger *m, bool all_read)
{
    const uint64_t need = trainer_memory(m->trainer, m->opt.tie, 1), have = memory_limit();
    const uint64_t min = need > have ? trainer_least_within(m->trainer, m->opt.tie, have) : 0;
    char *to = m->memory, needs[32], has[32];
    size_t room = sizeof m->memory;
    num_bytes(needs, sizeof needs, (double)need);
    int n = snprintf(to, room, "learning from the %llu distinct pretokens %s takes about %s",
                     (unsigned long long)m->kept.distinct, all_read ? "of the sum" : "read so far", needs);
    num_bytes(has, sizeof has, (double)have);
    if (min)
        snprintf(to + n, room - (size_t)n,
                 all_read ? "; the %s available suffice with --min-count=%llu"
                          : "; the %s available require --min-count=%llu or more",
                 has, (unsigned long long)min);
    else if (need > have)
        snprintf(to + n, room - (size_t)n, "; no --min-count makes this fit in the %s available", has);
    return need <= have;
}

static void say_left_out(const struct merger *m)
{
    const struct amount *k = &m->kept, *out = &m->left_out;
    if (!out->distinct)
        return;
    double percent = 100 * (double)out->total / ((double)k->total + (double)out->total);
    int places = percent < 1 ? 3 : percent < 10;
    program_note(NAME, "--min-count left out %llu of %llu distinct pretokens, %.*f %% of all that were counted",
                 (unsigned long long)out->distinct, (unsigned long long)(k->distinct + out->distinct), places, percent);
}

/* Adds special tokens of the model that were ordinary text when counting. */
static int add_special(struct rules *r, const struct option_texts *more, struct err *e)
{
    size_t n = r->n_special, known = n;
    struct special_token *all = calloc(n + more->n + 1, sizeof *all);
    if (!all)
        return err_mem(e, "the special tokens", (n + more->n) * sizeof *all);
    for (size_t i = 0; i < known; i++)
        all[i] = r->special[i];
    for (size_t i = 0; i < more->n; i++) {
        const struct special_token added = {.text = str_of(more->at[i])};
        bool is_there = false;
        for (size_t k = 0; k < known; k++)
            is_there |= str_equal(all[k].text, added.text);
        if (!is_there)
            all[n++] = added;
    }
    int rc = rules_set_special(r, all, n, e);
    free(all);
    return rc;
}

static int read_sum(struct merger *m, struct err *e)
{
    m->trainer = trainer_new(e);
    if (!m->trainer)
        return -1;
    return sum_reader_read(&m->sum, m->opt.files, (size_t)m->opt.n_files, m->opt.partial, &m->rules, e) ||
                   add_special(&m->rules, &m->opt.add_special, e)
               ? -1
               : 0;
}

/* ---- Learning ---- */

static void show_progress(void *ctx, uint64_t done, uint64_t goal)
{
    struct merger *m = ctx;
    progress_show(&m->progress, done, goal, false, "merges");
}

/* Checks that --stats names no file of a model. */
static int check_stats(const struct merge_options *o, const struct model_files *files, struct err *e)
{
    int rc = 0;
    for (size_t k = 0; o->path && o->stats && k < o->n_sizes && rc == 0; k++) {
        char *path = merge_path(o, k, e), *name = NULL;
        rc = path ? 0 : -1;
        for (size_t i = 0; i < files->n && rc == 0; i++) {
            rc = asprintf(&name, "%s%s", path, files->file[i].suffix) < 0 ? err_mem(e, "a file name", strlen(path))
                                                                          : merge_check_stats(o, name, e);
            free(name);
        }
        free(path);
    }
    return rc;
}

/* Tries to write a model without merges, to report most errors before learning. */
static int try_format(struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    struct learned bytes = {0};
    struct model_files files = {.alone = !o->path};
    struct model model;
    if (learned_set_rules(&bytes, &m->rules, e) || assign_ids(&model, &bytes, o->format, e))
        return -1;
    int rc = o->format->write(&files, &model, e) || check_stats(o, &files, e) ? -1 : 0;
    model_files_free(&files);
    model_free(&model);
    return rc;
}

static uint64_t size_min(const struct rules *r)
{
    return 256 + (uint64_t)r->n_special;
}

static int check_sizes(const struct merge_options *o, const struct rules *r, struct err *e)
{
    uint64_t min = size_min(r);
    for (size_t i = 0; i < o->n_sizes; i++)
        if (o->size[i].n < min)
            return err_set(e, EX_USAGE, "-v %llu: too small; %zu special token%s and 256 bytes need %llu",
                           (unsigned long long)o->size[i].n, r->n_special, r->n_special == 1 ? "" : "s",
                           (unsigned long long)min);
    return 0;
}

/* Learns the merges of the largest model. */
static int learn(struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct rules *r = &m->rules;
    struct train_opts lo = {.tie = o->tie,
                            .vocab_size = (uint32_t)merge_largest(o)->n,
                            .min_frequency = o->min_frequency,
                            .max_token_len = o->max_token_len,
                            .special = r->special,
                            .n_special = r->n_special,
                            .progress = show_progress,
                            .progress_ctx = m};
    size_t n;
    if (check_sizes(o, r, e) || try_format(m, e))
        return -1;
    progress_part(&m->progress, "merging", "merges");
    int rc = trainer_run(m->trainer, &lo, &m->merges, &n, e);
    progress_end(&m->progress);
    progress_part(&m->progress, "writing the model", "");
    return rc;
}

/* ---- Writing ---- */

/* Appends a line for each merge: the size of the vocabulary, the pair, its count, and the bytes per token, exactly
 * rounded. (The product has at most 117 bits.) */
static int put_stats(const struct merger *m, const struct model *model, struct buf *out, struct err *e)
{
    enum { MICRO = 1000000 };
    const struct train_step *step = trainer_steps(m->trainer);
    u128 tokens = m->kept.bytes;
    for (size_t i = 0; i < model->n_merges; i++) {
        const struct model_token *left = &model->token[model->merge[i].left],
                                 *right = &model->token[model->merge[i].right];
        tokens -= step[i].replaced;
        uint64_t ratio = (uint64_t)((2 * m->kept.bytes * MICRO + tokens) / (2 * tokens));
        if (buf_printf(out, e, "%lu\t", (unsigned long)step[i].n_vocab) ||
            record_text_escape(out, left->p, left->len, e) || buf_put_byte(out, '\t', e) ||
            record_text_escape(out, right->p, right->len, e) ||
            buf_printf(out, e, "\t%llu\t%llu.%06llu\n", (unsigned long long)step[i].count,
                       (unsigned long long)(ratio / MICRO), (unsigned long long)(ratio % MICRO)))
            return -1;
    }
    return 0;
}

static int add_stats(const struct merger *m, const struct model *model, struct model_output *to, struct err *e)
{
    struct buf text = {0};
    int rc = put_stats(m, model, &text, e) ? -1 : model_output_add_file(to, m->opt.stats, buf_str(&text), e);
    buf_free(&text);
    return rc;
}

/* Writes the model with this vocabulary size under temporary names. */
static int add_model(const struct merger *m, size_t i, struct model_output *to, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct merge_size *size = &o->size[i];
    const size_t n = trainer_merges(m->trainer, (uint32_t)size->n);
    struct learned learned = {.merges = m->merges, .n_merges = n, .merges_as_strings = o->merges_as_strings};
    struct model model;
    learned.special_first =
        o->special == MERGE_SPECIAL_FIRST || (o->special == MERGE_SPECIAL_BY_FORMAT && o->format->special_first);
    if (n + size_min(&m->rules) < size->n)
        program_note(NAME, "no pair is left to merge%s: the vocabulary has %llu tokens, not %llu",
                     o->min_frequency > 1 ? " that occurs often enough" : "",
                     (unsigned long long)(n + size_min(&m->rules)), (unsigned long long)size->n);
    if (learned_set_rules(&learned, &m->rules, e) || assign_ids(&model, &learned, o->format, e))
        return -1;
    char *path = o->path ? merge_path(o, i, e) : NULL;
    int rc = (o->path && !path) || (o->stats && size == merge_largest(o) && add_stats(m, &model, to, e)) ||
                     model_output_add(to, &model, o->format, path, e)
                 ? -1
                 : 0;
    if (rc == 0 && i == 0) /* what is said about one is true of all */
        model_remarks(&model, o->format, path, NAME, program_note);
    free(path);
    model_free(&model);
    return rc;
}

static int write_models(const struct merger *m, struct err *e)
{
    struct model_output out;
    int rc = model_output_init(&out, m->opt.n_sizes, e);
    for (size_t i = 0; i < m->opt.n_sizes && rc == 0; i++)
        rc = add_model(m, i, &out, e);
    if (rc == 0)
        rc = model_output_commit(&out, e);
    model_output_free(&out);
    return rc;
}

static int keep_apart(void *ctx, const char *path, struct err *e)
{
    struct merger *m = ctx;
    return path ? fd_keep_apart(path, m->opt.files, (size_t)m->opt.n_files, e) : 0;
}

static int run(void *ctx, struct err *e)
{
    struct merger *m = ctx;
    if (merge_each_output(&m->opt, keep_apart, m, e))
        return -1;
    sum_reader_init(&m->sum, consume, m);
    progress_start(&m->progress, NAME);
    progress_part(&m->progress, "reading the sum", "");
    bool all_read = read_sum(m, e) == 0;
    bool enough = !m->trainer || note_memory(m, all_read);
    if (all_read && !enough) /* print it now: the system may let learning start, and then kill it */
        program_note(NAME, "%s", m->memory);
    if (all_read)
        say_left_out(m);
    if (all_read && learn(m, e) == 0)
        return write_models(m, e);
    const struct err why = *e;
    if (why.code == EX_OSERR && *m->memory && (enough || !all_read))
        err_set(e, EX_OSERR, "%s; %s", why.msg, m->memory);
    return -1;
}

static void merger_free(void *ctx)
{
    struct merger *m = ctx;
    trainer_free(m->trainer);
    sum_reader_free(&m->sum);
    rules_free(&m->rules);
    free(m->merges);
}

/* ---- The command line ---- */

static struct merger self;

static const struct program program = {
    .usage = &merge_usage,
    .options = &self.opt,
    .codecs = codec_versions,
    .ctx = &self,
    .run = run,
    .free = merger_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
