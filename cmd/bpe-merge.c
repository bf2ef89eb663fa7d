/* bpe-merge - learns the merges: a sum in, a model out.
 *
 * Pattern and special tokens come with the sum, or from the model that --init extends; --add-special adds special
 * tokens. The model is written only when it is complete and nothing has failed.
 */
#include "base/cli/program.h"
#include "base/cli/progress.h"
#include "base/io/codec.h"
#include "base/io/fd.h"
#include "base/sys/memory.h"
#include "base/sys/num.h"
#include "encode/encode_pretoken.h"
#include "model/assign_ids.h"
#include "model/formats.h"
#include "model/model_build.h"
#include "model/model_convert.h"
#include "model/model_extend.h"
#include "model/model_read.h"
#include "model/model_remarks.h"
#include "model/model_save.h"
#include "superwords/joined_model.h"
#include "superwords/live_choice.h"
#include "superwords/superword_model.h"
#include "train/token_list.h"
#include "train/trainer.h"
#include "usage/merge_usage.h"
#include "wire/record_text.h"
#include "wire/sum_reader.h"
#include "wire/superword_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-merge"

__extension__ typedef unsigned __int128 u128;

/* For some pretokens: how many are distinct, their total count, and the bytes of all occurrences. */
struct amount {
    uint64_t distinct;
    u128 total, bytes;
};

struct merger {
    struct merge_options opt;
    struct trainer *trainer;
    struct amount kept, left_out; /* left_out: by --min-count */
    char memory[200];             /* message: the memory needed for learning */
    struct sum_reader sum;
    uint64_t denominator; /* of all counts: that of the sum; --parity: the common one of all sums read so far */
    struct rules rules;
    struct progress progress;
    struct merge *merges;        /* owned */
    struct model base;           /* --init: the model to extend */
    u128 tokens;                 /* the same: those of the pretokens kept, by their counts */
    uint64_t floor;              /* --extend: counts below this are not known; else 0 */
    uint64_t *rival;             /* the same, if superwords compete with words: the counts of these; owned */
    struct model_size base_size; /* the same, before it is extended */
    struct pretoken_encoder encoder;
    size_t language;                /* --parity: the one whose sum is being read */
    struct sum_reader *of_language; /* the same: that sum */
    bool dev;                       /* the same: the sum is that of its development text */
    bool rules_known;               /* the same: from the first sum */
    struct id_list ids;             /* working memory */
    struct token_list veto;
};

/* ---- Reading the sum ---- */

/* Whether superwords are learned that join whole pretokens. */
static bool joins(const struct merger *m)
{
    return m->opt.superwords && m->base.joins;
}

static bool competes(const struct merger *m)
{
    return joins(m) && m->base.joins == JOINS_COMPETE;
}

static int not_runs(const struct merger *m, struct err *e)
{
    return err_set(e, EX_DATAERR, "not a sum of runs of the ids of %s; count with bpe-count -m %s --runs", m->opt.init,
                   m->opt.init);
}

/* The count of what occurs n times, at most 2^64 - 1. */
static uint64_t count_of(const struct merger *m, uint64_t n)
{
    uint64_t count;
    return __builtin_mul_overflow(n, m->denominator, &count) ? UINT64_MAX : count;
}

/* Adds some pretokens as the base model encodes them: up to WORDS_MAX. */
static int add_encoded_some(struct merger *m, const struct pretoken *w, size_t n, struct err *e)
{
    struct word word[WORDS_MAX];
    size_t n_words = 0, bytes = 0;
    const uint64_t min = count_of(m, m->opt.min_count);
    for (size_t i = 0; i < n; i++)
        bytes += w[i].len;
    m->ids.n = 0;
    if (id_list_reserve(&m->ids, bytes, e))
        return -1;
    bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (w[i].count < min)
            continue;
        if (w[i].len > UINT32_MAX)
            return err_set(e, EX_DATAERR, "a pretoken has %zu bytes: count with a pattern that splits it", w[i].len);
        word[n_words++] = (struct word){.p = w[i].p, .n = (uint32_t)w[i].len, .id = m->ids.id + bytes};
        bytes += w[i].len;
    }
    if (pretoken_encode_some(&m->encoder, word, n_words, e))
        return -1;
    for (size_t i = 0, k = 0; i < n; i++) {
        if (w[i].count < min)
            continue;
        if (trainer_add_ids(m->trainer, word[k].id, word[k].n_ids, w[i].count, e))
            return -1;
        m->tokens += (u128)w[i].count * word[k++].n_ids;
    }
    return 0;
}

