/* bpe-chunk - says what to count: text in, chunks out.
 *
 * For a regular file it writes where the pieces are (ranges: it looks only at the text near the cuts), so that the text
 * itself crosses no pipe; for anything else, or with --inline, the text. Every record carries the rules (pattern,
 * special tokens) in full. Last comes the promise, which names all inputs and their sizes: bpe-sum holds the counts
 * against it.
 */
#include "chunk/chunk_writer.h"
#include "chunk/chunks.h"
#include "chunk/token_watch.h"
#include "chunk/wanted.h"
#include "core/model.h"
#include "core/model_rules.h"
#include "io/fd.h"
#include "io/prog.h"
#include "model/model_read.h"
#include "records/payload.h"
#include "records/record.h"
#include "scan/scan.h"
#include "sys/buf.h"
#include "sys/hash.h"
#include "sys/num.h"
#include "sys/simd.h"
#include "text/cut.h"
#include "text/pretokenize.h"
#include "unicode/utf8.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "bpe-chunk"

static const char usage[] =
    "usage: bpe-chunk [-p NAME | -e REGEX] [-m MODEL] [-s TOKEN]... [--no-special]\n"
    "                 [-b SIZE] [--inline] [--jsonl[=FIELD]] [--on-error=fail|skip]\n"
    "                 [--invalid=error|replace|skip|bytes] [--only FILE] [FILE...]\n"
    "Cuts text into chunks for bpe-count. FILEs (standard input if none, or -) are plain text,\n"
    "or zstd or gzip of it.\n"
    "  -p, --pattern=NAME     how text splits into pretokens: gpt2 (default), cl100k (llama3),\n"
    "                         cl100k-tiktoken, nanochat, qwen2, o200k, deepseek-v3, bytes\n"
    "  -e, --regex=REGEX      the same by a PCRE2 regex\n"
    "  -m, --model=MODEL      the pattern and the special tokens of a model, for bpe-encode\n"
    "  -s, --special=TOKEN    a special token, which ends a document (default <|endoftext|>);\n"
    "                         repeat for several\n"
    "      --no-special       no special token: each file is one document\n"
    "  -b, --block=SIZE       cut pieces of about SIZE (default: what suits the input)\n"
    "      --inline           write the text of regular files too, instead of where it is\n"
    "      --jsonl[=FIELD]    JSON Lines; the text is the string at FIELD (default text; a.b nests)\n"
    "      --on-error=WHAT    fail on (default), or skip, a line that is no JSON or lacks the string\n"
    "      --invalid=WHAT     invalid UTF-8 is an error (default), or replace it by U+FFFD, or skip it,\n"
    "                         or bytes: each such byte is a pretoken\n"
    "      --only=FILE        only the ranges in FILE (from bpe-sum --missing), read again from FILEs\n"
    "  -h, --help             this text\n"
    "      --version          version\n";

struct options {
    const char *pattern, *regex, *model;
    const char **special;
    size_t n_special;
    bool no_special, inline_text, jsonl, skip_bad_lines;
    const char *field;
    enum invalid_policy invalid;
    uint64_t block; /* 0: by what suits */
    const char *only;
    char **files;
    int n_files;
};

#define DEFAULT_SPECIAL "<|endoftext|>"

struct chunker {
    struct options opt;
    struct model model;               /* -m */
    struct pretokenizer pretokenizer; /* its special tokens; no text goes through it */
    struct cutter cutter;
    struct chunk_writer writer;
    struct token_watch watch; /* for the default special token, where -s has replaced it */
};

/* ---- Rules ---- */

/* Sets up what finds the cuts, from the rules; and finds out whether a worker will be able to follow them. */
static int set_cutter(struct chunker *c, const struct rules *r, bool jsonl, struct err *e)
{
    const struct pretoken_sink nowhere = {0};
    if (pretokenizer_open(&c->pretokenizer, r, INVALID_ERROR, &nowhere, e))
        return -1;
    const struct pattern *pattern = scanner_pattern(c->pretokenizer.scanner);
    cutter_init(&c->cutter, jsonl, pattern && pattern->cut_inside, &c->pretokenizer.special);
    return 0;
}

/* The pattern: by its name, by a regex, or the model's. */
static int set_pattern(struct chunker *c, struct rules *r, struct err *e)
{
    const struct options *o = &c->opt;
    if (o->model) {
        const char *name = model_pattern(&c->model);
        if (!name && c->model.n_regex == 0)
            return err_set(e, EX_USAGE, "%s does not say how text splits into pretokens; see -p", o->model);
        return model_rules_pattern(r, &c->model, name, e);
    }
    if (!o->regex) {
        const struct pattern *pattern = pattern_named(o->pattern, e);
        r->pattern = str_of(pattern ? pattern->name : "");
        return pattern ? 0 : -1;
    }
    const struct str regex = str_of(o->regex);
    return rules_set_regex(r, &regex, 1, e);
}

