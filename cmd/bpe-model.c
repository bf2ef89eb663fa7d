/* bpe-model - converts and describes models: any format in, any format out.
 *
 * Ids stay the same. If the other format cannot express the model, that is an error, and nothing is written.
 */
#include "cli/program.h"
#include "core/model.h"
#include "io/fd.h"
#include "model/formats.h"
#include "model/model_convert.h"
#include "model/model_read.h"
#include "model/model_save.h"
#include "sys/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "bpe-model"

struct options {
    bool info, has_format, has_form;
    unsigned merges_as_strings; /* 0 or 1 */
    unsigned format_number;     /* of model_format_names */
    const struct model_format *format;
    const char *path, *pattern;
    const char **special; /* owned */
    size_t n_special;
    char **files;
    int n_files;
};

/* ---- Describing ---- */

/* Appends text with control characters as \xHH, so that it stays one line. */
static int put_text(struct buf *out, const void *text, size_t len, struct err *e)
{
    const unsigned char *p = text;
    int rc = 0;
    for (size_t i = 0; i < len && !rc; i++)
        rc = p[i] < 0x20 || p[i] == 0x7F ? buf_printf(out, e, "\\x%02X", p[i]) : buf_put_byte(out, p[i], e);
    return rc;
}

static const char *pattern_name(const struct model *m)
{
    const char *name = model_pattern(m);
    return name ? name : m->n_regex ? "regex" : "unknown";
}

static int put_split(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_put_str(out, "pattern: ", e) || buf_put_str(out, pattern_name(m), e) || buf_put_byte(out, '\n', e))
        return -1;
    for (size_t i = 0; i < m->n_regex; i++) {
        if (buf_put_str(out, "regex: ", e) || put_text(out, m->regex[i].p, m->regex[i].len, e) ||
            buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

static int put_special(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_printf(out, e, "special-tokens: %zu\n", m->n_special))
        return -1;
    for (size_t i = 0; i < m->n_special; i++) {
        if (buf_printf(out, e, "special: %lu ", (unsigned long)m->special[i].id) ||
            put_text(out, m->special[i].p, m->special[i].len, e) || buf_put_byte(out, '\n', e))
            return -1;
    }
    return 0;
}

static int put_vocab(struct buf *out, const struct model *m, struct err *e)
{
    size_t tokens = 0, unreached;
    uint32_t first, longest = 0;
    for (size_t id = 0; id < m->n_ids; id++) {
        tokens += m->token[id].p != NULL;
        if (m->token[id].len > longest)
            longest = m->token[id].len;
    }
    if (model_unreached(m, &unreached, &first, e))
        return -1;
    return buf_printf(out, e, "ids: %lu\ntokens: %zu\nid-bytes: %u\nlongest-token: %lu\n", (unsigned long)m->n_ids,
                      tokens, model_id_bytes(m), (unsigned long)longest) ||
                   (m->by_rank ? buf_put_str(out, "merges: by rank\n", e)
                               : buf_printf(out, e, "merges: %zu\n", m->n_merges)) ||
                   buf_printf(out, e, "ignore-merges: %s\nunreached: %zu\n", m->ignore_merges ? "yes" : "no", unreached)
               ? -1
               : 0;
}

static int describe(const struct model *m, struct err *e)
{
    struct buf out = {0};
    int rc = buf_printf(&out, e, "format: %s\n", m->format->name) || put_split(&out, m, e) || put_vocab(&out, m, e) ||
             put_special(&out, m, e) || fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e);
    buf_free(&out);
    return rc ? -1 : 0;
}

/* ---- Converting ---- */

/* Warns about parts of the output that other programs read differently from what is meant. */
static void warn(const struct model *m, const struct model_format *f)
{
    if (f->implied && !(m->pattern && !strcmp(m->pattern, f->implied)))
        program_note(NAME, "%s do not say the pattern, which readers take to be %s; here it is %s", f->in_directory,
                     f->implied, pattern_name(m));
}

static int convert(const struct options *o, struct model *m, struct err *e)
{
    if (o->has_form)
        m->merges_as_strings = o->merges_as_strings;
    if (o->format->check(m, e) || model_save(m, o->format, o->path, e))
        return -1;
    warn(m, o->format);
    return 0;
}

static int run(void *ctx, struct err *e)
{
    const struct options *o = ctx;
    struct model m;
    const struct model_opts given = {o->pattern, o->special, o->n_special};
    if (model_read(&m, o->files[0], &given, e))
        return -1;
    int rc = o->info ? describe(&m, e) : convert(o, &m, e);
    model_free(&m);
    return rc;
}

static int check(void *ctx, struct err *e)
{
    struct options *o = ctx;
    o->format = model_format_at(o->format_number);
    if (o->n_files > 1)
        return err_set(e, EX_USAGE, "one model at a time; of GPT-2's two files name one, or their directory");
    if (o->info && (o->has_format || o->path))
        return err_set(e, EX_USAGE, "--info writes no model: leave out -f and -o");
    if (o->format->is_directory && !o->path)
        return err_set(e, EX_USAGE, "-f %s makes two files; name a directory for them with -o", o->format->name);
    if (o->has_form && (o->info || !o->format->has_merge_forms))
        return err_set(e, EX_USAGE, "--merges is for -f json");
    return 0;
}

static void options_free(void *ctx)
{
    struct options *o = ctx;
    free(o->special);
}

/* ---- The command line ---- */

static struct options self;

static const char *const merges_forms[] = {"array", "string", NULL};

static const struct option_row options[] = {
    {0, "info", NULL, "describe the model, a property a line", .kind = OPTION_FLAG, .to.flag = &self.info},
    {'f', "format", "FORMAT",
     "json: tokenizer.json (default); gpt2: vocab.json and merges.txt in the\n"
     "directory PATH; tiktoken: with -o also PATH.json; merges: text",
     .kind = OPTION_CHOICE, .to.choice = &self.format_number, .get_words = model_format_names,
     .given = &self.has_format},
    {0, "merges", "FORM", "in tokenizer.json: array, or string for old readers (default as it was)",
     .kind = OPTION_CHOICE, .to.choice = &self.merges_as_strings, .words = merges_forms, .given = &self.has_form},
    {'p', "pattern", "NAME", "the pattern (see bpe-chunk), of a model that does not say it", .kind = OPTION_TEXT,
     .to.text = &self.pattern},
    {'s', "special-token", "TOKEN[=ID]",
     "a special token of a .tiktoken file that comes without PATH.json; its id\n"
     "is ID, or the next after all others",
     .kind = OPTION_TEXTS, .to.texts = {&self.special, &self.n_special}, .old_name = "special"},
    {'o', "output", "PATH", "write there (default standard output)", .kind = OPTION_OUTPUT, .to.text = &self.path},
    {0},
};

static const struct program program = {
    .name = NAME,
    .synopsis = "[--info] [-f json|gpt2|tiktoken|merges] [--merges=array|string]\n"
                "[-p NAME] [-s TOKEN[=ID]]... [-o PATH] [MODEL]",
    .about = "Reads a model, and writes it in another format, or describes it. MODEL is a tokenizer.json or\n"
             ".tiktoken file (default standard input), or a directory with vocab.json and merges.txt.",
    .options = options,
    .files = &self.files,
    .n_files = &self.n_files,
    .ctx = &self,
    .check = check,
    .run = run,
    .free = options_free,
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
