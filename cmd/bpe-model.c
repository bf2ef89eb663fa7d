/* bpe-model - converts, changes, describes and compares models: any format in, any format out.
 *
 * Ids do not change unless tokens are removed. If the other format cannot express the model, nothing is written, and
 * the program fails.
 */
#include "base/cli/program.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "encode/encode_pretoken.h"
#include "encode/superword_tokens.h"
#include "encode/token_counts.h"
#include "encode/token_pairs.h"
#include "model/formats.h"
#include "model/model.h"
#include "model/model_convert.h"
#include "model/model_diff.h"
#include "model/model_grow.h"
#include "model/model_read.h"
#include "model/model_remarks.h"
#include "model/model_save.h"
#include "model/model_shrink.h"
#include "model/model_text.h"
#include "pretok/rules.h"
#include "superwords/superword_model.h"
#include "superwords/used_merges.h"
#include "usage/model_usage.h"
#include "wire/record_text.h"
#include "wire/sum_reader.h"

#include <stdlib.h>
#include <string.h>

#define NAME "bpe-model"

enum { SHOWN = 200 }; /* bytes of the longest superword, at most */

/* ---- Describing ---- */

/* How many superwords there are, and how long they are. */
static int put_superwords(struct buf *out, const struct model *m, struct err *e)
{
    struct superword_tokens s;
    size_t several = 0, most = 0, all = 0;
    const struct model_token *longest = NULL;
    if (superword_tokens_find(&s, m, e)) {
        superword_tokens_free(&s);
        return -1;
    }
    for (size_t id = 0; s.n && id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        const size_t n = s.is[id] ? superword_tokens_words(t) : 0;
        several += n > 1;
        most = n > most ? n : most;
        all += n;
        if (n > 1 && (!longest || t->len > longest->len))
            longest = t;
    }
    int rc = 0;
    if (s.n)
        rc = (!m->n_super && buf_printf(out, e, "superwords: %zu\n", s.n)) ||
             buf_printf(out, e, "first-stage: %zu\nseveral-words: %zu\nmean-words: %.2f\nmost-words: %zu\n",
                        model_n_tokens(m) - s.n, several, (double)all / (double)s.n, most);
    if (longest && !rc)
        rc = buf_put_str(out, "longest-superword: ", e) || record_text_quote(out, longest->p, longest->len, SHOWN, e) ||
             buf_put_byte(out, '\n', e);
    superword_tokens_free(&s);
    return rc ? -1 : 0;
}

/* The merges, and which tokens they never make. Of a model with superwords of whole pretokens this is not known:
 * pretokens depend on the text around. */
static int put_merges(struct buf *out, const struct model *m, struct err *e)
{
    size_t unreached = 0;
    uint32_t first;
    if (!m->n_super && model_unreached(m, &unreached, &first, e))
        return -1;
    return (m->by_rank ? buf_put_str(out, "merges: by rank\n", e) : buf_printf(out, e, "merges: %zu\n", m->n_merges)) ||
                   (m->n_super && buf_printf(out, e, "superwords: %zu merges of whole pretokens\n", m->n_super)) ||
                   put_superwords(out, m, e) ||
                   buf_printf(out, e, "ignore-merges: %s\n", m->ignore_merges ? "yes" : "no") ||
                   (!m->n_super && buf_printf(out, e, "unreached: %zu\n", unreached))
               ? -1
               : 0;
}

static int put_vocab(struct buf *out, const struct model *m, struct err *e)
{
    uint32_t longest = 0;
    for (size_t id = 0; id < m->n_ids; id++)
        longest = m->token[id].len > longest ? m->token[id].len : longest;
    return buf_printf(out, e, "ids: %lu\ntokens: %zu\nid-bytes: %u\nlongest-token: %lu\n", (unsigned long)m->n_ids,
                      model_n_tokens(m), model_id_bytes(m), (unsigned long)longest) ||
                   put_merges(out, m, e)
               ? -1
               : 0;
}

/* The component that splits text into pretokens. */
static const char *scanner_name(const struct model *m)
{
    return token_pairs_apply(m)  ? "pairs"
           : model_is_unsplit(m) ? "none"
           : model_pattern(m)    ? "built-in"
           : m->n_regex          ? "regex"
                                 : "unknown";
}

