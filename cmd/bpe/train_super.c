/* train_super.c - bpe train --super: superwords, in rounds (bpe-superwords(7)).
 *
 *     stage 1:  the model of T tokens, by the usual pipeline, or from --init
 *               (instead of words by Hugging Face's rules, those of BoundlessBPE: ,runs and --boundless)
 *     rounds:   bpe-chunk | bpe-count --pairs [--among, after the first] | bpe-sum | bpe-merge --live
 *               bpe-chunk | bpe-count --runs  | bpe-sum | bpe-merge --extend
 *               until the model has all its tokens, or no pair is left
 *
 * Each step is a pipeline like that of bpe train, by --fan-out, --via, --parquet or --keep, with another worker and
 * other options of bpe-merge. Files between the steps are in DIR of --keep, or in a temporary directory:
 *
 *     asked, inputs    what the work was begun with (driver/resume.h)
 *     stdin            the text of standard input, which every step reads
 *     stage1, T-N-pairs, T-N-runs    only with --keep: the counts of a step (driver/work.h); N: the round, from 0
 *     stage1-T.json, T-0.json        the models of stage 1 and of the first round; of whole pretokens: .model
 *     T-N.live, T-(N+1).json         the live pairs and the resulting model of round N
 */
#include "bpe/train.h"

#include "base/cli/program.h"
#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/num.h"
#include "chunk/chunks.h"
#include "driver/resume.h"
#include "driver/scratch.h"
#include "encode/superwords.h"
#include "model/model_convert.h"
#include "model/model_read.h"
#include "model/model_remarks.h"
#include "model/model_save.h"
#include "model/model_shrink.h"
#include "superwords/live_pairs.h"
#include "superwords/superword_model.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct super {
    const struct train *t;
    struct job *job;
    const char *dir; /* of the files between the steps */
    struct scratch scratch;
    int lock;
    struct option_words chunk;    /* options of bpe-chunk for stage 1, without a list of files */
    struct option_words first;    /* options of bpe-merge for stage 1 */
    struct source_options source; /* with the list of files */
    struct buf inputs;            /* the files when the work began (resume_put_inputs) */
    char **files;
    int n_files;
    char *spooled[1];
    uint64_t size;           /* bytes of the files */
    uint64_t budget;         /* of --live */
    uint64_t missing;        /* the tokens that the next round should make, or somewhat more */
    uint64_t min;            /* pairs that a worker counts less often are left out */
    bool among;              /* the next round counts only pairs that may be frequent by the file of the last one */
    struct option_words sum; /* options of bpe-sum for the rounds */
    struct buf stats;        /* --stats: the lines so far */
    double tokens, bytes;    /* of the text, as the model of the first round encodes it */
    size_t n_first;          /* tokens of that model */
    double ratio;            /* bytes per token of the last round; 0: not known */
    const char *suffix;      /* of the names of models */
};

/* ---- Files ---- */

