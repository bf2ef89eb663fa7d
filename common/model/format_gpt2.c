/* format_gpt2.c - GPT-2's pair of files: vocab.json (or encoder.json) and merges.txt (or vocab.bpe).
 *
 * The pair contains neither the pattern nor which tokens are special. The files of from_pretrained beside it may
 * contain both (format_hf_config.h). Otherwise the pattern is gpt2 unless another is given, and the special tokens are
 * the entries of the vocabulary that are neither a byte nor in a merge, like GPT-2's own <|endoftext|>: nothing else
 * can produce them.
 */
#include "base/io/fd.h"
#include "model/format_hf_config.h"
#include "model/format_hf_internal.h"
#include "model/format_merges.h"
#include "model/formats.h"
#include "model/model_build.h"
#include "model/model_convert.h"
#include "model/model_file.h"
#include "model/vocab_json.h"
#include "pretok/byte_level.h"
#include "json/json_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file names of Hugging Face, and those of OpenAI. */
static const struct {
    const char *vocab, *merges;
} pairs[] = {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}};

enum { N_PAIRS = sizeof pairs / sizeof *pairs };

/* ---- Which pair ---- */

/* 1: the file exists; 0: it does not exist; -1: out of memory. */
static int is_there(const struct model_source *from, const char *name, struct err *e)
{
    char *file = model_file_join(from->path, from->is_directory, name, e);
    int rc = file ? access(file, F_OK) == 0 : -1;
    free(file);
    return rc;
}

/* The pair that is in the directory, or that has the path as one of its files; N_PAIRS: none; -1: out of memory. */
static int find_pair(const struct model_source *from, struct err *e)
{
    const char *slash = strrchr(from->path, '/'), *name = slash ? slash + 1 : from->path;
    for (int i = 0; i < N_PAIRS; i++) {
        if (!from->is_directory && strcmp(name, pairs[i].vocab) != 0 && strcmp(name, pairs[i].merges) != 0)
            continue;
        int vocab = is_there(from, pairs[i].vocab, e), merges = is_there(from, pairs[i].merges, e);
        if (vocab < 0 || merges < 0)
            return -1;
        if (vocab && merges)
            return i;
    }
    return N_PAIRS;
}

static int sniff_path(const struct model_source *from, struct err *e)
{
    int pair = find_pair(from, e);
    return pair < 0 ? -1 : pair < N_PAIRS;
}

/* ---- Reading ---- */

static int bad_line(struct build *b, const char *name, size_t line, const char *what)
{
    err_set(b->e, EX_DATAERR, "%s", what);
    return err_place_line(b->e, name, line);
}

/* Reads a line `left right`, of n bytes. */
static int take_line(struct build *b, const char *name, size_t line, const unsigned char *p, size_t n)
{
    const unsigned char *space = memchr(p, ' ', n);
    size_t left, right, at = space ? (size_t)(space - p) : 0;
    if (n && p[n - 1] == '\r')
        return bad_line(b, name, line, "ends with CR LF; the file must have LF alone, or other readers misread it");
    if (!n)
        return bad_line(b, name, line, "is empty; each line must be a merge");
    unsigned char *to = build_merge_room(b, n);
    if (!to)
        return -1;
    left = space ? byte_level_get(to, p, at) : BYTE_LEVEL_NOT;
    right = left != BYTE_LEVEL_NOT ? byte_level_get(to + left, space + 1, n - at - 1) : BYTE_LEVEL_NOT;
    if (right == BYTE_LEVEL_NOT || !left || !right)
        return bad_line(b, name, line, "is not two tokens in byte-to-unicode form with a space between");
    return build_merge(b, left, right);
}

static int take_merges(struct build *b, const char *name, const struct buf *text)
{
    const unsigned char *p = text->p, *end = p + text->len;
    for (size_t line = 1; p < end; line++) {
        const unsigned char *lf = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((lf ? lf : end) - p);
        bool is_header = merges_is_header((struct str){p, n});
        if (is_header && line > 1)
            return bad_line(b, name, line, "begins with \"#version\", which some readers take for a header");
        if (!is_header && take_line(b, name, line, p, n))
            return -1;
        p += n + (lf != NULL);
    }
    return 0;
}

static int read_vocab(struct build *b, const char *path)
{
    struct json_reader r;
    int fd = fd_open_input(path, b->e);
    if (fd < 0)
        return -1;
    int rc = model_file_json(&r, fd, fd_name(path), b->e);
    if (!rc) {
        rc = vocab_json_read(&r, b) || json_read_end(&r) ? -1 : 0;
        json_read_free(&r);
    }
    close(fd);
    return rc;
}