/* Which implementation encodes text. */
static int put_paths(struct buf *out, const struct model *m, struct err *e)
{
    struct pretoken_encoder encoder = {0};
    bool fast = false;
    int rc = pretoken_encoder_init(&encoder, m, e) || pretoken_encoder_prepare(&encoder, &fast, e) ||
             buf_printf(out, e, "scanner: %s\nmerging: %s\n", scanner_name(m), fast ? "fast" : "plain");
    pretoken_encoder_free(&encoder);
    return rc ? -1 : 0;
}

static int write_text(const struct buf *out, struct err *e)
{
    return fd_write(1, out->p, out->len, "standard output", e) || fd_close_stdout(e) ? -1 : 0;
}

static int describe(const struct model *m, struct err *e)
{
    struct buf out = {0};
    int rc = buf_printf(&out, e, "format: %s\n", m->format->name) || model_put_rules(&out, m, true, e) ||
             put_vocab(&out, m, e) || put_paths(&out, m, e) || model_put_role(&out, "eos", m->eos, e) ||
             model_put_role(&out, "pad", m->pad, e) || model_put_role(&out, "separator", model_eos(m), e) ||
             model_put_role(&out, "padding", model_pad(m), e) || model_put_special(&out, m, e) || write_text(&out, e);
    buf_free(&out);
    return rc ? -1 : 0;
}

/* Returns 1 if they differ. */
static int compare(const struct model_options *o, struct err *e)
{
    struct model a = {0}, b = {0};
    struct buf out = {0};
    int rc = model_read(&a, o->files[0], NULL, e) || model_read(&b, o->files[1], NULL, e) ||
                     (a.n_super || b.n_super ? err_set(e, EX_USAGE,
                                                       "--diff: comparing models with superwords of whole pretokens "
                                                       "(BoundlessBPE) is not supported")
                                             : 0) ||
                     model_diff(&out, &a, &b, e) || write_text(&out, e)
                 ? -1
                 : out.len > 0;
    buf_free(&out);
    model_free(&a);
    model_free(&b);
    return rc;
}

/* ---- Pruning ---- */

static int add_pretokens(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (token_counts_add(ctx, &w[i], e))
            return -1;
    return 0;
}

/* Refuses a sum whose pretokens are not those of the model. A model that does not state how it splits text accepts any.
 */
static int check_pattern(const struct model_options *o, const struct model *m, const struct rules *sum, struct err *e)
{
    struct rules own = {0};
    const char *pattern = model_pattern(m);
    int rc = model_rules_pattern(&own, m, pattern, e);
    if (rc == 0 && (own.n_regex || own.pattern.len) && !rules_same_pattern(&own, sum))
        rc = err_set(e, EX_DATAERR,
                     "the sum was not counted by the pattern of %s; count the text with bpe-chunk -m MODEL",
                     fd_name(o->files[0]));
    rules_free(&own);
    return rc;
}

static int prune(const struct model_options *o, struct model *m, struct err *e)
{
    char *no_file = usage_no_files[0], *const *sum = o->n_files > 1 ? &o->files[1] : &no_file;
    struct token_counts *counts = calloc(1, sizeof *counts);
    struct sum_reader reader;
    struct rules rules = {0};
    if (!counts)
        return err_mem(e, "the counts of tokens", sizeof *counts);
    sum_reader_init(&reader, add_pretokens, counts);
    int rc = model_of_characters(m) ? err_set(e, EX_USAGE,
                                              "--prune is for models of bytes, and this one starts from characters "
                                              "(SentencePiece): not supported")
             : fd_keep_apart(o->path, sum, 1, e) || token_counts_init(counts, m, e) ||
                     token_counts_begin(counts, false, e) || sum_reader_read(&reader, sum, 1, o->partial, &rules, e) ||
                     token_counts_end(counts, e) || check_pattern(o, m, &rules, e) ||
                     model_prune(m, o->prune, counts->count, e)
                 ? -1
                 : 0;
    sum_reader_free(&reader);
    rules_free(&rules);
    token_counts_free(counts);
    free(counts);
    return rc;
}

/* ---- Unused merges ---- */

static int add_used(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (used_merges_add(ctx, &w[i], e))
            return -1;
    return 0;
}

