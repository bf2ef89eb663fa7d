/* merge_usage.c - see merge_usage.h. */
#include "usage/merge_usage.h"

#include "base/io/fd.h"
#include "base/io/outfile.h"
#include "base/sys/buf.h"
#include "base/sys/num.h"
#include "usage/shared_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct merge_size *merge_largest(const struct merge_options *o)
{
    const struct merge_size *largest = &o->size[0];
    for (size_t i = 1; i < o->n_sizes; i++)
        largest = o->size[i].n > largest->n ? &o->size[i] : largest;
    return largest;
}

char *merge_path(const struct merge_options *o, size_t i, const char *first, struct err *e)
{
    const struct merge_size *size = &o->size[i];
    struct buf path = {0};
    int rc = 0;
    for (const char *p = o->path; *p && rc == 0; p++) {
        if (p[0] == '%' && p[1] == 'v')
            rc = buf_put(&path, size->text, (size_t)size->len, e);
        else if (p[0] == '%' && p[1] == 't' && first)
            rc = buf_put(&path, first, strlen(first), e);
        else
            rc = buf_put_byte(&path, (unsigned char)*p, e);
        p += p[0] == '%' && (p[1] == 'v' || p[1] == '%' || (p[1] == 't' && first));
    }
    if (rc || buf_put_byte(&path, '\0', e)) {
        buf_free(&path);
        return NULL;
    }
    return (char *)path.p;
}

int merge_each_output(const struct merge_options *o, int (*check)(void *ctx, const char *path, struct err *e),
                      void *ctx, struct err *e)
{
    int rc = o->stats ? check(ctx, o->stats, e) : 0;
    for (size_t i = 0; i < o->n_sizes && rc == 0; i++) {
        char *path = o->path ? merge_path(o, i, NULL, e) : NULL;
        rc = o->path && !path ? -1 : check(ctx, path, e);
        free(path);
    }
    return rc;
}

int merge_check_stats(const struct merge_options *o, const char *path, struct err *e)
{
    return o->stats && outfile_same(path, o->stats)
               ? err_set(e, EX_USAGE, "--stats=%s: is also the output for the model; write to another file", o->stats)
               : 0;
}

/* Checks that the files can be read, and that none is also the sum; bpe train starts with it. */
static int check_veto(const struct merge_options *o, struct err *e)
{
    for (size_t k = 0; k < o->veto.n; k++) {
        const char *path = o->veto.at[k];
        const bool is_stdin = fd_is_stdin(path);
        if (!is_stdin && access(path, R_OK) < 0)
            return err_sys(e, EX_NOINPUT, errno, "%s: cannot open", path);
        for (int i = 0; is_stdin && i < o->n_files; i++)
            if (fd_is_stdin(o->files[i]))
                return err_set(e, EX_USAGE, "--veto=%s: standard input is the sum; name a file for one of them", path);
    }
    return 0;
}

static int not_stats(void *options, const char *path, struct err *e)
{
    const struct merge_options *o = options;
    return path == o->stats ? 0 : merge_check_stats(o, path ? path : "/dev/stdout", e);
}

/* Whether paths differ for different sizes. */
static bool has_size(const char *path)
{
    for (const char *p = path; p && (p = strchr(p, '%')); p += p[1] ? 2 : 1)
        if (p[1] == 'v')
            return true;
    return false;
}

static int check_sizes(const struct merge_options *o, struct err *e)
{
    if (!o->n_sizes)
        return err_set(e, EX_USAGE, "missing -v N (vocabulary size); see --help");
    for (size_t i = 0; i < o->n_sizes; i++) {
        const struct merge_size *s = &o->size[i];
        if ((s->n < 256 && !o->init) || s->n > INT32_MAX)
            return err_set(e, EX_USAGE, "-v %.*s: must be between 256 (the bytes; more with special tokens) and %d",
                           s->len, s->text, INT32_MAX);
        for (size_t k = 0; k < i; k++)
            if (o->size[k].n == s->n)
                return err_set(e, EX_USAGE, "-v %s: %.*s is the same size as another", o->sizes, s->len, s->text);
    }
    if (o->n_sizes > 1 && !has_size(o->path))
        return err_set(e, EX_USAGE, "-v %s: several models need several names; put %%v, the size, into that of -o",
                       o->sizes);
    return 0;
}