/* DIR/name; owned by the caller. NULL: out of memory. */
static char *path_in(const struct super *s, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static char *path_in(const struct super *s, struct err *e, const char *fmt, ...)
{
    char name[100];
    va_list args;
    va_start(args, fmt);
    vsnprintf(name, sizeof name, fmt, args);
    va_end(args);
    return fd_path(s->dir, name, e);
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size > 0;
}

/* ---- Steps ---- */

/* Checks that no file has changed since the work began: all steps must read the same text. */
static int check_inputs(const struct super *s, struct err *e)
{
    struct buf now = {0};
    int rc = resume_put_inputs(&now, s->files, s->n_files, s->t->common.parquet, e);
    if (!rc && !str_equal(buf_str(&now), buf_str(&s->inputs)))
        rc = err_set(e, EX_DATAERR, "%s changed after the first step had read it; %s",
                     s->n_files == 1 ? s->files[0] : "one of the files",
                     s->t->keep ? "remove DIR of --keep, and run the same command again" : "run the command again");
    buf_free(&now);
    return rc;
}

/* Runs a pipeline with this worker (NULL: bpe-count), and this learner with its options. name: of the directory of its
 * counts, with --keep. Returns the exit status, whose reason was printed; or -1. */
static int run_step(struct super *s, const char *name, const struct option_words *chunk, struct option_words *worker,
                    const struct work_learner *learner, struct option_words *options, struct err *e)
{
    struct train t = *s->t;
    t.learner = *learner;
    t.chunk.source.files_from = t.chunk.source.files0_from = NULL;
    if (chunk != &s->chunk)
        t.sum_words = &s->sum;
    char *keep = s->t->keep ? fd_path(s->dir, name, e) : NULL;
    struct option_words words = *chunk;
    if ((s->t->keep && !keep) || check_inputs(s, e)) {
        free(keep);
        return -1;
    }
    t.keep = keep;
    t.chunk_words = &words;
    t.merge_words = options;
    t.worker = worker ? worker : t.worker;
    t.files = s->files;
    t.n_files = s->n_files;
    s->job->last_decides = false;
    int status = train_run(&t, s->job, e);
    job_forget(s->job);
    free(keep);
    return status;
}

static const struct work_learner merger;

static int add_words(struct option_words *to, const struct option_words *from, const char *const *except, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < from->n && !rc; i++)
        rc = option_word_in(from->at[i], except) ? 0 : option_words_add(to, e, "%s", from->at[i]);
    return rc;
}

/* Whether special tokens come last in the result, so that those of the models between, which are in another format, do
 * so, too. */
static bool special_last(const struct super *s)
{
    const struct merge_options *o = &s->t->merge;
    return o->special == MERGE_SPECIAL_LAST || (o->special == MERGE_SPECIAL_BY_FORMAT && !o->format->special_first);
}

/* Adds the options for words by BoundlessBPE's rules. */
static int words_as_boundless(const struct super *s, struct option_words *to, struct err *e)
{
    return option_words_add(to, e, "--no-overlaps") ||
                   (!s->t->merge.has_tie && option_words_add(to, e, "--tie=least")) ||
                   option_words_add(to, e, "--format=boundless")
               ? -1
               : 0;
}

/* Stage 1: makes stage1-T.json for every T, all from the same counts. */
static int first_stage(struct super *s, struct err *e)
{
    const struct train_super *o = &s->t->super;
    struct option_words merge = {0};
    struct buf sizes = {0};
    bool done = true;
    int rc = 0;
    for (size_t i = 0; i < o->n && !rc; i++) {
        char *path = path_in(s, e, "stage1-%llu.%s", (unsigned long long)o->at[i], s->suffix);
        rc = path ? buf_printf(&sizes, e, "%s%llu", i ? "," : "", (unsigned long long)o->at[i]) : -1;
        done &= path && exists(path);
        free(path);
    }
    if (!rc && !done)
        rc = buf_put_byte(&sizes, '\0', e) || add_words(&merge, &s->first, (const char *const[]){NULL}, e) ||
             option_words_add(&merge, e, "--vocab-size=%s", (const char *)sizes.p) ||
             (s->t->merge.stats && option_words_add(&merge, e, "--stats=%s/stage1.stats", s->dir)) ||
             (train_super_joins(o) && words_as_boundless(s, &merge, e)) ||
             (special_last(s) && option_words_add(&merge, e, "--special-last")) ||
             option_words_add(&merge, e, "--output=%s/stage1-%%v.%s", s->dir, s->suffix);
    int status = rc ? -1 : done ? 0 : run_step(s, "stage1", &s->chunk, NULL, &merger, &merge, e);
    option_words_free(&merge);
    buf_free(&sizes);
    return status;
}

