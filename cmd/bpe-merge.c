/* bpe-merge - learns the merges: a sum in, a model out.
 *
 * Pattern and special tokens come with the sum. The model is written when all of it is known, and nothing if anything
 * is amiss.
 */
#include "core/pattern.h"
#include "io/fd.h"
#include "io/prog.h"
#include "ledger/batch_store.h"
#include "ledger/ledger.h"
#include "model/assign_ids.h"
#include "model/formats.h"
#include "model/model_save.h"
#include "records/payload.h"
#include "sys/num.h"
#include "sys/simd.h"
#include "train/learn.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-merge"

static const char usage[] =
    "usage: bpe-merge -v N [--tie=hf|lex|id] [--min-frequency N] [--max-token-length N]\n"
    "                 [--special-first|--special-last] [--partial]\n"
    "                 [-f json|gpt2|tiktoken|merges] [--merges=array|string] [-o PATH] [FILE...]\n"
    "Learns a vocabulary of N tokens from a sum (from bpe-sum), and writes the model.\n"
    "  -v, --vocab-size=N        special tokens, 256 bytes and merges together\n"
    "      --tie=RULE            of pairs equally frequent, merge first: hf (default) the smallest\n"
    "                            ids, as Hugging Face; lex the greatest byte strings; id the\n"
    "                            smallest ids, id = byte value\n"
    "      --min-frequency=N     merge no pair that occurs less often\n"
    "      --max-token-length=N  make no token of N bytes or more (but pairs of bytes)\n"
    "      --special-first       give special tokens the first ids (default for json)\n"
    "      --special-last        give them the last ids (default for gpt2 and tiktoken)\n"
    "      --partial             accept an incomplete sum\n"
    "  -f, --format=FORMAT       json: tokenizer.json (default); gpt2: vocab.json and merges.txt in\n"
    "                            the directory PATH; tiktoken: with -o also PATH.json; merges: text\n"
    "      --merges=FORM         in tokenizer.json: array (default), or string for old readers\n"
    "  -o, --output=PATH         write there (default standard output)\n"
    "  -h, --help                this text\n"
    "      --version             version\n";

enum order { BY_FORMAT, FIRST, LAST };

struct options {
    uint64_t vocab_size;
    bool has_vocab_size, partial, merges_as_strings;
    enum learn_tie tie;
    uint64_t min_frequency, max_token_len;
    enum order special;
    const struct model_format *format;
    const char *path;
    char **files;
    int n_files;
};

struct merger {
    struct options opt;
    struct learner *learner;
    struct ledger ledger;
    struct batch_stores stores;
    struct rules rules;
    struct progress progress;
    struct merge *merges; /* owned */
    struct str *special;  /* owned */
};

/* ---- Reading the sum ---- */

static int take(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct merger *m = ctx;
    for (size_t i = 0; i < n; i++) {
        if (learner_add(m->learner, w[i].p, w[i].len, w[i].count, e))
            return -1;
    }
    return 0;
}

static int read_record(void *ctx, const struct record *rec, const char *stream, struct err *e)
{
    struct merger *m = ctx;
    return ledger_put(&m->ledger, rec, stream, e);
}

/* Exactly one sum, and a complete one. */
static int check_sum(struct merger *m, struct err *e)
{
    struct ledger *l = &m->ledger;
    int incomplete = ledger_finish(l, "", e);
    if (incomplete && (e->code != EX_TEMPFAIL || l->n_failures))
        return -1;
    if (ledger_n_seen(l) == 0)
        return incomplete ? -1 : err_set(e, EX_TEMPFAIL, "no sum came in; counts go through bpe-sum first");
    if (l->n_summaries + l->n_batches == 0)
        return incomplete ? -1 : err_set(e, EX_TEMPFAIL, "the sum is cut off before its end; make it again");
    if (ledger_n_seen(l) > 1)
        return l->n_summaries == ledger_n_seen(l)
                   ? err_set(e, EX_DATAERR, "several sums came in; add them up with bpe-sum first")
                   : err_set(e, EX_TEMPFAIL, "counts came in that are not added up; they go through bpe-sum first");
    if ((l->n_summaries == 1 && !incomplete) || m->opt.partial)
        return 0;
    if (!incomplete)
        return err_set(e, EX_TEMPFAIL,
                       "these counts have not been through bpe-sum, or only with --partial; pass them "
                       "through it, or see --partial here");
    char why[ERR_TEXT];
    return err_set(e, EX_TEMPFAIL, "the sum is incomplete (%s); complete it with bpe-sum, or see --partial",
                   err_text(e, why));
}

static int read_sum(struct merger *m, struct err *e)
{
    m->learner = learner_new(e);
    if (!m->learner)
        return -1;
    for (int i = 0; i < m->opt.n_files; i++) {
        if (record_each_of(m->opt.files[i], read_record, m, e))
            return -1;
    }
    return check_sum(m, e) ||
                   rules_get(&m->rules, (struct str){m->ledger.coverage.rules.p, m->ledger.coverage.rules.len}, e)
               ? -1
               : 0;
}