/* Reads a positive decimal number at *p, and moves *p past it. */
static int read_positive(const char **p, double *value, const char *option, const char *text, struct err *e)
{
    static const char digits[] = "0123456789";
    const char *end = *p + strspn(*p, digits);
    end += *end == '.' ? 1 + strspn(end + 1, digits) : 0;
    *value = strtod(*p, NULL);
    if (end == *p || !(*value > 0) || end - *p > 300)
        return err_set(e, EX_USAGE, "%s=%s: not a positive number, such as 1.5", option, text);
    *p = end;
    return 0;
}

/* Sets o->ratio: a positive number for each language. */
static int read_ratios(struct merge_options *o, struct err *e)
{
    const char *p = o->ratio_text;
    o->ratio = calloc((size_t)o->n_languages, sizeof *o->ratio);
    if (!o->ratio)
        return err_mem(e, "the ratios", (size_t)o->n_languages * sizeof *o->ratio);
    int n = 0;
    for (;; p++) {
        double ratio = 1;
        if (*o->ratio_text && read_positive(&p, &ratio, "--ratio", o->ratio_text, e))
            return -1;
        if (n < o->n_languages)
            o->ratio[n] = ratio;
        n++;
        if (*p != ',')
            break;
    }
    if (*p)
        return err_set(e, EX_USAGE, "--ratio=%s: not numbers with commas between", o->ratio_text);
    if (*o->ratio_text && n != o->n_languages)
        return err_set(e, EX_USAGE, "--ratio=%s: give one number for each sum (%d), not %d", o->ratio_text,
                       o->n_languages, n);
    for (int i = 1; i < o->n_languages && !*o->ratio_text; i++)
        o->ratio[i] = 1;
    return 0;
}

static int check_parity(struct merge_options *o, struct err *e)
{
    const char *given = o->dev.n           ? "dev"
                        : o->ratio_text    ? "ratio"
                        : o->global_merges ? "global-merges"
                        : o->alpha_text    ? "alpha"
                        : o->has_window    ? "window"
                                           : NULL;
    if (!o->parity)
        return given ? err_set(e, EX_USAGE, "--%s is for --parity", given) : 0;
    if (o->init)
        return err_set(e, EX_USAGE, "--init and --parity cannot be combined");
    const int n_dev = o->dev.n ? o->n_files - o->dev.at[0].n_files : 0;
    o->n_languages = o->n_files - n_dev;
    if (o->files == usage_no_files || o->n_languages < 1)
        return err_set(e, EX_USAGE, "--parity: give one sum for each language, before --dev");
    if (o->dev.n > 1)
        return err_set(e, EX_USAGE, "--dev: give it once, before all development sums");
    if (o->dev.n && n_dev != o->n_languages)
        return err_set(e, EX_USAGE, "--dev: give one sum for each sum of --parity (%d), not %d", o->n_languages, n_dev);
    if (o->dev.n && o->ratio_text)
        return err_set(e, EX_USAGE, "--dev and --ratio cannot be combined");
    if (!o->has_min_frequency)
        o->min_frequency = 2;
    if (!o->has_window)
        o->window = 100;
    if (o->window < 1 || o->window > INT32_MAX)
        return err_set(e, EX_USAGE, "--window %llu: must be between 1 and %d", (unsigned long long)o->window,
                       INT32_MAX);
    o->has_window |= o->alpha_text != NULL;
    const char *text = o->alpha_text ? o->alpha_text : "2", *p = text;
    if (read_positive(&p, &o->alpha, "--alpha", text, e))
        return -1;
    if (*p)
        return err_set(e, EX_USAGE, "--alpha=%s: not a positive number, such as 1.5", text);
    return o->ratio_text ? read_ratios(o, e) : 0;
}