/* Makes T-0.json. */
static int first_model(struct super *s, uint64_t size, struct err *e)
{
    const char *init = s->t->merge.init;
    struct model m = {0};
    char *from = path_in(s, e, "stage1-%llu.%s", (unsigned long long)size, s->suffix),
         *to = path_in(s, e, "%llu-0.%s", (unsigned long long)size, s->suffix);
    const struct train_super *o = &s->t->super;
    const struct model_format *format = train_super_joins(o) ? s->t->merge.format : model_format_at(0);
    const enum superword_kind kind = o->boundless ? SUPERWORDS_COMPETING
                                     : o->runs    ? SUPERWORDS_JOINED
                                     : o->lines   ? SUPERWORDS_LINES
                                                  : SUPERWORDS_DOCUMENTS;
    int rc = from && to ? 0 : -1;
    if (!rc && !exists(to))
        rc = model_read(&m, init ? init : from, NULL, e) ||
                     (init && size < model_n_tokens(&m) && model_cut(&m, size, e)) ||
                     superword_model_make(&m, kind, e) || (train_super_joins(o) && model_format_check(format, &m, e)) ||
                     model_save(&m, format, to, e)
                 ? -1
                 : 0;
    model_free(&m);
    free(from);
    free(to);
    return rc;
}

/* Sets the options of bpe-chunk for all steps after stage 1. */
static int put_chunk_words(const struct super *s, uint64_t size, struct option_words *to, struct err *e)
{
    static const char *const by_model[] = {"pattern",    "regex",     "model", "special-token",
                                           "no-special", "normalize", NULL};
    return add_words(to, &s->chunk, by_model, e) ||
                   option_words_add(to, e, "--model=%s/%llu-0.%s", s->dir, (unsigned long long)size, s->suffix)
               ? -1
               : 0;
}

/* Makes T-used.json, without the merges that never apply. Sets *model to its path; owned by the caller. */
static int drop_unused(struct super *s, uint64_t size, char **model, struct err *e)
{
    struct option_words chunk = {0}, options = {0};
    char name[64];
    char *first = path_in(s, e, "%llu-0.json", (unsigned long long)size),
         *to = path_in(s, e, "%llu-used.json", (unsigned long long)size);
    const struct work_learner learner = {"bpe-model", first};
    snprintf(name, sizeof name, "%llu-used", (unsigned long long)size);
    int status = first && to && !put_chunk_words(s, size, &chunk, e) &&
                         !option_words_add(&options, e, "--drop-unused") &&
                         !option_words_add(&options, e, "--output=%s", to)
                     ? 0
                     : -1;
    if (!status && !exists(to))
        status = run_step(s, name, &chunk, NULL, &learner, &options, e);
    option_words_free(&chunk);
    option_words_free(&options);
    free(first);
    *model = to;
    return status;
}

/* The number of frequent pairs with which all tokens that are missing should be made: some do not merge, because merges
 * of others make them less frequent. Few take little time, and may not reach below what is left out. */
static uint64_t enough_pairs(const struct super *s)
{
    enum { LEAST = 16000, MORE = 1000 };
    const uint64_t n = s->missing + s->missing / 4 * 3 + MORE;
    return n > LEAST ? n : LEAST;
}

/* One of the two steps of round n: makes `to` from the model, and the live pairs if they are not NULL. */
static int half_round(struct super *s, uint64_t size, unsigned n, const char *model, const char *live, const char *to,
                      struct err *e)
{
    struct option_words chunk = {0}, worker = {0}, merge = {0};
    char name[64];
    int status = exists(to) ? 0 : -1;
    snprintf(name, sizeof name, "%llu-%u-%s", (unsigned long long)size, n, live ? "runs" : "pairs");
    int rc = put_chunk_words(s, size, &chunk, e) || option_words_add(&worker, e, "bpe-count") ||
             option_words_add(&worker, e, "--model=%s", model) ||
             (!s->t->common.via && option_words_add(&worker, e, "--cache=%s/ids", s->dir));
    if (!rc && live)
        rc = option_words_add(&worker, e, "--runs=%s", live) || option_words_add(&merge, e, "--extend=%s", model) ||
             option_words_add(&merge, e, "--quiet") || option_words_add(&merge, e, "--stats=%s.stats", to) ||
             option_words_add(&merge, e, "--vocab-size=%llu", (unsigned long long)s->t->merge.size[0].n) ||
             (train_super_joins(&s->t->super) && option_words_add(&merge, e, "--format=boundless")) ||
             (special_last(s) && option_words_add(&merge, e, "--special-last")) ||
             (s->t->merge.min_frequency > 1 &&
              option_words_add(&merge, e, "--min-frequency=%llu", (unsigned long long)s->t->merge.min_frequency));
    else if (!rc)
        rc = option_words_add(&worker, e, "--pairs=%llu", (unsigned long long)s->min) ||
             (s->among &&
              option_words_add(&worker, e, "--among=%s/%llu-%u.live", s->dir, (unsigned long long)size, n - 1)) ||
             option_words_add(&merge, e, "--live=%llu", (unsigned long long)s->budget) ||
             option_words_add(&merge, e, "--live-pairs=%llu", (unsigned long long)enough_pairs(s));
    if (!rc && !option_words_add(&merge, e, "--output=%s", to) && status)
        status = run_step(s, name, &chunk, &worker, &merger, &merge, e);
    option_words_free(&chunk);
    option_words_free(&worker);
    option_words_free(&merge);
    return rc ? -1 : status;
}