static int read_merges(struct build *b, const char *path)
{
    struct buf text = {0};
    int fd = fd_open_input(path, b->e);
    if (fd < 0)
        return -1;
    int rc = model_file_all(fd, fd_name(path), &text, b->e) || take_merges(b, fd_name(path), &text) ? -1 : 0;
    buf_free(&text);
    close(fd);
    return rc;
}

/* Makes special tokens of all tokens that are neither a byte nor in a merge. */
static int take_special(struct build *b)
{
    struct model *m = b->m;
    struct buf text = {0};
    int rc = 0;
    for (uint32_t id = 0; id < m->n_ids && !rc; id++) {
        struct model_token *t = &m->token[id];
        if (!t->p || (t->vocab && (t->len == 1 || build_is_merged(b, id))))
            continue;
        text.len = 0;
        rc = !t->len    ? err_at(b->e, EX_DATAERR, b->name, ERR_NO_OFFSET, "token %lu is empty", (unsigned long)id)
             : t->vocab ? byte_level_put(&text, t->p, t->len, b->e)
                        : buf_put(&text, t->p, t->len, b->e);
        if (!rc) {
            t->p = build_copy(b, text.p, text.len);
            t->len = (uint32_t)text.len;
            t->vocab = false;
            rc = !t->p || build_special(b,
                                        (struct model_special){
                                            .p = t->p, .len = t->len, .id = id, .special = true, .keyed = true})
                     ? -1
                     : 0;
        }
    }
    buf_free(&text);
    return rc;
}

/* The pattern of the class or the command line; gpt2 if there is no class. NULL: EX_DATAERR or EX_USAGE. */
static const struct pattern *find_pattern(const struct model_source *from, const struct hf_config *c, struct err *e)
{
    const struct hf_class *known = c->known;
    if (!known && c->class.s[0] && !from->pattern)
        err_set(e, EX_USAGE, "%s: how %s splits text is not known: give the pattern, -p", c->name, c->class.s);
    else if (c->add_prefix_space && !(known && known->pattern == PATTERN_GPT2))
        err_at(e, EX_DATAERR, c->name, ERR_NO_OFFSET, "add_prefix_space: not supported except for GPT2Tokenizer");
    else if (known && from->pattern && from->pattern->id != known->pattern)
        err_set(e, EX_USAGE, "%s: %s has the pattern %s: leave out -p", c->name, known->name,
                pattern_at(known->pattern)->name);
    else
        return from->pattern ? from->pattern : pattern_at(known ? known->pattern : PATTERN_GPT2);
    return NULL;
}

/* Takes the special tokens and other settings from the files beside the pair; if these name no special tokens, they are
 * determined as without these files. */
static int take_config(struct hf_reader *in, const struct model_source *from, struct hf_config *c)
{
    struct err *e = in->b.e;
    if (hf_config_read(c, &in->b, from) || hf_config_tokens(c, &in->added, e))
        return -1;
    const struct pattern *pattern = find_pattern(from, c, e);
    if (!pattern || build_pattern(&in->b, pattern) || (c->add_prefix_space && build_prefix(&in->b, str_of(" "))))
        return -1;
    in->m->normalizer = c->known ? c->known->normalizer : NORMALIZER_NONE;
    if (!in->added.n)
        return build_end(&in->b) || take_special(&in->b) ? -1 : 0;
    in->r = (struct json_reader){.name = c->name, .e = e};
    return hf_take_added(in) || build_end(&in->b) || hf_config_roles(c, in->m, e) ? -1 : 0;
}

static int read_files(struct model *m, const struct model_source *from, const char *vocab, const char *merges,
                      struct err *e)
{
    struct hf_reader in = {.m = m};
    struct hf_config c = {0};
    int rc = build_init(&in.b, m, vocab, 1 << 16, e) || read_vocab(&in.b, vocab) ? -1 : 0;
    in.n_vocab = in.b.n_tokens;
    if (!rc)
        rc = read_merges(&in.b, merges) || build_merges_end(&in.b) || take_config(&in, from, &c) ? -1 : 0;
    hf_config_free(&c);
    free(in.added.p);
    build_free(&in.b);
    return rc;
}