/* ---- Learning ---- */

static void show_progress(void *ctx, uint64_t done, uint64_t goal)
{
    struct merger *m = ctx;
    progress_show(&m->progress, done, goal, false, "merges");
}

/* Learns, and sets up the model (which borrows from m). */
static int learn(struct merger *m, struct learned *model, struct err *e)
{
    const struct options *o = &m->opt;
    const struct rules *r = &m->rules;
    uint64_t least = 256 + (uint64_t)r->n_special;
    if (o->vocab_size < least)
        return err_set(e, EX_USAGE, "-v %llu: too small; %zu special token%s and 256 bytes need %llu",
                       (unsigned long long)o->vocab_size, r->n_special, r->n_special == 1 ? "" : "s",
                       (unsigned long long)least);
    struct str *special = calloc(r->n_special + 1, sizeof *special);
    m->special = calloc(r->n_special + 1, sizeof *m->special);
    if (!special || !m->special) {
        free(special);
        return err_mem(e, "special tokens", r->n_special * sizeof *special);
    }
    for (size_t i = 0; i < r->n_special; i++) {
        special[i] = (struct str){r->special[i].p, r->special[i].len};
        m->special[i] = (struct str){r->special[i].p, r->special[i].len};
    }
    struct learn_opts lo = {.tie = o->tie,
                            .vocab_size = (uint32_t)o->vocab_size,
                            .min_frequency = o->min_frequency,
                            .max_token_len = o->max_token_len,
                            .special = special,
                            .n_special = r->n_special,
                            .progress = show_progress,
                            .progress_ctx = m};
    size_t n;
    progress_start(&m->progress, NAME);
    int rc = learner_run(m->learner, &lo, &m->merges, &n, e);
    progress_end(&m->progress);
    free(special);
    if (rc)
        return -1;
    learner_free(m->learner); /* now, as the model may be large */
    m->learner = NULL;
    *model = (struct learned){.merges = m->merges,
                              .n_merges = n,
                              .special = m->special,
                              .n_special = r->n_special,
                              .merges_as_strings = o->merges_as_strings};
    model->special_first = o->special == FIRST || (o->special == BY_FORMAT && o->format->special_first);
    if (n + least < o->vocab_size)
        prog_note(NAME, "no pair is left to merge%s: the vocabulary has %llu tokens, not %llu",
                  o->min_frequency > 1 ? " that occurs often enough" : "", (unsigned long long)(n + least),
                  (unsigned long long)o->vocab_size);
    return 0;
}

/* The pattern as the model names it. */
static int set_pattern(struct merger *m, struct learned *model, struct err *e)
{
    const struct rules *r = &m->rules;
    const struct pattern *pattern = r->n_regex ? NULL : pattern_find(r->pattern);
    if (!pattern && !r->n_regex)
        return err_set(e, EX_DATAERR, "pattern \"%.*s\" is not known to this bpe-merge; use one version everywhere",
                       (int)(r->pattern.len < 60 ? r->pattern.len : 60), (const char *)r->pattern.p);
    model->n_regex = pattern ? pattern->n_regex : r->n_regex;
    model->regex = pattern ? pattern->regex : r->regex;
    model->pattern = pattern ? pattern->name : NULL;
    for (size_t i = 0; i < r->n_regex && m->opt.format->dialect == PATTERN_ONIGURUMA; i++)
        if (pattern_has_possessive_count(model->regex[i]))
            prog_note(NAME, "the regex has }+, which Hugging Face tokenizers reads as a repetition, not as possessive: "
                            "write (?>...{n,m}) or the model splits text otherwise than it was counted");
    return 0;
}

static int write_model(const struct options *o, const struct learned *learned, struct err *e)
{
    struct model model;
    if (assign_ids(&model, learned, o->format, e))
        return -1;
    int rc = model_save(&model, o->format, o->path, e);
    model_free(&model);
    return rc;
}

/* Adds to "out of memory" how much would do. */
static void say_how_much(const struct merger *m, bool all_read, struct err *e)
{
    char need[32];
    uint64_t n, bytes = learner_memory(m->learner, &n);
    const struct err why = *e;
    num_bytes(need, sizeof need, (double)bytes);
    err_set(e, EX_OSERR, "%s; learning from the %llu pretokens %s takes about %s", why.msg, (unsigned long long)n,
            all_read ? "of the sum" : "read so far", need);
}

static int run(struct merger *m, struct err *e)
{
    struct learned learned;
    if (simd_prepare(e))
        return -1;
    bool all_read = read_sum(m, e) == 0;
    if (all_read && learn(m, &learned, e) == 0)
        return set_pattern(m, &learned, e) || write_model(&m->opt, &learned, e) ? -1 : 0;
    if (e->code == EX_OSERR && m->learner)
        say_how_much(m, all_read, e);
    return -1;
}