static int add_encoded(struct merger *m, const struct pretoken *w, size_t n, struct err *e)
{
    for (size_t some; n; w += some, n -= some) {
        some = n < WORDS_MAX ? n : WORDS_MAX;
        if (add_encoded_some(m, w, some, e))
            return -1;
    }
    return 0;
}

/* Adds a pretoken to the amounts. Returns whether it is kept, because its count is at least `min`. */
static bool note_pretoken(struct merger *m, const struct pretoken *w, uint64_t min)
{
    struct amount *to = w->count < min ? &m->left_out : &m->kept;
    to->distinct++;
    to->total += w->count;
    to->bytes += m->opt.superwords ? 0 : (u128)w->count * w->len;
    return to == &m->kept;
}

/* Adds runs of ids, and notes the tokens and bytes of the text, which single ids count. */
static int add_runs(struct merger *m, const struct pretoken *w, size_t n, struct err *e)
{
    const struct model *base = &m->base;
    const unsigned width = superword_model_width(base);
    for (size_t i = 0; i < n; i++) {
        const size_t n_ids = w[i].len / width;
        m->ids.n = 0;
        if (n_ids == 0 || id_list_reserve(&m->ids, n_ids, e))
            return n_ids ? -1 : not_runs(m, e);
        for (size_t k = 0; k < n_ids; k++) {
            const uint32_t id = ids_get(w[i].p + k * width, width == 4);
            if (id >= base->n_ids || !base->token[id].p)
                return not_runs(m, e);
            m->ids.id[k] = id;
        }
        if (w[i].len == width + 1) {
            m->tokens += w[i].count;
            m->kept.bytes += (u128)w[i].count * base->token[m->ids.id[0]].len;
        } else if (w[i].len != n_ids * width) {
            return not_runs(m, e);
        } else if (note_pretoken(m, &w[i], 0) && trainer_add_ids(m->trainer, m->ids.id, n_ids, w[i].count, e)) {
            return -1;
        }
    }
    return 0;
}

static int consume(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct merger *m = ctx;
    m->denominator = sum_reader_denominator(&m->sum);
    const uint64_t min = count_of(m, m->opt.min_count);
    if (m->opt.superwords)
        return add_runs(m, w, n, e);
    for (size_t i = 0; i < n; i++) {
        if (note_pretoken(m, &w[i], min) && !m->opt.init && trainer_add(m->trainer, w[i].p, w[i].len, w[i].count, e))
            return -1;
    }
    return m->opt.init ? add_encoded(m, w, n, e) : 0;
}

/* Completes an error of the trainer, which may be that counts do not fit. */
static int trainer_failed(const struct merger *m, struct err *e)
{
    return e->code == EX_DATAERR && m->denominator > 1 ? err_add(e, "use weights with smaller denominators") : -1;
}

/* Extends the common denominator of all languages by that of one. */
static int include_denominator(struct merger *m, uint64_t denominator, struct err *e)
{
    uint64_t common;
    if (!ratio_common(m->denominator, denominator, &common))
        return commit_no_denominator(e);
    const uint64_t by = common / m->denominator;
    m->denominator = common;
    m->kept.total *= by;
    m->kept.bytes *= by;
    m->left_out.total *= by;
    return trainer_scale(m->trainer, by, e) ? trainer_failed(m, e) : 0;
}