static int read_gpt2(struct model *m, struct model_source *from, struct err *e)
{
    int pair = find_pair(from, e), rc = -1;
    if (pair < 0)
        return -1;
    if (from->n_special)
        return err_set(e, EX_USAGE, "%s: vocab.json has the special tokens: leave out -s", from->path);
    assert(pair < N_PAIRS);
    bool in = from->is_directory;
    char *vocab = model_file_join(from->path, in, pairs[pair].vocab, e);
    char *merges = vocab ? model_file_join(from->path, in, pairs[pair].merges, e) : NULL;
    if (merges)
        rc = read_files(m, from, vocab, merges, e);
    free(vocab);
    free(merges);
    return rc;
}

/* ---- What the pair cannot express ---- */

/* Sets the bit of each id that is in a merge; bits has n_ids bits. */
static void mark_merged(uint64_t *merged, const struct model *m)
{
    for (size_t k = 0; k < m->n_merges; k++) {
        const uint32_t in_it[] = {m->merge[k].left, m->merge[k].right, m->merge[k].result};
        for (size_t i = 0; i < 3; i++)
            merged[in_it[i] / 64] |= (uint64_t)1 << in_it[i] % 64;
    }
}

/* Checks that special tokens can be distinguished from others in vocab.json. */
static int check_tokens(const struct model *m, const uint64_t *merged, struct err *e)
{
    char name[60];
    for (uint32_t id = 0; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (t->vocab && t->len > 1 && !(merged[id / 64] >> id % 64 & 1))
            return err_set(e, EX_USAGE,
                           "token %lu, \"%s\", is in no merge; in vocab.json it would be taken for a special token",
                           (unsigned long)id, build_show(name, sizeof name, t->p, t->len, true));
    }
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        if (m->token[s->id].vocab)
            return err_set(
                e, EX_USAGE,
                "special token \"%s\" has the id of a token that is made by merging; in vocab.json it would not be "
                "special",
                build_show(name, sizeof name, s->p, s->len, false));
    }
    return 0;
}

static int check_gpt2(struct model *m, struct err *e)
{
    if (convert_to_merges(m, e))
        return -1;
    uint64_t *merged = calloc(m->n_ids / 64 + 1, sizeof *merged);
    if (!merged)
        return err_mem(e, "the merges", m->n_ids / 8);
    mark_merged(merged, m);
    int rc = check_tokens(m, merged, e);
    free(merged);
    return rc ? -1 : m->ignore_merges ? err_set(e, EX_USAGE, "merges.txt cannot express ignore_merges") : 0;
}

/* ---- Writing ---- */

static int put_merges(struct buf *out, const struct model *m, struct err *e)
{
    for (size_t k = 0; k < m->n_merges; k++) {
        const struct model_token *left = &m->token[m->merge[k].left];
        if (merges_is_header((struct str){left->p, left->len})) /* it is the same in byte-to-unicode form as in bytes */
            return err_set(e, EX_USAGE,
                           "merges.txt: merge %zu begins with \"" MERGES_HEADER
                           "\", so that readers would take it for a header: write tokenizer.json instead",
                           k);
    }
    if (buf_put_str(out, MERGES_HEADER ": 0.2\n", e) || merges_put_lines(out, m, e))
        return -1;
    return 0;
}

/* merges.txt is written last, so that if it exists, the other file does too. */
static int write_gpt2(struct model_files *to, const struct model *m, struct err *e)
{
    if (m->normalizer)
        return err_set(e, EX_USAGE, "vocab.json and merges.txt cannot express that text is normalized (%s)",
                       normalizer_names[m->normalizer]);
    if (model_split(m).len)
        return err_set(e, EX_USAGE, "vocab.json and merges.txt cannot express how this model splits text");
    if (m->prefix.len)
        return err_set(e, EX_USAGE, "vocab.json and merges.txt cannot express that a space is put before text");
    if (build_refuse_flags(m, "vocab.json and merges.txt", e))
        return -1;
    struct json_writer w = json_write_over(model_files_add(to, "/vocab.json"), false, e);
    vocab_json_write(&w, m, true);
    if (json_write_done(&w) || put_merges(model_files_add(to, "/merges.txt"), m, e))
        return -1;
    return 0;
}

const struct model_format format_gpt2 = {
    .name = "gpt2",
    .in_directory = "vocab.json and merges.txt",
    .sniff_path = sniff_path,
    .read = read_gpt2,
    .dialect = PATTERN_PCRE,
    .check = check_gpt2,
    .write = write_gpt2,
    .is_directory = true,
    .implied = "gpt2",
    .all_special = true,
    .has_ids = true,
};