static void merger_free(struct merger *m)
{
    learner_free(m->learner);
    ledger_free(&m->ledger);
    batch_stores_free(&m->stores);
    rules_free(&m->rules);
    free(m->merges);
    free(m->special);
}

/* ---- The command line ---- */

enum { OPT_TIE = 256, OPT_MIN_FREQUENCY, OPT_MAX_LENGTH, OPT_FIRST, OPT_LAST, OPT_PARTIAL, OPT_MERGES, OPT_VERSION };

static int parse_option(struct options *o, int c, char **argv, struct err *e)
{
    static const char *const tie[] = {"hf", "lex", "id", NULL};
    static const char *const form[] = {"array", "string", NULL};
    int i;
    switch (c) {
    case 'v':
        o->has_vocab_size = true;
        return num_count(optarg, &o->vocab_size, "-v", e);
    case OPT_TIE:
        i = prog_choice("--tie", optarg, tie, e);
        o->tie = (enum learn_tie)i;
        return i < 0 ? -1 : 0;
    case OPT_MIN_FREQUENCY:
        return num_count(optarg, &o->min_frequency, "--min-frequency", e);
    case OPT_MAX_LENGTH:
        if (num_count(optarg, &o->max_token_len, "--max-token-length", e))
            return -1;
        return o->max_token_len ? 0 : err_set(e, EX_USAGE, "--max-token-length 0: must be at least 1");
    case OPT_FIRST:
    case OPT_LAST:
        o->special = c == OPT_FIRST ? FIRST : LAST;
        return 0;
    case OPT_PARTIAL:
        o->partial = true;
        return 0;
    case 'f':
        i = prog_choice("-f", optarg, model_format_names(), e);
        o->format = i < 0 ? NULL : model_format_at((size_t)i);
        return i < 0 ? -1 : 0;
    case OPT_MERGES:
        i = prog_choice("--merges", optarg, form, e);
        o->merges_as_strings = i == 1;
        return i < 0 ? -1 : 0;
    case 'o':
        o->path = strcmp(optarg, "-") == 0 ? NULL : optarg;
        return 0;
    case 'h':
        e->code = prog_print(NAME, usage);
        return 1;
    case OPT_VERSION:
        e->code = prog_print(NAME, NAME " " BPE_VERSION "\n");
        return 1;
    default:
        return prog_bad_option(c, argv, e);
    }
}

static int check_options(const struct options *o, struct err *e)
{
    if (!o->has_vocab_size)
        return err_set(e, EX_USAGE, "how large a vocabulary? give -v N; see --help");
    if (o->vocab_size < 256 || o->vocab_size > INT32_MAX)
        return err_set(e, EX_USAGE, "-v %llu: must be between 256 (the bytes; more with special tokens) and %d",
                       (unsigned long long)o->vocab_size, INT32_MAX);
    const struct model_format *f = o->format;
    if (f->is_directory && !o->path)
        return err_set(e, EX_USAGE, "-f %s makes two files; name a directory for them with -o", f->name);
    if (o->special == FIRST && f->special_apart)
        return err_set(e, EX_USAGE, "--special-first: in the %s format special tokens come last", f->name);
    if (o->special != BY_FORMAT && !f->has_ids)
        return err_set(e, EX_USAGE, "--special-first and --special-last: the %s format has no ids", f->name);
    if (o->merges_as_strings && !f->has_merge_forms)
        return err_set(e, EX_USAGE, "--merges is for -f json");
    return 0;
}

/* Reads the command line. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"vocab-size", required_argument, NULL, 'v'},
                                          {"tie", required_argument, NULL, OPT_TIE},
                                          {"min-frequency", required_argument, NULL, OPT_MIN_FREQUENCY},
                                          {"max-token-length", required_argument, NULL, OPT_MAX_LENGTH},
                                          {"special-first", no_argument, NULL, OPT_FIRST},
                                          {"special-last", no_argument, NULL, OPT_LAST},
                                          {"partial", no_argument, NULL, OPT_PARTIAL},
                                          {"format", required_argument, NULL, 'f'},
                                          {"merges", required_argument, NULL, OPT_MERGES},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPT_VERSION},
                                          {0}};
    e->code = 0;
    for (int c; (c = getopt_long(argc, argv, ":v:f:o:h", longs, NULL)) != -1;) {
        int rc = parse_option(o, c, argv, e);
        if (rc)
            return rc;
    }
    o->files = prog_files(argc, argv, &o->n_files);
    return check_options(o, e);
}

int main(int argc, char **argv)
{
    static struct merger m;
    struct err e;
    m.opt.format = model_format_at(0);
    fd_prepare();
    int rc = parse(&m.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0) {
        batch_stores_init(&m.stores, take, &m, NULL);
        m.stores.eager = true;
        ledger_init(&m.ledger, &batch_store_content, &m.stores);
        rc = run(&m, &e);
        merger_free(&m);
    }
    return rc < 0 ? prog_fail(NAME, &e) : 0;
}
