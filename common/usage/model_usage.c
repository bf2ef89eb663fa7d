/* model_usage.c - see model_usage.h. */
#include "usage/model_usage.h"

#include "base/io/fd.h"
#include "pretok/pattern.h"
#include "usage/shared_options.h"

enum { MULTIPLE_MAX = 1 << 17 };

/* Whether an option changes the model. */
static bool has_change(const struct model_options *o)
{
    return o->has_vocab_size || o->has_prune || o->has_multiple || o->add_special.n || o->eos || o->pad ||
           o->has_superwords || o->drop_unused;
}

static int check_files(const struct model_options *o, struct err *e)
{
    if (o->diff && o->n_files != 2)
        return err_set(e, EX_USAGE, "--diff compares two models: give both");
    if (o->n_files > 1 + (o->diff || o->has_prune || o->drop_unused))
        return err_set(e, EX_USAGE, "give only one model%s; for GPT-2, name one of its two files or their directory",
                       o->has_prune || o->drop_unused ? " and one sum" : "");
    if (o->diff && fd_is_stdin(o->files[0]) && fd_is_stdin(o->files[1]))
        return err_set(e, EX_USAGE, "--diff: standard input cannot be both models; name a file for one of them");
    if ((o->has_prune || o->drop_unused) && fd_is_stdin(o->files[0]) && (o->n_files == 1 || fd_is_stdin(o->files[1])))
        return err_set(e, EX_USAGE, "--%s: standard input cannot be both the model and the sum; name a file for one",
                       o->has_prune ? "prune" : "drop-unused");
    return 0;
}

static int check(void *options, struct err *e)
{
    struct model_options *o = options;
    o->format = model_format_at(o->format_number);
    if (check_files(o, e))
        return -1;
    if ((o->info || o->diff) && (o->has_format || o->path))
        return err_set(e, EX_USAGE, "--%s writes no model: leave out -f and -o", o->info ? "info" : "diff");
    if (o->diff && (o->info || o->pattern || o->special.n || has_change(o)))
        return err_set(e, EX_USAGE, "--diff compares models as they are: leave out the other options");
    if (o->format->is_directory && !o->path)
        return err_set(e, EX_USAGE, "-f %s writes several files; name a directory for them with -o", o->format->name);
    if (o->has_form && (o->info || o->diff || !o->format->has_merge_forms))
        return err_set(e, EX_USAGE, "--merges is for -f json and hf-dir");
    if (o->has_vocab_size && o->has_prune)
        return err_set(e, EX_USAGE, "-v and --prune both remove tokens: give only one of them");
    if (o->drop_unused && o->has_prune)
        return err_set(e, EX_USAGE, "--prune and --drop-unused both remove tokens: give only one of them");
    if (o->partial && !o->has_prune)
        return err_set(e, EX_USAGE, "--partial is for the sum of --prune");
    return o->pattern && !pattern_named(o->pattern, e) ? -1 : 0;
}

static int check_multiple(const char *word, void *options, struct err *e)
{
    const uint64_t n = ((const struct model_options *)options)->multiple;
    return n && n <= MULTIPLE_MAX
               ? 0
               : err_set(e, EX_USAGE, "--pad-to-multiple %s: must be between 1 and %d", word, MULTIPLE_MAX);
}

static int check_add_special(const char *token, void *options, struct err *e)
{
    (void)token;
    struct option_texts *list = &((struct model_options *)options)->add_special;
    if (shared_options_special(list, "--add-special", e) || shared_options_new_special(list, "--add-special", e))
        return -1;
    return 0;
}

/* Those of enum superword_kind, in its order. */
static const char *const superword_texts[] = {"documents", "lines", "runs", "boundless", NULL};

