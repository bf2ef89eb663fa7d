/* bpe-model - converts and describes models: any format in, any format out.
 *
 * Ids do not change. If the other format cannot express the model, nothing is written, and the program fails.
 */
#include "base/cli/program.h"
#include "base/io/fd.h"
#include "base/sys/buf.h"
#include "encode/encode_pretoken.h"
#include "encode/token_pairs.h"
#include "model/formats.h"
#include "model/model.h"
#include "model/model_convert.h"
#include "model/model_read.h"
#include "model/model_remarks.h"
#include "model/model_save.h"
#include "usage/model_usage.h"

#include <stdio.h>
#include <string.h>

#define NAME "bpe-model"

/* ---- Describing ---- */

/* Appends text with control characters as \xHH, so that it remains one line. */
static int put_text(struct buf *out, const void *text, size_t len, struct err *e)
{
    const unsigned char *p = text;
    int rc = 0;
    for (size_t i = 0; i < len && !rc; i++)
        rc = p[i] < 0x20 || p[i] == 0x7F ? buf_printf(out, e, "\\x%02X", p[i]) : buf_put_byte(out, p[i], e);
    return rc;
}

static int put_split(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_put_str(out, "pattern: ", e) || buf_put_str(out, model_pattern_name(m), e) || buf_put_byte(out, '\n', e))
        return -1;
    for (size_t i = 0; i < m->n_regex; i++) {
        if (buf_put_str(out, "regex: ", e) || put_text(out, m->regex[i].p, m->regex[i].len, e) ||
            buf_put_byte(out, '\n', e) ||
            (m->split[i] && buf_printf(out, e, "split: %s%s\n", split_names[m->split[i] & SPLIT_MASK],
                                       m->split[i] & SPLIT_BYTE_LEVEL ? ", byte-level" : "")))
            return -1;
    }
    if (m->normalizer && buf_printf(out, e, "normalizer: %s\n", normalizer_names[m->normalizer]))
        return -1;
    if (m->prefix.len &&
        (buf_put_str(out, "prefix: ", e) || put_text(out, m->prefix.p, m->prefix.len, e) || buf_put_byte(out, '\n', e)))
        return -1;
    return 0;
}

static int put_flags(struct buf *out, const struct model_special *s, struct err *e)
{
    if (!s->flags && s->special)
        return 0;
    int rc = buf_printf(out, e, "flags: %lu", (unsigned long)s->id);
    for (unsigned k = 0; k < SPECIAL_N_FLAGS && rc == 0; k++)
        rc = s->flags >> k & 1 ? buf_printf(out, e, " %s", special_flag_name[k]) : 0;
    return rc || buf_put_str(out, s->special ? "\n" : " not-special\n", e) ? -1 : 0;
}

static int put_special(struct buf *out, const struct model *m, struct err *e)
{
    if (buf_printf(out, e, "special-tokens: %zu\n", m->n_special))
        return -1;
    for (size_t i = 0; i < m->n_special; i++) {
        if (buf_printf(out, e, "special: %lu ", (unsigned long)m->special[i].id) ||
            put_text(out, m->special[i].p, m->special[i].len, e) || buf_put_byte(out, '\n', e) ||
            put_flags(out, &m->special[i], e))
            return -1;
    }
    return 0;
}

/* A special token with a role, if the model's files name one. */
static int put_role(struct buf *out, const char *role, const struct model_special *s, struct err *e)
{
    return s && (buf_printf(out, e, "%s: %lu ", role, (unsigned long)s->id) || put_text(out, s->p, s->len, e) ||
                 buf_put_byte(out, '\n', e))
               ? -1
               : 0;
}

/* How a model of characters differs from one of bytes. */
static int put_characters(struct buf *out, const struct model *m, struct err *e)
{
    const struct model_unknown *u = &m->unknown;
    if (!model_of_characters(m))
        return 0;
    if (buf_put_str(out, "units: characters\nunknown: ", e))
        return -1;
    int rc = u->bytes ? buf_put_str(out, "bytes", e) : put_text(out, m->token[u->id].p, m->token[u->id].len, e);
    if (rc || buf_put_str(out, !u->bytes && u->fuse ? " fused\n" : "\n", e))
        return -1;
    if (m->metaspace.on &&
        buf_printf(out, e, "metaspace: %s%s\n", m->prefix.len ? prefix_place_names[m->metaspace.place] : "never",
                   m->metaspace.split ? " split" : ""))
        return -1;
    return 0;
}

static int put_vocab(struct buf *out, const struct model *m, struct err *e)
{
    size_t unreached;
    uint32_t first, longest = 0;
    for (size_t id = 0; id < m->n_ids; id++)
        longest = m->token[id].len > longest ? m->token[id].len : longest;
    if (model_unreached(m, &unreached, &first, e))
        return -1;
    return buf_printf(out, e, "ids: %lu\ntokens: %zu\nid-bytes: %u\nlongest-token: %lu\n", (unsigned long)m->n_ids,
                      model_n_tokens(m), model_id_bytes(m), (unsigned long)longest) ||
                   (m->by_rank ? buf_put_str(out, "merges: by rank\n", e)
                               : buf_printf(out, e, "merges: %zu\n", m->n_merges)) ||
                   buf_printf(out, e, "ignore-merges: %s\nunreached: %zu\n", m->ignore_merges ? "yes" : "no", unreached)
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

static int describe(const struct model *m, struct err *e)
{
    struct buf out = {0};
    int rc = buf_printf(&out, e, "format: %s\n", m->format->name) || put_split(&out, m, e) ||
             put_characters(&out, m, e) || put_vocab(&out, m, e) || put_paths(&out, m, e) ||
             put_role(&out, "eos", m->eos, e) || put_role(&out, "pad", m->pad, e) ||
             put_role(&out, "separator", model_eos(m), e) || put_role(&out, "padding", model_pad(m), e) ||
             put_special(&out, m, e) || fd_write(1, out.p, out.len, "standard output", e) || fd_close_stdout(e);
    buf_free(&out);
    return rc ? -1 : 0;
}

/* ---- Converting ---- */

static int convert(const struct model_options *o, struct model *m, struct err *e)
{
    if (o->has_form)
        m->merges_as_strings = o->merges_as_strings;
    if (model_format_check(o->format, m, e) || model_save(m, o->format, o->path, e))
        return -1;
    model_remarks(m, o->format, o->path, NAME, program_note);
    return 0;
}

static int run(void *ctx, struct err *e)
{
    const struct model_options *o = ctx;
    struct model m;
    const struct model_opts given = {.pattern = o->pattern, .special = o->special.at, .n_special = o->special.n};
    if (model_read(&m, o->files[0], &given, e))
        return -1;
    int rc = o->info ? describe(&m, e) : convert(o, &m, e);
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