static int set_special(struct chunker *c, struct rules *r, struct err *e)
{
    const struct options *o = &c->opt;
    if (o->model && !o->n_special && !o->no_special)
        return model_rules_special(r, &c->model, false, e);
    r->special = calloc(o->n_special + 1, sizeof *r->special);
    if (!r->special)
        return err_mem(e, "special tokens", o->n_special * sizeof *r->special);
    for (size_t i = 0; i < o->n_special; i++)
        r->special[r->n_special++] = str_of(o->special[i]);
    return 0;
}

static int make_rules(struct chunker *c, struct err *e)
{
    const struct options *o = &c->opt;
    struct rules r = {0};
    const struct reading reading = {
        .invalid = o->invalid, .jsonl = o->jsonl, .field = str_of(o->field), .skip_bad_lines = o->skip_bad_lines};
    const struct model_opts given = {.pattern = o->pattern};
    int rc = (o->model && model_read(&c->model, o->model, &given, e)) || set_pattern(c, &r, e) ||
                     set_special(c, &r, e) || rules_put(&c->writer.rules, &r, e) ||
                     reading_put(&c->writer.reading, &reading, e) || set_cutter(c, &r, o->jsonl, e)
                 ? -1
                 : 0;
    rules_free(&r);
    return rc;
}

/* ---- The run ---- */

/* The default special token is looked for where -s has replaced it by others that do not have it in them. */
static void set_watch(struct chunker *c)
{
    const struct options *o = &c->opt;
    bool replaced = o->n_special && !o->model;
    for (size_t i = 0; i < o->n_special; i++)
        replaced &= strstr(o->special[i], DEFAULT_SPECIAL) == NULL;
    if (replaced)
        c->watch.token = str_of(DEFAULT_SPECIAL);
}

/* Rules and inputs, by the options. */
static int set_sources(struct chunker *c, struct err *e)
{
    const struct options *o = &c->opt;
    if (make_rules(c, e))
        return -1;
    set_watch(c);
    /* Where special tokens can overlap, which of them ended right before a piece may depend on text far before it. */
    bool by_value = o->inline_text || (o->model && !cut_is_local(&c->cutter));
    for (int i = 0; i < o->n_files; i++) {
        if (source_list_add(&c->writer.sources, o->files[i], by_value, &c->watch, e))
            return -1;
    }
    return 0;
}

/* Rules and inputs, by a list of what is wanted. */
static int set_wanted(struct chunker *c, struct err *e)
{
    const struct options *o = &c->opt;
    struct rules rules = {0};
    struct reading reading;
    struct str how = {0};
    if (wanted_read(&c->writer, o->only, &how, e))
        return -1;
    if (how.len) {
        int rc = rules_get(&rules, chunk_writer_rules(&c->writer), e) || reading_get(&reading, how, e) ||
                         set_cutter(c, &rules, reading.jsonl, e)
                     ? err_place(e, fd_name(o->only), 0)
                     : 0;
        rules_free(&rules);
        if (rc)
            return -1;
    }
    return wanted_match(&c->writer, o->files, (size_t)o->n_files, o->inline_text, o->only, e);
}

static int run(struct chunker *c, struct err *e)
{
    if (c->opt.only ? set_wanted(c, e) : set_sources(c, e))
        return -1;
    if (chunks_write(&c->writer, &c->cutter, c->opt.block, c->opt.only != NULL, &c->watch, e))
        return -1;
    if (c->watch.found)
        prog_note(NAME, "the text has " DEFAULT_SPECIAL ", which is no special token where -s names others: it is "
                        "counted as text; add -s '" DEFAULT_SPECIAL "' if documents end with it");
    return fd_close_stdout(e);
}

static void chunker_free(struct chunker *c)
{
    free(c->opt.special);
    pretokenizer_close(&c->pretokenizer);
    model_free(&c->model);
    chunk_writer_free(&c->writer);
}

static int add_special(struct options *o, const char *token, struct err *e)
{
    bool cut;
    size_t n = strlen(token);
    if (n == 0 || utf8_valid_len((const unsigned char *)token, n, &cut) != n)
        return err_set(e, EX_USAGE, "-s: a special token must be UTF-8 text, and not empty");
    for (size_t i = 0; i < o->n_special; i++) {
        if (strcmp(o->special[i], token) == 0)
            return 0;
    }
    return prog_add(&o->special, &o->n_special, token, e);
}

enum { OPT_NO_SPECIAL = 256, OPT_INLINE, OPT_JSONL, OPT_ON_ERROR, OPT_INVALID, OPT_ONLY, OPT_VERSION };