/* The same for the sum of a language, whose counts are converted to the common denominator. All pretokens of a
 * development text matter. */
static int consume_language(void *ctx, const struct pretoken *w, size_t n, struct err *e)
{
    struct merger *m = ctx;
    const uint64_t own = sum_reader_denominator(m->of_language);
    if (m->denominator % own && include_denominator(m, own, e))
        return -1;
    const struct ratio by = {m->denominator / own, 1};
    const uint64_t min = count_of(m, m->opt.min_count);
    for (size_t i = 0; i < n; i++) {
        struct pretoken one = w[i];
        if (by.num > 1 && ledger_scale(&one.count, by, m->denominator, e))
            return -1;
        if ((m->dev || note_pretoken(m, &one, min)) &&
            trainer_add_language(m->trainer, m->language, m->dev, one.p, one.len, one.count, e))
            return trainer_failed(m, e);
    }
    return 0;
}

static void show_progress(void *ctx, uint64_t done, uint64_t goal)
{
    struct merger *m = ctx;
    progress_show(&m->progress, done, goal, false, "merges");
}

static struct train_opts train_options(struct merger *m)
{
    const struct merge_options *o = &m->opt;
    const uint64_t least = count_of(m, o->min_frequency);
    const size_t n_words = m->base.n_merges - m->base.n_super; /* of them, a superword takes the place of one */
    const uint64_t size = competes(m) ? model_n_tokens(&m->base) + n_words : merge_largest(o)->n;
    return (struct train_opts){.tie = joins(m) && !o->has_tie ? TRAIN_LEAST : o->tie,
                               .vocab_size = (uint32_t)size,
                               .count_once = o->no_overlaps || joins(m),
                               .rival = m->rival,
                               .n_rivals = competes(m) ? n_words : 0,
                               .n_taken = m->base.n_super,
                               .min_frequency = least > m->floor ? least : m->floor,
                               .max_token_len = o->max_token_len,
                               .utf8_boundaries = o->utf8_boundaries,
                               .veto = m->veto.at,
                               .n_veto = m->veto.n,
                               .special = m->rules.special,
                               .n_special = m->rules.n_special,
                               .progress = show_progress,
                               .progress_ctx = m};
}

/* Formats how much memory learning needs for the part of the sum read so far, and if less is available, the --min-count
 * that makes it fit. Returns whether there is enough. */