/* Reads the statistics of a round, if they are there: the bytes per token at its end, from its last line. */
static int read_stats(struct super *s, const char *model, struct err *e)
{
    struct buf text = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s.stats", model);
    if (!exists(path) && !s->t->merge.stats) /* it was removed from DIR of --keep */
        return 0;
    int rc = fd_read_file(path, &text, e) || (s->t->merge.stats && buf_put(&s->stats, text.p, text.len, e)) ||
             buf_put_byte(&text, '\0', e);
    const char *last = rc ? NULL : strrchr((const char *)text.p, '\t');
    if (last)
        s->ratio = strtod(last + 1, NULL);
    buf_free(&text);
    return rc;
}

/* Sets s->missing, when the model has so many tokens, of which n_super are superwords that compete with words. */
static void set_missing(struct super *s, uint64_t n_tokens, uint64_t n_super)
{
    enum { PART = 4 }; /* of the words, at most, are usually replaced */
    const uint64_t n = s->t->merge.size[0].n;
    s->missing = !s->t->super.boundless ? (n > n_tokens ? n - n_tokens : 0)
                 : n / PART > n_super   ? n / PART - n_super
                                        : 0;
}

/* About how many counts of pairs are added up, each without its rare pairs; 0: not known. A worker writes them at the
 * end, or when its table is full (-S of bpe-count), after a GB of text or more. */
static uint64_t n_parts(const struct super *s)
{
    const struct train *t = s->t;
    return t->common.via || t->common.parquet || t->fan_out == FAN_OUT_PARALLEL || t->fan_out == FAN_OUT_XARGS
               ? 0
               : t->common.jobs + (s->size >> (t->keep ? 29 : 30)); /* 512 MB, as kept, or 1 GB */
}

/* How often a pair must occur in a part so that it is not left out in the first round. If parts are few, that changes
 * the floor by little, and leaves out most pairs: of half as much text as TEXT already those that occur once. */
static uint64_t first_min(const struct super *s)
{
    enum { TEXT = 32 << 20 }; /* bytes of text of a part for each time that a pair may be left out */
    const uint64_t n = n_parts(s), least = s->size > TEXT / 2;
    if (!n)
        return 1;
    const uint64_t left_out = s->size / TEXT / n;
    return 1 + (left_out > least ? left_out : least);
}

/* The same for the next round, after one with this floor: so that the next floor is about a hundredth higher. */
static uint64_t next_min(const struct super *s, uint64_t floor)
{
    enum { PART = 64 };
    const uint64_t first = first_min(s), n = n_parts(s);
    return n && floor / PART / n < first ? 1 + floor / PART / n : first;
}