static int check_live(const struct merge_options *o, struct err *e)
{
    return o->sizes || o->init || o->extend || o->parity || o->stats || o->partial
               ? err_set(e, EX_USAGE, "--live chooses pairs and learns nothing; use it with -o only")
               : 0;
}

static int check(void *options, struct err *e)
{
    struct merge_options *o = options;
    if (o->live)
        return check_live(o, e);
    if (o->live_pairs)
        return err_set(e, EX_USAGE, "--live-pairs is for --live");
    if (o->extend && o->init)
        return err_set(e, EX_USAGE, "--init and --extend cannot be combined");
    o->superwords = o->extend != NULL;
    o->init = o->extend ? o->extend : o->init;
    if (o->no_overlaps && (o->init || o->parity))
        return err_set(e, EX_USAGE, "--no-overlaps cannot be combined with --init, --extend or --parity");
    if (o->superwords && (o->parity || o->min_count || o->max_token_len || o->utf8_boundaries || o->veto.n))
        return err_set(e, EX_USAGE, "--extend cannot be combined with --parity, --min-count or a limit of tokens");
    if (check_sizes(o, e) || check_veto(o, e))
        return -1;
    const struct model_format *f = o->format = model_format_at(o->format_number);
    if (f->is_directory && !o->path)
        return err_set(e, EX_USAGE, "-f %s writes several files; name a directory for them with -o", f->name);
    if (o->special == MERGE_SPECIAL_FIRST && f->special_apart)
        return err_set(e, EX_USAGE, "--special-first: in the %s format special tokens come last", f->name);
    if (o->special != MERGE_SPECIAL_BY_FORMAT && !f->has_ids)
        return err_set(e, EX_USAGE, "--special-first and --special-last: the %s format has no ids", f->name);
    if (o->merges_as_strings && !f->has_merge_forms)
        return err_set(e, EX_USAGE, "--merges is for -f json and hf-dir");
    if (o->init && o->special == MERGE_SPECIAL_FIRST)
        return err_set(e, EX_USAGE, "--init: the tokens of the model keep their ids; leave out --special-first");
    if (o->init && fd_is_stdin(o->init))
        return err_set(e, EX_USAGE, "--init: the model cannot be read from standard input; give a file");
    if (check_parity(o, e))
        return -1;
    if (!o->has_tie)
        o->tie = o->superwords ? TRAIN_HF : o->init ? TRAIN_SMALLEST : o->parity ? TRAIN_GREATEST : TRAIN_HF;
    return merge_each_output(o, not_stats, o, e);
}

/* Reads one of the sizes. */
static int read_size(struct merge_options *o, const char *text, size_t len, struct err *e)
{
    char word[32];
    struct merge_size size = {.len = (int)len, .text = text};
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), text);
    if (num_count(word, &size.n, "-v", e))
        return -1;
    if (o->n_sizes == MERGE_SIZES)
        return err_set(e, EX_USAGE, "-v: more than %d sizes", MERGE_SIZES);
    o->size[o->n_sizes++] = size;
    return 0;
}

static int read_sizes(const char *sizes, void *options, struct err *e)
{
    struct merge_options *o = options;
    o->n_sizes = 0;
    for (const char *p = sizes;; p++) {
        size_t len = strcspn(p, ",");
        if (read_size(o, p, len, e))
            return -1;
        p += len;
        if (!*p)
            return 0;
    }
}

static int check_max_token_len(const char *word, void *options, struct err *e)
{
    const struct merge_options *o = options;
    return o->max_token_len ? 0 : err_set(e, EX_USAGE, "--max-token-length %s: must be at least 1", word);
}

static int check_budget(const char *word, void *options, struct err *e)
{
    const struct merge_options *o = options;
    return o->live ? 0 : err_set(e, EX_USAGE, "--live %s: must be at least 1", word);
}