/* One option. 0: go on; 1: help or version was printed (e->code); -1: wrong use. */
static int parse_option(struct options *o, int c, char **argv, struct err *e)
{
    static const char *const on_error[] = {"fail", "skip", NULL};
    static const char *const invalid[] = {"error", "replace", "skip", "bytes", NULL};
    char version[200];
    int i;
    switch (c) {
    case 'p':
        o->pattern = optarg;
        return 0;
    case 'e':
        o->regex = optarg;
        return 0;
    case 'm':
        o->model = optarg;
        return 0;
    case 's':
        return add_special(o, optarg, e);
    case 'b':
        if (num_size(optarg, &o->block, "-b", e))
            return -1;
        if (o->block == 0 || o->block > RECORD_MAX / 4)
            return err_set(e, EX_USAGE, "-b %s: must be between 1 and 256M", optarg);
        return 0;
    case OPT_NO_SPECIAL:
        o->no_special = true;
        return 0;
    case OPT_INLINE:
        o->inline_text = true;
        return 0;
    case OPT_JSONL:
        o->jsonl = true;
        o->field = optarg ? optarg : "text";
        return *o->field ? 0 : err_set(e, EX_USAGE, "--jsonl=: the field has no name");
    case OPT_ON_ERROR:
        i = prog_choice("--on-error", optarg, on_error, e);
        o->skip_bad_lines = i == 1;
        return i < 0 ? -1 : 0;
    case OPT_INVALID:
        i = prog_choice("--invalid", optarg, invalid, e);
        o->invalid = (enum invalid_policy)i;
        return i < 0 ? -1 : 0;
    case OPT_ONLY:
        o->only = optarg;
        return 0;
    case 'h':
        e->code = prog_print(NAME, usage);
        return 1;
    case OPT_VERSION:
        e->code = prog_print(NAME, scanner_version(version, sizeof version, NAME " " BPE_VERSION));
        return 1;
    default:
        return prog_bad_option(c, argv, e);
    }
}

static int check_options(struct options *o, struct err *e)
{
    bool cut;
    if (o->regex && (o->pattern || o->model))
        return err_set(e, EX_USAGE, "-e and -%c exclude each other", o->pattern ? 'p' : 'm');
    if (o->jsonl && o->invalid == INVALID_BYTES)
        return err_set(e, EX_USAGE, "--invalid=bytes is not for --jsonl: a string in JSON is text");
    if (o->regex && utf8_valid_len((const unsigned char *)o->regex, strlen(o->regex), &cut) != strlen(o->regex))
        return err_set(e, EX_USAGE, "-e: the regex is not UTF-8 text");
    if (o->no_special && o->n_special)
        return err_set(e, EX_USAGE, "-s and --no-special exclude each other");
    if (o->skip_bad_lines && !o->jsonl)
        return err_set(e, EX_USAGE, "--on-error=skip is for --jsonl");
    if (o->only && (o->pattern || o->regex || o->model || o->n_special || o->no_special || o->jsonl || o->invalid))
        return err_set(e, EX_USAGE, "--only takes the rules from its file; leave out options that set them");
    if (!o->pattern && !o->model)
        o->pattern = "gpt2";
    if (!o->field)
        o->field = "";
    return o->no_special || o->n_special || o->model ? 0 : add_special(o, DEFAULT_SPECIAL, e);
}

static int parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"pattern", required_argument, NULL, 'p'},
                                          {"regex", required_argument, NULL, 'e'},
                                          {"model", required_argument, NULL, 'm'},
                                          {"special", required_argument, NULL, 's'},
                                          {"no-special", no_argument, NULL, OPT_NO_SPECIAL},
                                          {"block", required_argument, NULL, 'b'},
                                          {"inline", no_argument, NULL, OPT_INLINE},
                                          {"jsonl", optional_argument, NULL, OPT_JSONL},
                                          {"on-error", required_argument, NULL, OPT_ON_ERROR},
                                          {"invalid", required_argument, NULL, OPT_INVALID},
                                          {"only", required_argument, NULL, OPT_ONLY},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPT_VERSION},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, ":p:e:m:s:b:h", longs, NULL)) != -1;) {
        int rc = parse_option(o, c, argv, e);
        if (rc)
            return rc;
    }
    o->files = prog_files(argc, argv, &o->n_files);
    if (o->only && optind == argc)
        o->n_files = 0;
    return check_options(o, e);
}

int main(int argc, char **argv)
{
    static struct chunker c = {.writer = {.fd = 1, .name = "standard output"}};
    struct err e = {0};
    fd_prepare();
    random_bytes(c.writer.run, ID_LEN);
    int rc = parse(&c.opt, argc, argv, &e);
    if (rc > 0)
        return e.code;
    if (rc == 0)
        rc = prog_no_terminal(&e) || simd_prepare(&e) || run(&c, &e) ? -1 : 0;
    if (rc < 0 && !isatty(1) && !(c.opt.only && c.writer.sources.n == 0))
        chunk_writer_fail(&c.writer, &e); /* the programs below would only see that something is missing */
    int code = rc < 0 ? prog_fail(NAME, &e) : 0;
    chunker_free(&c);
    return code;
}