/* Looks at the result of round n. *more: whether another one can make more tokens, because the floor ended this one. */
static int look_at_round(struct super *s, unsigned n, const char *before, const char *model, const char *live,
                         bool *more, struct err *e)
{
    struct model was = {0}, m = {0};
    struct live_pairs l = {0};
    const uint64_t least = s->t->merge.min_frequency > 1 ? s->t->merge.min_frequency : 1;
    int rc = model_read(&was, before, NULL, e) || model_read(&m, model, NULL, e) ||
                     live_pairs_read(&l, live, &was, false, e) || read_stats(s, model, e)
                 ? -1
                 : 0;
    const bool merged = m.n_merges > was.n_merges, exact = s->min == 1 && !s->among;
    const bool lacks = s->t->super.boundless /* then words are removed at the end */
                           ? m.n_merges - m.n_super == was.n_merges - was.n_super && (merged || !exact)
                           : model_n_tokens(&m) < s->t->merge.size[0].n;
    *more = !rc && lacks && l.round.floor > least;
    set_missing(s, model_n_tokens(&m), m.n_super);
    if (n == 0) {
        s->tokens = (double)l.tokens;
        s->bytes = (double)l.bytes;
        s->n_first = model_n_tokens(&was);
    }
    /* What is left out raises the floor, perhaps above all pairs. Otherwise the most frequent pair is merged. */
    s->min = merged ? next_min(s, l.round.floor) : 1;
    s->among = merged && l.round.floor > l.round.least;
    if (*more && !merged && exact)
        rc = err_set(e, EX_SOFTWARE, "round %u made no merge, although pairs are left", n);
    model_free(&was);
    model_free(&m);
    live_pairs_free(&l);
    return rc;
}

/* Makes the models of all rounds. *last: the path of the last one; owned by the caller. */
static int all_rounds(struct super *s, uint64_t size, char **last, struct err *e)
{
    bool more = s->size > 0;
    int status = 0;
    s->ratio = 0;
    s->among = false;
    s->min = first_min(s);
    set_missing(s, size, 0);
    if (s->t->super.drop)
        status = drop_unused(s, size, last, e);
    else
        status = (*last = path_in(s, e, "%llu-0.%s", (unsigned long long)size, s->suffix)) ? 0 : -1;
    for (unsigned n = 0; more && !status; n++) {
        char *live = path_in(s, e, "%llu-%u.live", (unsigned long long)size, n),
             *next = path_in(s, e, "%llu-%u.%s", (unsigned long long)size, n + 1, s->suffix);
        status = live && next ? half_round(s, size, n, *last, NULL, live, e) : -1;
        if (!status)
            status = half_round(s, size, n, *last, live, next, e);
        if (!status)
            status = look_at_round(s, n, *last, next, live, &more, e);
        if (!status) {
            free(*last);
            *last = next;
            next = NULL;
        }
        free(live);
        free(next);
    }
    return status;
}

/* ---- The result ---- */

/* Writes the result, in the format that was asked for. */
static int write_result(const struct super *s, uint64_t size, const char *from, struct err *e)
{
    const struct merge_options *o = &s->t->merge;
    struct model m = {0};
    char first[24];
    snprintf(first, sizeof first, "%llu", (unsigned long long)size);
    char *path = o->path ? merge_path(o, 0, first, e) : NULL;
    int rc = o->path && !path ? -1 : 0;
    rc = rc || model_read(&m, from, NULL, e) ||
         (!train_super_joins(&s->t->super) && superword_model_make(&m, SUPERWORDS_DOCUMENTS, e));
    if (!rc && o->has_form)
        m.merges_as_strings = o->merges_as_strings;
    rc = rc || model_format_check(o->format, &m, e) || model_save(&m, o->format, path, e) ? -1 : 0;
    if (!rc) {
        model_remarks(&m, o->format, path, s->job->command, program_note);
        if (model_n_tokens(&m) < o->size[0].n)
            program_note(s->job->command, "no pair is left to merge: the vocabulary has %zu tokens, not %llu",
                         model_n_tokens(&m), (unsigned long long)o->size[0].n);
    }
    model_free(&m);
    free(path);
    return rc;
}

/* Says what the superwords gain; of competing ones this is not known, as the words that they replaced were counted. */
static void say_gain(const struct super *s, uint64_t size)
{
    const double ratio = s->tokens > 0 ? s->bytes / s->tokens : 0;
    if (s->ratio > 0 && ratio > 0 && !s->t->super.boundless)
        program_note(s->job->command,
                     "--super=%llu: %.2f bytes per token, and %.2f with superwords: %.1f %% fewer tokens than with the "
                     "first %zu alone",
                     (unsigned long long)size, ratio, s->ratio, 100 * (1 - ratio / s->ratio), s->n_first);
}

