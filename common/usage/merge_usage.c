/* merge_usage.c - see merge_usage.h. */
#include "usage/merge_usage.h"

#include "base/io/outfile.h"
#include "usage/shared_options.h"

#include <string.h>

int merge_check_stats(const struct merge_options *o, const char *path, struct err *e)
{
    return o->stats && outfile_same(path, o->stats)
               ? err_set(e, EX_USAGE, "--stats=%s: is also the output for the model; write to another file", o->stats)
               : 0;
}

static int check(void *options, struct err *e)
{
    struct merge_options *o = options;
    if (!o->has_vocab_size)
        return err_set(e, EX_USAGE, "missing -v N (vocabulary size); see --help");
    if (o->vocab_size < 256 || o->vocab_size > INT32_MAX)
        return err_set(e, EX_USAGE, "-v %llu: must be between 256 (the bytes; more with special tokens) and %d",
                       (unsigned long long)o->vocab_size, INT32_MAX);
    const struct model_format *f = o->format = model_format_at(o->format_number);
    if (f->is_directory && !o->path)
        return err_set(e, EX_USAGE, "-f %s writes several files; name a directory for them with -o", f->name);
    if (o->special == MERGE_SPECIAL_FIRST && f->special_apart)
        return err_set(e, EX_USAGE, "--special-first: in the %s format special tokens come last", f->name);
    if (o->special != MERGE_SPECIAL_BY_FORMAT && !f->has_ids)
        return err_set(e, EX_USAGE, "--special-first and --special-last: the %s format has no ids", f->name);
    if (o->merges_as_strings && !f->has_merge_forms)
        return err_set(e, EX_USAGE, "--merges is for -f json and hf-dir");
    return merge_check_stats(o, o->path ? o->path : "/dev/stdout", e);
}

static int check_max_token_len(const char *word, void *options, struct err *e)
{
    const struct merge_options *o = options;
    return o->max_token_len ? 0 : err_set(e, EX_USAGE, "--max-token-length %s: must be at least 1", word);
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

static const char *const ties[] = {"hf", "lex", "id", NULL};

static const struct option_row rows[] = {
    {'v', "vocab-size", "N", "the vocabulary size, including special tokens and the 256 bytes",
     OPTION_TO(COUNT, struct merge_options, vocab_size), OPTION_GIVEN(struct merge_options, has_vocab_size)},
    {0, "tie", "RULE",
     "which of equally frequent pairs to merge first: hf (default), the\n"
     "smallest ids, as Hugging Face does; lex, the greatest byte strings;\n"
     "id, the smallest ids, where the id of a byte is its value",
     OPTION_TO(CHOICE, struct merge_options, tie), .words = ties},
    {0, "min-count", "N", "ignore pretokens that occur fewer than N times, to save memory",
     OPTION_TO(COUNT, struct merge_options, min_count)},
    {0, "min-frequency", "N", "do not merge pairs that occur fewer than N times",
     OPTION_TO(COUNT, struct merge_options, min_frequency)},
    {0, "max-token-length", "N", "make no tokens of N bytes or more (except pairs of bytes)",
     OPTION_TO(COUNT, struct merge_options, max_token_len), .check = check_max_token_len},
    {0, "add-special", "TOKEN", "add a special token that bpe-chunk did not look for; repeat for several",
     OPTION_TO(TEXTS, struct merge_options, add_special), .check = check_add_special},
    {0, "special-first", NULL, "give special tokens the first ids (default for json, hf-dir)",
     OPTION_TO(VALUE, struct merge_options, special), .first = MERGE_SPECIAL_FIRST},
    {0, "special-last", NULL, "give them the last ids (default for gpt2 and tiktoken)",
     OPTION_TO(VALUE, struct merge_options, special), .first = MERGE_SPECIAL_LAST},
    {0, "partial", NULL, "accept an incomplete sum", OPTION_TO(FLAG, struct merge_options, partial)},
    {'f', "format", "FORMAT",
     "json: tokenizer.json (default); gpt2: vocab.json and merges.txt in\n"
     "the directory PATH; tiktoken: with -o also PATH.json;\n"
     "hf-dir: the directory PATH for from_pretrained; merges: text",
     OPTION_TO(CHOICE, struct merge_options, format_number), .get_words = model_format_names},
    {0, "merges", "FORM", "merges in tokenizer.json: array (default), or string for old readers",
     OPTION_TO(CHOICE, struct merge_options, merges_as_strings), .words = shared_options_merges},
    OUTPUT_OPTION(struct merge_options, path),
    {0, "stats", "FILE", "write a line per merge: vocabulary size, pair, count, bytes per token",
     OPTION_TO(TEXT, struct merge_options, stats), .check = check_stats},
    {0},
};

const struct usage merge_usage = {
    .name = "bpe-merge",
    .synopsis = "-v N [--tie=hf|lex|id] [--min-count N] [--min-frequency N]\n"
                "[--max-token-length N] [--add-special=TOKEN]...\n"
                "[--special-first|--special-last] [--partial]\n"
                "[-f json|gpt2|tiktoken|hf-dir|merges] [--merges=array|string] [-o PATH]\n"
                "[--stats=FILE] [FILE...]",
    .about = "Learns a vocabulary of N tokens from a sum (from bpe-sum), and writes the model.",
    .options = rows,
    USAGE_FILES(struct merge_options, files, n_files),
    .check = check,
};