static int drop_unused(const struct model_options *o, struct model *m, struct err *e)
{
    char *no_file = usage_no_files[0], *const *sum = o->n_files > 1 ? &o->files[1] : &no_file;
    struct used_merges used = {0};
    struct sum_reader reader;
    struct rules rules = {0};
    sum_reader_init(&reader, add_used, &used);
    int rc = model_of_characters(m) ? err_set(e, EX_USAGE,
                                              "--drop-unused is for models of bytes, and this one starts from "
                                              "characters (SentencePiece): not supported")
             : fd_keep_apart(o->path, sum, 1, e) || convert_to_merges(m, e) || used_merges_init(&used, m, e) ||
                     sum_reader_read(&reader, sum, 1, false, &rules, e) || check_pattern(o, m, &rules, e) ||
                     used_merges_find(&used, e) || model_keep_used(m, used.used, e)
                 ? -1
                 : 0;
    sum_reader_free(&reader);
    rules_free(&rules);
    used_merges_free(&used);
    return rc;
}

/* ---- Special tokens ---- */

static int add_special(const struct model_options *o, struct model *m, struct err *e)
{
    const struct option_texts *given = &o->add_special;
    struct str *new = calloc(given->n + 1, sizeof *new);
    size_t n = 0;
    if (!new)
        return err_mem(e, "the special tokens", given->n * sizeof *new);
    for (size_t i = 0; i < given->n; i++) {
        const struct model_special *s = model_special_named(m, str_of(given->at[i]));
        if (s)
            program_note(NAME, "--add-special %s: the model has this token, with the id %lu", given->at[i],
                         (unsigned long)s->id);
        else
            new[n++] = str_of(given->at[i]);
    }
    int rc = model_add_special(m, new, n, o->has_multiple ? o->multiple : 1, e);
    free(new);
    return rc;
}

/* Gives a special token a role. */
static int set_role(struct model *m, const struct model_special **role, const char *option, const char *token,
                    struct err *e)
{
    if (!token)
        return 0;
    *role = model_special_named(m, str_of(token));
    return *role ? 0
                 : err_set(e, EX_USAGE, "%s %s: not a special token of the model; add it with --add-special", option,
                           token);
}

static int make_superwords(const struct model_options *o, struct model *m, struct err *e)
{
    const enum superword_kind kind = o->superwords;
    if (kind >= SUPERWORDS_JOINED && !o->info && !o->format->has_superwords)
        return err_set(e, EX_USAGE, "--superwords: only -f boundless can express superwords of whole pretokens");
    return superword_model_make(m, kind, e);
}

static int change(const struct model_options *o, struct model *m, struct err *e)
{
    return (o->has_prune && prune(o, m, e)) || (o->drop_unused && drop_unused(o, m, e)) ||
                   (o->has_vocab_size && model_cut(m, o->vocab_size, e)) ||
                   (o->has_superwords && make_superwords(o, m, e)) ||
                   ((o->add_special.n || o->has_multiple) && add_special(o, m, e)) ||
                   set_role(m, &m->eos, "--set-eos", o->eos, e) || set_role(m, &m->pad, "--set-pad", o->pad, e)
               ? -1
               : 0;
}

/* ---- Converting ---- */

static int convert(const struct model_options *o, struct model *m, struct err *e)
{
    if (o->has_form)
        m->merges_as_strings = o->merges_as_strings;
    const bool lost_eos = o->eos && !model_keeps_eos(m, o->format, o->path),
               lost_pad = o->pad && !model_keeps_pad(m, o->format, o->path);
    if (lost_eos || lost_pad)
        return err_set(e, EX_USAGE, "%s: -f %s cannot record this here; -f hf-dir can",
                       lost_eos ? "--set-eos" : "--set-pad", o->format->name);
    if (model_format_check(o->format, m, e) || model_save(m, o->format, o->path, e))
        return -1;
    model_remarks(m, o->format, o->path, NAME, program_note);
    return 0;
}

static int run(void *ctx, struct err *e)
{
    const struct model_options *o = ctx;
    struct model m;
    if (o->diff)
        return compare(o, e);
    const struct model_opts given = {.pattern = o->pattern, .special = o->special.at, .n_special = o->special.n};
    if (model_read(&m, o->files[0], &given, e))
        return -1;
    int rc = change(o, &m, e) ? -1 : o->info ? describe(&m, e) : convert(o, &m, e);
    model_free(&m);
    return rc;
}

/* ---- The command line ---- */

static struct model_options self;

static const struct program program = {
    .usage = &model_usage,
    .options = &self,
    .ctx = &self,
    .run = run,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