/* Writes the lines of all steps to the file of --stats. */
static int write_stats(struct super *s, struct err *e)
{
    struct buf all = {0};
    struct outfile o;
    if (!s->t->merge.stats)
        return 0;
    char *first = path_in(s, e, "stage1.stats");
    int rc = !first || (exists(first) && fd_read_file(first, &all, e)) || buf_put(&all, s->stats.p, s->stats.len, e) ||
             outfile_open(&o, s->t->merge.stats, e);
    if (!rc && fd_write(o.fd, all.p, all.len, s->t->merge.stats, e)) {
        outfile_drop(&o);
        rc = -1;
    }
    rc = rc || outfile_commit(&o, 1, e);
    free(first);
    buf_free(&all);
    return rc ? -1 : 0;
}

/* ---- The whole ---- */

/* Chooses the budget of a round by the size of the text. With this one, two rounds are usually enough. One round alone
 * would take as much time for English and a sixth less for 30 languages, but its runs three times the memory, and the
 * learner three times the time. */
static void set_budget(struct super *s)
{
    enum { LEAST = 4000000, BYTES = 16 };
    struct stat st;
    for (int i = 0; i < s->n_files; i++)
        if (stat(s->files[i], &st) == 0)
            s->size += (uint64_t)st.st_size;
    s->budget = s->t->live ? s->t->live : s->size / BYTES > LEAST ? s->size / BYTES : LEAST;
}

/* Copies standard input to a file, because every step reads the text. -1: also if it was cut off (chunk/chunks.h). */
static int spool(struct super *s, struct err *e)
{
    static unsigned char block[1 << 16];
    struct outfile o;
    char *path = path_in(s, e, "stdin");
    ssize_t n = 1;
    if (!path || outfile_open(&o, path, e)) {
        free(path);
        return -1;
    }
    while (n > 0 && (n = fd_read(0, block, sizeof block, "standard input", e)) > 0)
        if (fd_write(o.fd, block, (size_t)n, path, e))
            n = -1;
    if (n == 0 && s->t->chunk.has_status && chunks_confirm_end((int)s->t->chunk.status, e))
        n = -1;
    if (n < 0)
        outfile_drop(&o);
    s->spooled[0] = path;
    s->files = s->spooled;
    s->n_files = 1;
    return n < 0 || outfile_commit(&o, 1, e) ? -1 : 0;
}

/* Checks that the model of --init has as many tokens as the first stages, and no superwords among them. */
static int check_init(const struct super *s, struct err *e)
{
    const struct train_super *o = &s->t->super;
    const char *init = s->t->merge.init;
    struct model m = {0};
    int rc = model_read(&m, init, NULL, e);
    const size_t n = rc ? 0 : model_n_tokens(&m);
    uint64_t most = 0;
    for (size_t i = 0; i < o->n; i++)
        most = o->at[i] > most ? o->at[i] : most;
    if (!rc && most > n)
        rc = err_set(e, EX_USAGE, "%s%llu: %s has only %zu tokens",
                     o->boundless ? "-v " : "--super=", (unsigned long long)most, init, n);
    if (!rc && m.n_super && !o->boundless)
        rc = err_set(e, EX_USAGE, "--init: %s has superwords already, of whole pretokens", init);
    size_t first;
    bool found = false;
    rc = rc || (most < n && model_cut(&m, most, e)) || convert_to_merges(&m, e) ||
         superwords_find(&m, &first, &found, e);
    if (!rc && found && superword_model_is(&m))
        rc = err_set(e, EX_USAGE, "--super=%llu: of %s, only the first %zu tokens have no superwords among them",
                     (unsigned long long)most, init, model_n_tokens(&m) - (m.n_merges - first));
    model_free(&m);
    return rc ? -1 : 0;
}

static int do_all(struct super *s, struct err *e)
{
    const struct train_super *o = &s->t->super;
    int status = s->t->merge.init ? check_init(s, e) : first_stage(s, e);
    set_budget(s);
    for (size_t i = 0; i < o->n && !status; i++) {
        char *last = NULL;
        status = first_model(s, o->at[i], e) ? -1 : all_rounds(s, o->at[i], &last, e);
        if (!status)
            status = write_result(s, o->at[i], last, e);
        if (!status)
            say_gain(s, o->at[i]);
        free(last);
    }
    return status ? status : write_stats(s, e);
}