static const struct option_row rows[] = {
    {0, "info", NULL, "describe the model, one property per line", OPTION_TO(FLAG, struct model_options, info)},
    {0, "diff", NULL, "show how two models differ, one difference per line",
     OPTION_TO(FLAG, struct model_options, diff)},
    {'v', "vocab-size", "N",
     "cut the vocabulary to N tokens: without those that the last merges make;\n"
     "special tokens stay",
     OPTION_TO(COUNT, struct model_options, vocab_size), OPTION_GIVEN(struct model_options, has_vocab_size)},
    {0, "prune", "N", "remove the N tokens that the text of SUM (from bpe-sum) needs least",
     OPTION_TO(COUNT, struct model_options, prune), OPTION_GIVEN(struct model_options, has_prune)},
    {0, "drop-unused", NULL, "remove the merges that never apply in the text of SUM, and their tokens",
     OPTION_TO(FLAG, struct model_options, drop_unused)},
    {0, "partial", NULL, "with --prune: accept an incomplete sum", OPTION_TO(FLAG, struct model_options, partial)},
    {0, "add-special", "TOKEN", "add a special token, with the next id; repeat for several",
     OPTION_TO(TEXTS, struct model_options, add_special), .check = check_add_special},
    {0, "pad-to-multiple", "N", "add <|reserved_0|> and so on until the number of ids is a multiple of N",
     OPTION_TO(COUNT, struct model_options, multiple), OPTION_GIVEN(struct model_options, has_multiple),
     .check = check_multiple},
    {0, "set-eos", "TOKEN", "name the special token that ends a text", OPTION_TO(TEXT, struct model_options, eos)},
    {0, "set-pad", "TOKEN", "name the special token for padding", OPTION_TO(TEXT, struct model_options, pad)},
    {0, "superwords", "KIND",
     "prepare to learn superwords: split text as SuperBPE does for its second\n"
     "stage, by documents (default) or lines; or as BoundlessBPE, runs or\n"
     "boundless; see bpe-superwords(7)",
     OPTION_TO(CHOICE, struct model_options, superwords), .if_none = "documents", .words = superword_texts,
     OPTION_GIVEN(struct model_options, has_superwords)},
    {'f', "format", "FORMAT",
     "json: tokenizer.json (default); gpt2: vocab.json and merges.txt in the\n"
     "directory PATH; tiktoken: with -o also PATH.json; hf-dir: the directory\n"
     "PATH for from_pretrained; merges: text; boundless: BoundlessBPE",
     OPTION_TO(CHOICE, struct model_options, format_number), .get_words = model_format_names,
     OPTION_GIVEN(struct model_options, has_format)},
    {0, "merges", "FORM", "merges in tokenizer.json: array, or string for old readers\n(default: as in MODEL)",
     OPTION_TO(CHOICE, struct model_options, merges_as_strings), .words = shared_options_merges,
     OPTION_GIVEN(struct model_options, has_form)},
    {'p', "pattern", "NAME", "the pattern (see bpe-chunk), for a model that does not specify it",
     OPTION_TO(TEXT, struct model_options, pattern), .get_words = pattern_names},
    {'s', "special-token", "TOKEN[=ID]",
     "a special token, for a .tiktoken file without a PATH.json; ID defaults\n"
     "to the largest id plus 1",
     OPTION_TO(TEXTS, struct model_options, special)},
    OUTPUT_OPTION(struct model_options, path),
    {0},
};

const struct usage model_usage = {
    .name = "bpe-model",
    .synopsis = "[--info] [-v N] [--add-special=TOKEN]... [--pad-to-multiple=N]\n"
                "[--set-eos=TOKEN] [--set-pad=TOKEN] [--superwords[=KIND]]\n"
                "[-f json|gpt2|tiktoken|hf-dir|merges|boundless]\n"
                "[--merges=array|string] [-p NAME] [-s TOKEN[=ID]]... [-o PATH] [MODEL]\n"
                "bpe-model --prune=N [--partial] [OPTION]... MODEL [SUM]\n"
                "bpe-model --drop-unused [OPTION]... MODEL [SUM]\n"
                "bpe-model --diff MODEL MODEL",
    .about = "Reads a model, and writes it in another format, or changed, or describes it. MODEL is a\n"
             "tokenizer.json, .tiktoken file, tokenizer.model or BoundlessBPE model (default standard input),\n"
             "or a directory with vocab.json and merges.txt.",
    .options = rows,
    USAGE_FILES(struct model_options, files, n_files),
    .check = check,
};