static bool note_memory(struct merger *m, bool all_read)
{
    const struct train_opts lo = train_options(m);
    const uint64_t need = trainer_memory(m->trainer, &lo, 1), have = memory_limit();
    const uint64_t least = need > have ? trainer_least_within(m->trainer, &lo, have) : 0;
    const uint64_t min = least / m->denominator + (least % m->denominator != 0);
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

/* ---- Extending a model ---- */

/* Checks that the model encodes text of which counting made several pretokens (count/counter.h) as if it were one. */
static int check_words(const struct merger *m, struct err *e)
{
    const struct model *base = &m->base;
    char text[60];
    if (!base->metaspace.on || base->metaspace.split)
        return 0;
    if (base->ignore_merges)
        return err_set(e, EX_USAGE, "%s cannot be extended: with \"ignore_merges\", a whole text can be one token",
                       m->opt.init);
    for (size_t k = 0; k < base->n_merges; k++) {
        const struct model_token *t = &base->token[base->merge[k].result];
        for (uint32_t i = 1; i < t->len; i++)
            if (t->p[i] == ' ' && t->p[i - 1] != ' ')
                return err_set(e, EX_USAGE,
                               "%s cannot be extended: its token \"%s\" has a space after another character, and text "
                               "is counted by words",
                               m->opt.init, build_show(text, sizeof text, t->p, t->len, false));
    }
    return 0;
}

/* Checks the options with superwords that join whole pretokens. */
static int check_joins(const struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    if (!o->format->has_superwords)
        return err_set(e, EX_USAGE, "-f %s cannot express superwords of whole pretokens: use -f boundless",
                       o->format->name);
    return o->n_sizes > 1 ? err_set(e, EX_USAGE, "-v %s: give one size for superwords of whole pretokens", o->sizes)
                          : 0;
}

static int read_base(struct merger *m, struct err *e)
{
    if (!m->opt.init)
        return 0;
    if ((m->opt.superwords ? superword_model_read(&m->base, m->opt.init, e)
                           : model_read(&m->base, m->opt.init, NULL, e) || convert_to_merges(&m->base, e)) ||
        model_index(&m->base, e))
        return -1;
    if (m->base.n_super && !m->opt.superwords)
        return err_set(
            e, EX_USAGE,
            "%s cannot be extended: it has superwords of whole pretokens (BoundlessBPE), which are made after "
            "all merges of words",
            m->opt.init);
    m->base_size = model_size(&m->base);
    if (check_words(m, e) || (model_of_characters(&m->base) && token_list_spell(&m->veto, m->base.spelling, e)))
        return -1;
    const enum train_extension by = joins(m) ? TRAIN_JOINS : m->opt.superwords ? TRAIN_SUPERWORDS : TRAIN_WORDS;
    return (by == TRAIN_WORDS && pretoken_encoder_init(&m->encoder, &m->base, e)) || (joins(m) && check_joins(m, e)) ||
                   trainer_extend(m->trainer, &m->base, by, e)
               ? -1
               : 0;
}

/* If the model splits text into words, says so. */
static void say_words(const struct merger *m)
{
    const char *name = model_pattern(&m->base);
    if (name && !model_is_unsplit(&m->base) && !superword_model_is(&m->base))
        program_note(NAME, "%s splits text by %s, so no token will join words; see bpe-model --superwords", m->opt.init,
                     name);
}

/* Sets m->rival to the counts of words, which were rounded down. */
static int set_rivals(struct merger *m, struct err *e)
{
    const size_t n_words = m->base.n_merges - m->base.n_super;
    m->rival = malloc((n_words + 1) * sizeof *m->rival);
    if (!m->rival)
        return err_mem(e, "the merges", n_words * sizeof *m->rival);
    for (size_t k = 0; k < n_words; k++)
        m->rival[k] = count_of(m, m->base.merge_count[k] + 1) - 1;
    return 0;
}

/* Checks that the sum has runs of the model's ids, and sets the floor. */
static int check_round(struct merger *m, struct err *e)
{
    struct superword_round r = {0};
    const struct str encoded = m->rules.superwords;
    if (!encoded.len || superword_round_get(&r, encoded, e) || r.words != SUPERWORDS_RUNS)
        return not_runs(m, e);
    if (r.n_merges != m->base.n_merges || r.model != superword_model_hash(&m->base, m->base.n_merges))
        return err_set(e, EX_DATAERR, "the runs are those of another model than %s", m->opt.init);
    if (!m->opt.partial && superword_round_check_text(&r, m->sum.ledger.coverage.text, e))
        return -1;
    m->floor = r.floor;
    if (!joins(m))
        say_words(m);
    return competes(m) ? set_rivals(m, e) : 0;
}

/* Checks that the sum was counted by the pattern of the model. Its special tokens only separated the text. */
static int check_base_rules(const struct merger *m, struct err *e)
{
    struct rules own = {0};
    const char *name = model_pattern(&m->base);
    int rc = 0;
    if (!name && m->base.n_regex == 0)
        rc = err_set(e, EX_USAGE,
                     "%s does not define how text splits into pretokens; first add that with bpe-model -p NAME",
                     m->opt.init);
    if (!rc && model_rules_pattern(&own, &m->base, name, e))
        rc = -1;
    if (!rc && !rules_same_pattern(&own, &m->rules))
        rc =
            err_set(e, EX_DATAERR, "the sum was counted by another pattern than that of %s; count with bpe-chunk -m %s",
                    m->opt.init, m->opt.init);
    rules_free(&own);
    return rc;
}

/* The special tokens to add to the model: those of --add-special that it does not have. */
static int base_special(struct merger *m, struct err *e)
{
    struct rules r = {0};
    for (size_t i = 0; i < m->rules.n_special; i++) {
        const struct str text = m->rules.special[i].text;
        bool known = false;
        for (size_t k = 0; k < m->base.n_special; k++)
            known |= str_equal(text, (struct str){m->base.special[k].p, m->base.special[k].len});
        if (!known)
            program_note(NAME, "the text was split at %.*s, which %s does not have; to add it, see --add-special",
                         (int)(text.len < 60 ? text.len : 60), (const char *)text.p, m->opt.init);
    }
    if (rules_set_special(&m->rules, NULL, 0, e) || model_rules_special(&r, &m->base, false, e))
        return -1;
    const size_t known = r.n_special;
    int rc = add_special(&r, &m->opt.add_special, e) ||
             rules_set_special(&m->rules, r.special + known, r.n_special - known, e);
    rules_free(&r);
    return rc ? -1 : 0;
}

/* ---- Several languages ---- */

/* Reads the sum of a language. With one sum, messages need not name it; here they must. */
static int read_language_sum(struct merger *m, struct sum_reader *sum, char *file, struct rules *rules, struct err *e)
{
    sum_reader_init(sum, consume_language, m);
    m->of_language = sum;
    int rc = sum_reader_read(sum, &file, 1, m->opt.partial, rules, e);
    if (rc && strncmp(e->msg, file, strlen(file)) != 0)
        err_place(e, file, ERR_NO_OFFSET);
    return rc;
}

/* The same; the sum must have been counted by the same rules as the first. */
static int read_language(struct merger *m, char *file, struct err *e)
{
    struct sum_reader other;
    struct rules rules = {0};
    const char *difference;
    if (!m->rules_known) {
        m->rules_known = true;
        return read_language_sum(m, &m->sum, file, &m->rules, e);
    }
    int rc = read_language_sum(m, &other, file, &rules, e);
    if (!rc && (difference = rules_difference(&m->rules, &rules)))
        rc = err_set(e, EX_DATAERR, "%s and %s were counted by different rules: %s", m->opt.files[0], file, difference);
    rules_free(&rules);
    sum_reader_free(&other);
    return rc;
}

/* If languages are compared by the tokens of texts of very different sizes, says so. */
static void say_unlike(const struct merger *m)
{
    enum { TIMES = 4 };
    const struct merge_options *o = &m->opt;
    int least = 0, most = 0;
    uint64_t min = UINT64_MAX, max = 0;
    for (int i = 0; i < o->n_languages && !o->ratio; i++) {
        const uint64_t bytes = trainer_language_bytes(m->trainer, (size_t)i);
        least = bytes < min ? i : least;
        most = bytes > max ? i : most;
        min = bytes < min ? bytes : min;
        max = bytes > max ? bytes : max;
    }
    const int first = o->dev.n ? o->n_languages : 0;
    if (min < max / TIMES)
        program_note(NAME,
                     "%s has over %d times as much text as %s, which therefore will choose hardly any merge; %s--ratio "
                     "compares compression instead",
                     o->files[first + most], TIMES, o->files[first + least],
                     o->dev.n ? "development texts should be parallel; " : "");
}

static int read_languages(struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct parity_opts p = {.global_merges = o->global_merges,
                                  .has_dev = o->dev.n > 0,
                                  .ratio = o->ratio,
                                  .windowed = o->has_window,
                                  .window = o->window,
                                  .alpha = o->alpha};
    if (trainer_balance(m->trainer, (size_t)o->n_languages, &p, e))
        return -1;
    for (int i = 0; i < o->n_files; i++) {
        m->dev = i >= o->n_languages;
        m->language = (size_t)(m->dev ? i - o->n_languages : i);
        if (read_language(m, o->files[i], e))
            return -1;
    }
    say_unlike(m);
    return 0;
}

static int check_trains(const struct merger *m, struct err *e)
{
    if (m->rules.metaspace.on)
        return err_set(
            e, EX_USAGE,
            "the sum was counted for a SentencePiece model, and bpe-merge can only extend it; add --init=MODEL");
    return 0;
}

static int read_sum(struct merger *m, struct err *e)
{
    m->trainer = trainer_new(e);
    if (!m->trainer || read_base(m, e))
        return -1;
    if (m->opt.parity)
        return read_languages(m, e) || check_trains(m, e) || add_special(&m->rules, &m->opt.add_special, e) ? -1 : 0;
    if (sum_reader_read(&m->sum, m->opt.files, (size_t)m->opt.n_files, m->opt.partial, &m->rules, e))
        return -1;
    if (m->rules.superwords.len && !m->opt.superwords)
        return err_set(e, EX_DATAERR, "the sum has ids of a model, not pretokens; see --extend and --live");
    if (m->opt.init)
        return (m->opt.superwords ? check_round(m, e) : check_base_rules(m, e)) || base_special(m, e) ? -1 : 0;
    return check_trains(m, e) ? -1 : add_special(&m->rules, &m->opt.add_special, e);
}

/* ---- Learning ---- */

/* Checks that --stats names no file of a model. */
static int check_stats(const struct merge_options *o, const struct model_files *files, struct err *e)
{
    int rc = 0;
    for (size_t k = 0; o->path && o->stats && k < o->n_sizes && rc == 0; k++) {
        char *path = merge_path(o, k, NULL, e), *name = NULL;
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
    int rc = assign_ids_check(&model, e) || o->format->write(&files, &model, e) || check_stats(o, &files, e) ? -1 : 0;
    model_files_free(&files);
    model_free(&model);
    return rc;
}

/* The number of tokens before the first merge. */
static uint64_t size_min(const struct merger *m)
{
    return (m->opt.init ? model_n_tokens(&m->base) : 256) + (uint64_t)m->rules.n_special;
}

static int check_sizes(const struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct rules *r = &m->rules;
    const unsigned long long min = size_min(m) - (competes(m) ? m->base.n_super : 0);
    for (size_t i = 0; i < o->n_sizes; i++) {
        const unsigned long long n = o->size[i].n;
        if (n < min && o->init)
            return err_set(e, EX_USAGE, "-v %llu: too small; %s has %llu tokens%s", n, o->init, min,
                           r->n_special ? " with those to add" : "");
        if (n < min)
            return err_set(e, EX_USAGE, "-v %llu: too small; %zu special token%s and 256 bytes need %llu", n,
                           r->n_special, r->n_special == 1 ? "" : "s", min);
    }
    return 0;
}

/* Learns the merges of the largest model. */
static int learn(struct merger *m, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct train_opts lo = train_options(m);
    size_t n;
    if (check_sizes(m, e) || (o->init ? model_format_check(o->format, &m->base, e) : try_format(m, e)))
        return -1;
    progress_part(&m->progress, "merging", "merges");
    int rc = trainer_run(m->trainer, &lo, &m->merges, &n, e);
    progress_end(&m->progress);
    progress_part(&m->progress, "writing the model", "");
    return rc;
}

/* ---- Writing ---- */

/* Appends a line for each of the n merges: the size of the vocabulary, the pair, its count, and the bytes per token,
 * exactly rounded. (The product has at most 117 bits.) */
static int put_stats(const struct merger *m, const struct model *model, size_t n, struct buf *out, struct err *e)
{
    enum { MICRO = 1000000 };
    const struct train_step *step = trainer_steps(m->trainer);
    const struct merge *merge = model->merge + model->n_merges - n; /* without those of the base */
    u128 tokens = m->opt.init ? m->tokens : m->kept.bytes;
    for (size_t i = 0; i < n; i++) {
        const struct model_token *left = &model->token[merge[i].left], *right = &model->token[merge[i].right];
        tokens -= step[i].replaced;
        uint64_t ratio = (uint64_t)((2 * m->kept.bytes * MICRO + tokens) / (2 * tokens));
        if (buf_printf(out, e, "%lu\t", (unsigned long)step[i].n_vocab) ||
            record_text_escape(out, left->p, left->len, e) || buf_put_byte(out, '\t', e) ||
            record_text_escape(out, right->p, right->len, e) || buf_put_byte(out, '\t', e) ||
            record_text_count(out, step[i].count, m->denominator, e) ||
            buf_printf(out, e, "\t%llu.%06llu\n", (unsigned long long)(ratio / MICRO),
                       (unsigned long long)(ratio % MICRO)))
            return -1;
    }
    return 0;
}

static int add_stats(const struct merger *m, const struct model *model, size_t n, struct model_output *to,
                     struct err *e)
{
    struct buf text = {0};
    int rc = put_stats(m, model, n, &text, e) ? -1 : model_output_add_file(to, m->opt.stats, buf_str(&text), e);
    buf_free(&text);
    return rc;
}

/* How often each of the first n merges occurred: with weights, rounded down. NULL: out of memory. */
static uint64_t *make_counts(const struct merger *m, size_t n, struct err *e)
{
    uint64_t *count = calloc(n + 1, sizeof *count);
    if (!count)
        err_mem(e, "the merges", n * sizeof *count);
    for (size_t k = 0; count && k < n; k++)
        count[k] = trainer_steps(m->trainer)[k].count / m->denominator;
    return count;
}

/* Whether pairs below the floor may be left, which the next round can merge. */
static bool is_unfinished(const struct merger *m)
{
    return m->floor > 1 && m->floor > m->opt.min_frequency;
}

/* Makes the model with the first n merges. */
static int make_model(const struct merger *m, size_t n, struct model *model, struct err *e)
{
    const struct merge_options *o = &m->opt;
    uint64_t *count = make_counts(m, n, e);
    struct learned learned = {
        .merges = m->merges, .n_merges = n, .merge_count = count, .merges_as_strings = o->merges_as_strings};
    if (!count)
        return -1;
    learned.special_first =
        o->special == MERGE_SPECIAL_FIRST || (o->special == MERGE_SPECIAL_BY_FORMAT && o->format->special_first);
    int rc = learned_set_rules(&learned, &m->rules, e) || assign_ids(model, &learned, o->format, e) ||
             assign_ids_check(model, e);
    free(count);
    return rc ? -1 : 0;
}

/* Whether superwords that compete with words have all their places, or no pair is left to merge. */
static bool is_settled(const struct merger *m, size_t n)
{
    const size_t n_words = m->base.n_merges - m->base.n_super, n_super = m->base.n_super + n;
    size_t first = 0; /* how many words come before any pair that is not known */
    while (first < n_words && m->rival[first] + 1 >= m->floor)
        first++;
    return trainer_is_full(m->trainer) || !is_unfinished(m) || n_super + first >= n_words;
}

/* The same for superwords that join whole pretokens. */
static int extend_joined(struct merger *m, size_t n, struct err *e)
{
    const bool settles = competes(m) && is_settled(m, n);
    const bool full = settles && (trainer_is_full(m->trainer) || is_unfinished(m));
    uint64_t *count = make_counts(m, n, e);
    int rc = !count || joined_model_extend(&m->base, m->merges, count, n, m->rules.special, m->rules.n_special, e) ||
                     (settles && joined_model_settle(&m->base, full, e))
                 ? -1
                 : 0;
    free(count);
    return rc ? -1 : model_format_check(m->opt.format, &m->base, e);
}

/* Appends the first n merges, their tokens and the new special tokens to the base model. */
static int extend_base(struct merger *m, size_t n, struct err *e)
{
    const struct merge_options *o = &m->opt;
    if (joins(m))
        return extend_joined(m, n, e);
    const bool special_last = o->special == MERGE_SPECIAL_LAST;
    if (model_truncate(&m->base, &m->base_size, special_last, e) ||
        model_extend(&m->base, m->merges, n, m->rules.special, m->rules.n_special, special_last, e))
        return -1;
    m->base.merges_as_strings = o->has_form ? o->merges_as_strings : m->base.merges_as_strings;
    return model_format_check(o->format, &m->base, e);
}

/* Writes the model with this vocabulary size under temporary names. */
static int add_model(struct merger *m, size_t i, struct model_output *to, struct err *e)
{
    const struct merge_options *o = &m->opt;
    const struct merge_size *size = &o->size[i];
    const size_t n = trainer_merges(m->trainer, competes(m) ? UINT32_MAX : (uint32_t)size->n);
    const uint64_t made = o->init && n ? trainer_steps(m->trainer)[n - 1].n_vocab : size_min(m) + (o->init ? 0 : n);
    struct model own = {0}, *model = o->init ? &m->base : &own;
    if (m->opt.quiet || (competes(m) ? is_settled(m, n) : made >= size->n))
        ;
    else if (competes(m))
        program_note(NAME,
                     "%zu superwords, and not yet known which words they replace; count the pairs of this model and go "
                     "on from there",
                     m->base.n_super + n);
    else if (is_unfinished(m) && n == 0)
        program_note(
            NAME,
            "%llu of %llu tokens, and no pair is as frequent as the live ones must be: count all pairs, without "
            "MIN and --among",
            (unsigned long long)made, (unsigned long long)size->n);
    else if (is_unfinished(m))
        program_note(NAME, "%llu of %llu tokens; for more, count the pairs of this model and go on from there",
                     (unsigned long long)made, (unsigned long long)size->n);
    else
        program_note(NAME, "no pair is left to merge%s: the vocabulary has %llu tokens, not %llu",
                     o->min_frequency > 1 ? " that occurs often enough" : "", (unsigned long long)made,
                     (unsigned long long)size->n);
    char *path = o->path ? merge_path(o, i, NULL, e) : NULL;
    int rc = (o->path && !path) || (o->init ? extend_base(m, n, e) : make_model(m, n, model, e)) ||
                     (o->stats && size == merge_largest(o) && add_stats(m, model, n, to, e)) ||
                     model_output_add(to, model, o->format, path, e)
                 ? -1
                 : 0;
    if (rc == 0 && i == 0) /* what is said about one is true of all */
        model_remarks(model, o->format, path, NAME, program_note);
    free(path);
    model_free(&own);
    return rc;
}

static int write_models(struct merger *m, struct err *e)
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
    if (path && fd_keep_apart(path, m->opt.files, (size_t)m->opt.n_files, e))
        return -1;
    for (size_t i = 0; i < m->opt.veto.n; i++) {
        char *veto = (char *)(uintptr_t)m->opt.veto.at[i];
        if (fd_keep_apart(path, &veto, 1, e))
            return -1;
    }
    return 0;
}

static int run(void *ctx, struct err *e)
{
    struct merger *m = ctx;
    if (m->opt.live)
        return keep_apart(m, m->opt.path, e) ? -1
                                             : live_choice_make(m->opt.files, (size_t)m->opt.n_files, m->opt.live,
                                                                m->opt.live_pairs, m->opt.path, e);
    if (merge_each_output(&m->opt, keep_apart, m, e))
        return -1;
    for (size_t i = 0; i < m->opt.veto.n; i++)
        if (token_list_read(&m->veto, m->opt.veto.at[i], e))
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
    free(m->rival);
    free(m->opt.ratio);
    pretoken_encoder_free(&m->encoder);
    id_list_free(&m->ids);
    model_free(&m->base);
    token_list_free(&m->veto);
}

/* ---- The command line ---- */

static struct merger self = {.denominator = 1};

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