/* Opens DIR of --keep: notes what the work is begun with, or checks that it is the same work on the same files. */
static int open_kept(struct super *s, struct err *e)
{
    const struct train *t = s->t;
    struct buf asked = {0};
    struct option_words words = {0};
    char *noted = NULL;
    int rc = add_words(&words, t->merge_words, (const char *const[]){"output", "format", "merges", NULL}, e) ||
             (t->boundless ? option_words_add(&words, e, "--boundless")
                           : option_words_add(&words, e, "--super=%s", t->super_text)) ||
             resume_put_asked(&asked, &t->common.reader, &s->chunk, (const char *const *)words.at, words.n, s->files,
                              s->n_files, e) ||
             (s->lock = resume_lock_file(s->job, s->dir, "lock", e)) < 0 || !(noted = path_in(s, e, "asked"));
    if (!rc)
        rc = exists(noted) ? resume_compare(s->dir, s->dir, buf_str(&asked), buf_str(&s->inputs), e)
                           : resume_note(s->dir, buf_str(&asked), buf_str(&s->inputs), e);
    free(noted);
    buf_free(&asked);
    option_words_free(&words);
    return rc ? -1 : 0;
}

/* Makes the directory of the stored ids. */
static int make_store(struct super *s, struct err *e)
{
    char *path = path_in(s, e, "ids");
    int rc = path ? resume_make_directory(path, e) : -1;
    free(path);
    return rc;
}

/* Reads the list of files, if there is one, because all steps need it. */
static int take_list(struct super *s, struct err *e)
{
    static const char *const list[] = {"files-from", "files0-from", "input-status", NULL};
    static const char *const list_null[] = {"files-from", "null", "input-status", NULL}; /* -0 is about the list */
    struct source_options *o = &s->source;
    return add_words(&s->chunk, s->t->chunk_words, o->files_from ? list_null : list, e) ||
                   source_options_files(o, &s->files, &s->n_files, e)
               ? -1
               : 0;
}

static int open_all(struct super *s, struct err *e)
{
    const struct train *t = s->t;
    static const char *const not_first[] = {"vocab-size", "output", "format", "merges", "init", "stats", "live", NULL};
    const char why[] = ", and superwords read the text several times; put it into a file";
    if (take_list(s, e))
        return -1;
    const bool piped = watch_reads_input(s->files, s->n_files);
    if (piped && (t->keep || s->n_files > 1))
        return resume_only_regular((char *[]){"-"}, 1, why, e);
    if (add_words(&s->first, t->merge_words, not_first, e) || (!t->keep && scratch_open(&s->scratch, t->sum.temp, e)))
        return -1;
    s->dir = t->keep ? t->keep : s->scratch.path;
    if ((piped && spool(s, e)) || resume_only_regular(s->files, s->n_files, why, e) ||
        resume_put_inputs(&s->inputs, s->files, s->n_files, t->common.parquet, e))
        return -1;
    if (add_words(&s->sum, t->sum_words, (const char *const[]){"quiet", NULL}, e) ||
        option_words_add(&s->sum, e, "--quiet") || (t->keep && open_kept(s, e)))
        return -1;
    return make_store(s, e);
}

int train_super(const struct train *t, struct job *j, struct err *e)
{
    struct super s = {.t = t,
                      .job = j,
                      .lock = -1,
                      .source = t->chunk.source,
                      .files = t->files,
                      .n_files = t->n_files,
                      .suffix = train_super_joins(&t->super) ? "model" : "json"};
    int status = open_all(&s, e) ? -1 : do_all(&s, e);
    option_words_free(&s.chunk);
    option_words_free(&s.first);
    file_list_free(&s.source.list);
    option_words_free(&s.sum);
    buf_free(&s.stats);
    buf_free(&s.inputs);
    free(s.spooled[0]);
    job_close(&s.lock);
    scratch_close(&s.scratch);
    return status;
}