static int check_live_pairs(const char *word, void *options, struct err *e)
{
    const struct merge_options *o = options;
    return o->live_pairs ? 0 : err_set(e, EX_USAGE, "--live-pairs %s: must be at least 1", word);
}

static int check_add_special(const char *token, void *options, struct err *e)
{
    (void)token;
    struct option_texts *list = &((struct merge_options *)options)->add_special;
    if (shared_options_special(list, "--add-special", e) || shared_options_new_special(list, "--add-special", e))
        return -1;
    return 0;
}

static int check_stats(const char *file, void *options, struct err *e)
{
    struct merge_options *o = options;
    if (!*file)
        return err_set(e, EX_USAGE, "--stats: the path is empty");
    if (strcmp(file, "-") == 0)
        o->stats = "/dev/stdout";
    return 0;
}

static const char *const ties[] = {"hf", "lex", "id", "smallest", "greatest", "least", NULL};

static const struct option_row rows[] = {
    {'v', "vocab-size", "N,...",
     "the vocabulary size, including special tokens and the 256 bytes;\n"
     "several: a model for each, with %v in the PATH of -o",
     OPTION_TO(TEXT, struct merge_options, sizes), .check = read_sizes},
    {0, "tie", "RULE",
     "which of equally frequent pairs to merge first: hf (default), the\n"
     "smallest ids, as Hugging Face does; lex, the greatest byte strings;\n"
     "id, the smallest ids, where the id of a byte is its value; smallest\n"
     "(default with --init) or greatest, the strings as in tokenizer.json;\n"
     "least, the smallest byte strings, as BoundlessBPE",
     OPTION_TO(CHOICE, struct merge_options, tie), .words = ties, OPTION_GIVEN(struct merge_options, has_tie)},
    {0, "no-overlaps", NULL, "count \"aaa\" as one pair, not two, as BoundlessBPE does",
     OPTION_TO(FLAG, struct merge_options, no_overlaps)},
    {0, "init", "MODEL",
     "extend this model to N tokens: its ids, merges, pattern and special\n"
     "tokens stay, and the new ids follow its last",
     OPTION_TO(TEXT, struct merge_options, init)},
    {0, "extend", "MODEL",
     "extend MODEL to N tokens by superwords: FILEs are sums of runs, from\n"
     "bpe-count -m MODEL --runs; see bpe-superwords(7)",
     OPTION_TO(TEXT, struct merge_options, extend)},
    {0, "live", "N",
     "learn nothing: FILEs are sums from bpe-count --pairs; write the most\n"
     "frequent pairs, up to a total count of N, for bpe-count --runs",
     OPTION_TO(COUNT, struct merge_options, live), .check = check_budget},
    {0, "live-pairs", "K", "with --live: write K pairs, for bpe-count --among; no others are live",
     OPTION_TO(COUNT, struct merge_options, live_pairs), .check = check_live_pairs},
    {0, "parity", NULL,
     "FILEs are the sums of several languages: at each step the one whose\n"
     "text has the most tokens chooses the pair",
     OPTION_TO(FLAG, struct merge_options, parity)},
    {0, "dev", NULL, "the FILEs after it are sums of development texts, whose tokens count",
     OPTION_TO(PLACED, struct merge_options, dev)},
    {0, "ratio", "R,...",
     "instead, the language chooses whose compression divided by its R is\n"
     "the lowest (default 1 for each)",
     OPTION_TO(TEXT, struct merge_options, ratio_text), .if_none = ""},
    {0, "global-merges", "M", "make the first M merges by the counts of all languages together",
     OPTION_TO(COUNT, struct merge_options, global_merges)},
    {0, "window", "W", "pass over a language that made more than A/languages of the last W\nchoices (default 100)",
     OPTION_TO(COUNT, struct merge_options, window), OPTION_GIVEN(struct merge_options, has_window)},
    {0, "alpha", "A", "the A of --window (default 2)", OPTION_TO(TEXT, struct merge_options, alpha_text)},
    {0, "min-count", "N", "ignore pretokens that occur fewer than N times, to save memory",
     OPTION_TO(COUNT, struct merge_options, min_count)},
    {0, "min-frequency", "N", "do not merge pairs that occur fewer than N times",
     OPTION_TO(COUNT, struct merge_options, min_frequency), OPTION_GIVEN(struct merge_options, has_min_frequency)},
    {0, "max-token-length", "N", "make no tokens of N bytes or more (except pairs of bytes)",
     OPTION_TO(COUNT, struct merge_options, max_token_len), .check = check_max_token_len},
    {0, "utf8-boundaries", NULL, "make no tokens that hold a part of a character beside others",
     OPTION_TO(FLAG, struct merge_options, utf8_boundaries)},
    {0, "veto", "FILE", "make no token that contains a line of FILE (plain or JSON); repeatable",
     OPTION_TO(TEXTS, struct merge_options, veto)},
    {0, "add-special", "TOKEN", "add a special token that bpe-chunk did not look for; repeat for several",
     OPTION_TO(TEXTS, struct merge_options, add_special), .check = check_add_special},
    {0, "special-first", NULL, "give special tokens the first ids (default for json, hf-dir)",
     OPTION_TO(VALUE, struct merge_options, special), .first = MERGE_SPECIAL_FIRST},
    {0, "special-last", NULL, "give them the last ids (default for gpt2, tiktoken, boundless)",
     OPTION_TO(VALUE, struct merge_options, special), .first = MERGE_SPECIAL_LAST},
    {'q', "quiet", NULL, "with --extend: do not say that another round can make more tokens",
     OPTION_TO(FLAG, struct merge_options, quiet)},
    {0, "partial", NULL, "accept an incomplete sum", OPTION_TO(FLAG, struct merge_options, partial)},
    {'f', "format", "FORMAT",
     "json: tokenizer.json (default); gpt2: vocab.json and merges.txt in\n"
     "the directory PATH; tiktoken: with -o also PATH.json;\n"
     "hf-dir: the directory PATH for from_pretrained; merges: text;\n"
     "boundless: the .model of BoundlessBPE",
     OPTION_TO(CHOICE, struct merge_options, format_number), .get_words = model_format_names},
    {0, "merges", "FORM", "merges in tokenizer.json: array (default), or string for old readers",
     OPTION_TO(CHOICE, struct merge_options, merges_as_strings), .words = shared_options_merges,
     OPTION_GIVEN(struct merge_options, has_form)},
    OUTPUT_OPTION(struct merge_options, path),
    {0, "stats", "FILE", "write a line per merge: vocabulary size, pair, count, bytes per token",
     OPTION_TO(TEXT, struct merge_options, stats), .check = check_stats},
    {0},
};

const struct usage merge_usage = {
    .name = "bpe-merge",
    .synopsis = "-v N[,N]... [--init=MODEL] [--tie=hf|lex|id|smallest|greatest|least]\n"
                "[--no-overlaps] [--min-count N] [--min-frequency N] [--max-token-length N]\n"
                "[--utf8-boundaries] [--veto=FILE]... [--add-special=TOKEN]...\n"
                "[--parity [--dev FILE...] [--ratio[=R,...]] [--global-merges=M]]\n"
                "[--window=W] [--alpha=A]\n"
                "[--special-first|--special-last] [--partial]\n"
                "[-f json|gpt2|tiktoken|hf-dir|merges|boundless] [--merges=array|string] [-o PATH]\n"
                "[--stats=FILE] [FILE...]\n"
                "bpe-merge -v N --extend=MODEL [-q] [OPTION]... [FILE...]\n"
                "bpe-merge --live=N [--live-pairs=K] [-o PATH] [FILE...]",
    .about = "Learns a vocabulary of N tokens from a sum (from bpe-sum), and writes the model.",
    .options = rows,
    USAGE_FILES(struct merge_options, files, n_files),
    .check = check,
};
