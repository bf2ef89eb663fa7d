/* format_boundless.c - the .model files of fastboundlessbpe (BoundlessBPE, arXiv 2504.00178): text in lines, read as
 * that project reads them (src/vocabulary.rs, src/inference_data.rs).
 *
 *     BoundlessBPE v2 TYPE            word, or with superwords: boundless or superbpe
 *     vocabulary                      a line with the number of lines, then for each token
 *                                         ID TOKEN COUNT SUPER      ids from 0 without gaps
 *     special_tokens                  the same: ID TEXT
 *     words                           the regex, in a JSON object; then the merges within pretokens:
 *         merges                      RANK LEFT RIGHT COUNT WHOLE
 *         deletions                   refused, if there are any: tokens that were removed in training (PickyBPE)
 *     superwords                      the same, with the merges of whole pretokens; unless TYPE is word
 *
 * Tokens are in byte-to-unicode form. The type (enum model_joins) has no influence on encoding, nor have the counts,
 * SUPER (the token is a superword), WHOLE (a pretoken of the training text became one token by it) and the
 * merge_pattern, which training requires of the parts of a superword. COUNT of merges is kept; the other counts and
 * WHOLE are written as 0.
 *
 * That project's trainer leaves out the 13 bytes that UTF-8 never contains. They get the lowest free ids here, and are
 * left out again in writing.
 *
 * It repeats one pair at a time, wherever it occurs, in order of rank. That is the same as the merges of struct model
 * only if no merge comes before one that makes one of its parts (check_order).
 */
#include "model/formats.h"
#include "model/model_build.h"
#include "model/model_convert.h"
#include "model/model_file.h"
#include "pretok/byte_level.h"
#include "pretok/regex.h"
#include "unicode/uclass.h"
#include "unicode/utf8.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "BoundlessBPE "

static const char *const type_names[] = {
    [JOINS_NOT] = "word", [JOINS_RUNS] = "superbpe", [JOINS_COMPETE] = "boundless"};

enum { FIELDS_MAX = 5 };

/* The regex that matches any whole text, and the merge_pattern. */
static const char everything[] = "[\\s\\S]+";
static const char letter[] = "\\p{L}";

/* ---- What both reading and writing check ---- */

/* The first of the merges [from, to) that comes before a merge that makes one of its parts, or `to`; last: room for a
 * number by id, zeroed. */
static size_t find_early(const struct model *m, size_t from, size_t to, size_t *last)
{
    for (size_t k = from; k < to; k++)
        last[m->merge[k].result] = k + 1;
    for (size_t k = from; k < to; k++)
        if (last[m->merge[k].left] > k || last[m->merge[k].right] > k)
            return k;
    return to;
}

/* Checks that the order of the merges has the same meaning in fastboundlessbpe. */
static int check_order(const struct model *m, struct err *e)
{
    const size_t n_words = m->n_merges - m->n_super;
    char left[60], right[60];
    size_t *last = calloc(2 * (size_t)m->n_ids + 1, sizeof *last);
    if (!last)
        return err_mem(e, "the merges", 2 * (uint64_t)m->n_ids * sizeof *last);
    size_t k = find_early(m, 0, n_words, last);
    if (k == n_words)
        k = find_early(m, n_words, m->n_merges, last + m->n_ids);
    free(last);
    if (k == m->n_merges)
        return 0;
    const struct model_token *l = &m->token[m->merge[k].left], *r = &m->token[m->merge[k].right];
    build_show(left, sizeof left, l->p, l->len, true);
    build_show(right, sizeof right, r->p, r->len, true);
    return err_set(e, EX_USAGE,
                   "merge %zu, \"%s\" and \"%s\", comes before one that makes one of these: fastboundlessbpe then has "
                   "other rules, which are not supported",
                   k, left, right);
}

/* Checks that no merge of superwords joins text before and after a newline, because bpe-chunk may cut text there. */
static int check_newlines(const struct model *m, struct err *e)
{
    for (size_t k = m->n_merges - m->n_super; k < m->n_merges; k++) {
        const struct model_token *left = &m->token[m->merge[k].left];
        if (left->p[left->len - 1] == '\n')
            return err_set(e, EX_USAGE, "merge %zu is of a superword with text after a newline: not supported", k);
    }
    return 0;
}

static int check_merges(const struct model *m, struct err *e)
{
    return check_order(m, e) || check_newlines(m, e) ? -1 : 0;
}

static bool has(struct str text, const char *part)
{
    return memmem(text.p, text.len, part, strlen(part));
}

/* Whether a regex looks at the text before a match: fastboundlessbpe searches as if text began there. */
static bool looks_back(struct str regex)
{
    return has(regex, "(?<=") || has(regex, "(?<!") || has(regex, "\\A");
}

/* ---- Reading: lines ---- */

struct file {
    struct build b;
    const unsigned char *p, *end; /* what is left */
    uint64_t line;                /* number of the last line read */
    uint64_t *count;              /* owned: by merge */
    size_t n_merges, counts_cap;
    size_t n_vocab;
};

/* Adds the position to an error. */
static int place(const struct file *f)
{
    return err_place_line(f->b.e, f->b.name, f->line);
}

static int bad(const struct file *f, const char *what)
{
    err_set(f->b.e, EX_DATAERR, "%s", what);
    return place(f);
}

/* Reads a line, without the white space at its end. */
static int next_line(struct file *f, struct str *line)
{
    f->line++;
    if (f->p == f->end)
        return bad(f, "the file ends here, in the middle: it was cut off");
    const unsigned char *lf = memchr(f->p, '\n', (size_t)(f->end - f->p));
    *line = (struct str){f->p, (size_t)((lf ? lf : f->end) - f->p)};
    f->p += line->len + (lf != NULL);
    while (line->len && memchr(" \t\r\f\v", line->p[line->len - 1], 5))
        line->len--;
    return 0;
}

/* Reads a line that must have this many fields, with a space between each two. what: describes it. */
static int next_fields(struct file *f, struct str field[FIELDS_MAX], size_t n, const char *what)
{
    struct str line;
    if (next_line(f, &line))
        return -1;
    size_t found = 0;
    for (const unsigned char *p = line.p, *end = line.p + line.len; p <= end; found++) {
        const unsigned char *space = memchr(p, ' ', (size_t)(end - p));
        const unsigned char *to = space ? space : end;
        if (found == n)
            return bad(f, what);
        field[found] = (struct str){p, (size_t)(to - p)};
        p = to + 1;
    }
    return found == n ? 0 : bad(f, what);
}

static bool get_number(struct str s, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || *v > (INT64_MAX - 9) / 10)
            return false;
        *v = 10 * *v + (s.p[i] - '0');
    }
    return s.len > 0;
}

/* Reads a line with a heading, and one with the number of lines that follow. */
static int next_heading(struct file *f, const char *heading, uint64_t *n)
{
    struct str line;
    if (next_line(f, &line))
        return -1;
    if (!str_equal(line, str_of(heading))) {
        err_set(f->b.e, EX_DATAERR, "not the line \"%s\", which must follow here", heading);
        return place(f);
    }
    if (next_line(f, &line))
        return -1;
    return get_number(line, n) ? 0 : bad(f, "is not a number of lines");
}

/* ---- Reading: the vocabulary ---- */

static int read_token(struct file *f, uint64_t id)
{
    static const char what[] = "is not an id, a token in byte-to-unicode form, its count, and 0 or 1";
    struct str field[FIELDS_MAX];
    uint64_t n;
    if (next_fields(f, field, 4, what))
        return -1;
    if (!get_number(field[0], &n) || !get_number(field[2], &(uint64_t){0}) || field[3].len != 1 ||
        (*field[3].p & 0xFE) != '0')
        return bad(f, what);
    if (n != id) {
        err_set(f->b.e, EX_DATAERR, "has the id %llu, not the next one, %llu", (unsigned long long)n,
                (unsigned long long)id);
        return place(f);
    }
    unsigned char *to = model_room(f->b.m, field[1].len + BYTE_LEVEL_PAD, f->b.e);
    if (!to)
        return -1;
    const size_t len = byte_level_get(to, field[1].p, field[1].len);
    if (len == BYTE_LEVEL_NOT || !len)
        return bad(f, what);
    model_keep(f->b.m, len);
    return build_token(&f->b, to, len, true, id) ? place(f) : 0;
}

static bool ends_with_space(struct str s)
{
    size_t last = s.len - 1, len;
    while (last && (s.p[last] & 0xC0) == 0x80)
        last--;
    return uclass_at(s.p + last, &len) == UCLASS_SPACE;
}

static int read_special(struct file *f)
{
    struct str line;
    bool cut;
    uint64_t id;
    if (next_line(f, &line))
        return -1;
    const unsigned char *space = memchr(line.p, ' ', line.len);
    if (!space || !get_number((struct str){line.p, (size_t)(space - line.p)}, &id))
        return bad(f, "is not an id and a special token");
    const struct str text = {space + 1, line.len - (size_t)(space + 1 - line.p)};
    if (utf8_valid_len(text.p, text.len, &cut) != text.len || ends_with_space(text))
        return bad(f, "the special token is not valid UTF-8, or ends with white space");
    return build_special_apart(&f->b, text.p, text.len, id, true) ? place(f) : 0;
}

/* Gives the bytes that UTF-8 never contains the lowest free ids, if they have none. */
static int add_never(struct file *f)
{
    struct model *m = f->b.m;
    uint64_t id = f->n_vocab;
    for (unsigned c = 0; c < 256; c++) {
        unsigned char byte[1 + MODEL_PAD] = {(unsigned char)c};
        if (!utf8_never_contains(*byte))
            continue;
        if (build_tokens_end(&f->b))
            return -1;
        if (model_find(m, byte, 1) != MODEL_NO_ID)
            continue;
        const unsigned char *copy = build_copy(&f->b, byte, 1);
        while (id < m->n_ids && m->token[id].p)
            id++;
        if (!copy || build_token(&f->b, copy, 1, true, id))
            return -1;
    }
    f->b.vocab_known = true;
    return build_tokens_end(&f->b);
}

static int read_vocabulary(struct file *f)
{
    uint64_t n;
    if (next_heading(f, "vocabulary", &n))
        return -1;
    for (uint64_t i = 0; i < n; i++)
        if (read_token(f, i))
            return -1;
    f->n_vocab = (size_t)n;
    if (next_heading(f, "special_tokens", &n))
        return -1;
    for (uint64_t i = 0; i < n; i++)
        if (read_special(f))
            return -1;
    return add_never(f);
}

/* ---- Reading: words and superwords ---- */

enum { MAIN_REGEX, SCRIPT_REGEX, MERGE_PATTERN };

struct config {
    struct file *f;
    struct json_reader r;
    struct str regex; /* p NULL: none */
};

static int read_config_key(void *ctx, int key)
{
    struct config *c = ctx;
    struct str s;
    const int null = json_read_null(&c->r);
    if (null)
        return null < 0 ? -1 : 0;
    if (json_read_string(&c->r, &s))
        return -1;
    if (key == SCRIPT_REGEX)
        return json_read_fail(&c->r, "\"script_specific_regex\" is not supported: text must split by one regex alone");
    if (key == MERGE_PATTERN)
        return str_equal(s, str_of(letter))
                   ? 0
                   : json_read_fail(&c->r,
                                    "\"merge_pattern\" is \"%.*s\": only \"\\\\p{L}\" is supported, by which "
                                    "the parts of superwords contain a letter",
                                    (int)(s.len < 60 ? s.len : 60), (const char *)s.p);
    c->regex = (struct str){build_copy(&c->f->b, s.p, s.len), s.len};
    return c->regex.p ? 0 : -1;
}

static int take_pattern(struct file *f, const char *name)
{
    f->b.m->pattern = (const char *)build_copy(&f->b, name, strlen(name));
    return f->b.m->pattern ? 0 : -1;
}

static int take_regex(struct file *f, struct str regex)
{
    struct err why;
    if (!regex.p)
        return build_pattern(&f->b, pattern_at(PATTERN_O200K)); /* the default, GPT4O_REGEX in constants.rs */
    if (str_equal(regex, str_of(everything)))
        return take_pattern(f, "bytes");
    const struct pattern *known = pattern_by_regex(&regex, 1, PATTERN_PCRE);
    if (known && take_pattern(f, known->name))
        return -1;
    if (!known && regex_check(regex, 1U << PATTERN_PCRE, 0, &why))
        return bad(f, why.msg);
    if (!known && looks_back(regex))
        return bad(f, "the regex looks at the text before a match, which fastboundlessbpe does not see");
    return build_regex(&f->b, regex);
}

/* Reads the configuration; the one of superwords has no influence on encoding. */
static int read_config(struct file *f, bool super)
{
    static const char *const keys[] = {"main_regex", "script_specific_regex", "merge_pattern", NULL};
    struct config c = {.f = f};
    struct str line;
    uint32_t seen = 0;
    if (next_line(f, &line))
        return -1;
    json_read_memory(&c.r, line.p, line.len, false, f->b.e);
    int rc = json_read_members(&c.r, keys, &seen, read_config_key, &c) || json_read_end(&c.r) ? place(f) : 0;
    json_read_free(&c.r);
    return rc || super ? rc : take_regex(f, c.regex);
}

/* Reads a merge; *rank: the least that it may have. */
static int read_merge(struct file *f, uint64_t *rank)
{
    static const char what[] = "is not a rank, two tokens in byte-to-unicode form, their count, and 0 or 1";
    struct str field[FIELDS_MAX];
    uint64_t n, count;
    if (next_fields(f, field, 5, what))
        return -1;
    if (!get_number(field[0], &n) || !get_number(field[3], &count) || field[4].len != 1 || (*field[4].p & 0xFE) != '0')
        return bad(f, what);
    if (n < *rank)
        return bad(f, "the rank of a merge is not greater than that of the merge before it");
    *rank = n + 1;
    unsigned char *to = build_merge_room(&f->b, field[1].len + field[2].len);
    if (!to)
        return -1;
    const size_t left = byte_level_get(to, field[1].p, field[1].len),
                 right = left == BYTE_LEVEL_NOT ? left : byte_level_get(to + left, field[2].p, field[2].len);
    if (right == BYTE_LEVEL_NOT || !left || !right)
        return bad(f, what);
    if (array_grow(&f->count, &f->counts_cap, f->n_merges + 1, sizeof *f->count, "the merges", f->b.e))
        return -1;
    f->count[f->n_merges++] = count;
    return build_merge(&f->b, left, right) ? place(f) : 0;
}

static int read_section(struct file *f, bool super)
{
    struct str line;
    uint64_t n, rank = 0;
    if (next_line(f, &line))
        return -1;
    if (!str_equal(line, str_of(super ? "superwords" : "words")))
        return bad(f, super ? "not the line \"superwords\", which must follow here"
                            : "not the line \"words\", which must follow here");
    if (read_config(f, super) || next_heading(f, "merges", &n))
        return -1;
    for (uint64_t i = 0; i < n; i++)
        if (read_merge(f, &rank))
            return -1;
    if (next_heading(f, "deletions", &n))
        return -1;
    return n ? bad(f, "tokens that training deleted again (PickyBPE, tau of at most 1) are not supported") : 0;
}

/* ---- Reading: the file ---- */

static int read_type(struct file *f, enum model_joins *type)
{
    struct str field[FIELDS_MAX];
    static const char what[] = "is not \"" MAGIC "v2\" and word, boundless or superbpe";
    if (next_fields(f, field, 3, what))
        return -1;
    for (int t = JOINS_NOT; t <= JOINS_COMPETE; t++)
        if (str_equal(field[1], str_of("v2")) && str_equal(field[2], str_of(type_names[t]))) {
            *type = (enum model_joins)t;
            return 0;
        }
    return bad(f, what);
}

static int read_end(struct file *f)
{
    struct str line;
    while (f->p < f->end)
        if (next_line(f, &line) || line.len)
            return bad(f, "the file should end before this line");
    return 0;
}

static int take_merges(struct file *f)
{
    struct model *m = f->b.m;
    if (build_merges_end(&f->b))
        return -1;
    if (m->n_merges < f->n_merges)
        return err_at(f->b.e, EX_DATAERR, f->b.name, ERR_NO_OFFSET,
                      "the same two tokens have several merges (%zu too many): not supported",
                      f->n_merges - m->n_merges);
    m->merge_count = f->count;
    f->count = NULL;
    if (check_merges(m, f->b.e)) {
        f->b.e->code = f->b.e->code == EX_USAGE ? EX_DATAERR : f->b.e->code;
        return err_place(f->b.e, f->b.name, ERR_NO_OFFSET);
    }
    return 0;
}

static int read_all(struct file *f)
{
    enum model_joins *joins = &f->b.m->joins;
    if (read_type(f, joins) || read_vocabulary(f) || read_section(f, false))
        return -1;
    const size_t n_words = f->n_merges;
    if (*joins && read_section(f, true))
        return -1;
    f->b.m->n_super = f->n_merges - n_words;
    return read_end(f) || take_merges(f) || build_end(&f->b) ? -1 : 0;
}

static int read_boundless(struct model *m, struct model_source *from, struct err *e)
{
    struct file f = {0};
    if (model_source_says_all(from, "BoundlessBPE model", e) || model_file_all(from->fd, from->name, &from->head, e))
        return -1;
    int rc = build_init(&f.b, m, from->name, from->head.len / 64, e);
    f.p = from->head.p;
    f.end = f.p + from->head.len;
    rc = rc || read_all(&f) ? -1 : 0;
    build_free(&f.b);
    free(f.count);
    return rc;
}

static bool sniff(const unsigned char *p, size_t n)
{
    return n >= sizeof MAGIC - 1 && !memcmp(p, MAGIC, sizeof MAGIC - 1);
}

/* ---- Writing ---- */

/* The number of tokens that are written: the first ones. */
static uint32_t n_written(const struct model *m)
{
    uint32_t n = 0;
    while (n < m->n_ids && m->token[n].p && m->token[n].vocab)
        n++;
    while (n > 0 && model_token_never(&m->token[n - 1]))
        n--;
    return n;
}

/* Checks that the ids of all tokens follow each other, and that no special token is one of them. */
static int check_ids(const struct model *m, struct err *e)
{
    const uint32_t n = n_written(m);
    char name[60];
    for (uint32_t id = n; id < m->n_ids; id++) {
        const struct model_token *t = &m->token[id];
        if (t->p && t->vocab && !model_token_never(t))
            return err_set(e, EX_USAGE,
                           "in a BoundlessBPE file special tokens come after all others, without gaps before; here "
                           "token %lu, \"%s\", comes after %s",
                           (unsigned long)id, build_show(name, sizeof name, t->p, t->len, true),
                           n < m->n_ids && m->token[n].p ? "a special token" : "a gap");
    }
    for (size_t i = 0; i < m->n_special; i++) {
        const struct model_special *s = &m->special[i];
        if (m->token[s->id].vocab)
            return err_set(e, EX_USAGE,
                           "special token \"%s\" has the id of a token that is made by merging; in a BoundlessBPE file "
                           "it cannot",
                           build_show(name, sizeof name, s->p, s->len, false));
    }
    for (size_t k = 0; k < m->n_merges; k++)
        if (m->merge[k].left >= n || m->merge[k].right >= n || m->merge[k].result >= n)
            return err_set(e, EX_USAGE, "merge %zu takes a byte that UTF-8 never contains", k);
    return 0;
}

static int check_boundless(struct model *m, struct err *e)
{
    size_t missing;
    if (m->by_rank && convert_by_ranks(m, NULL, &missing, e))
        return -1;
    m->ignore_merges = m->by_rank ? missing > 0 : m->ignore_merges;
    m->by_rank = false;
    if (check_ids(m, e) || check_merges(m, e))
        return -1;
    return m->ignore_merges ? err_set(e, EX_USAGE, "a BoundlessBPE file cannot express ignore_merges") : 0;
}

/* Checks how text is split, and the texts of special tokens. Sets *regex. */
static int check_text(const struct model *m, struct str *regex, struct err *e)
{
    static const char what[] = "a BoundlessBPE file";
    const struct str *list;
    size_t n;
    char name[60];
    if (model_regexes(m, PATTERN_PCRE, &list, &n, e) || build_refuse_flags(m, what, e))
        return -1;
    if (m->normalizer || m->prefix.len || model_split(m).len || n > 1)
        return err_set(e, EX_USAGE, "%s can only express that text is split by one regex, and not %s", what,
                       m->normalizer   ? "that it is normalized"
                       : m->prefix.len ? "a prefix"
                       : n > 1         ? "several, one after the other"
                                       : "how this model uses its own");
    if (!n && !model_is_unsplit(m))
        return err_set(e, EX_USAGE, "the model does not define how text is split: give the pattern, -p");
    if (n && !model_pattern(m) && looks_back(*list))
        return err_set(e, EX_USAGE, "the regex looks at the text before a match, which fastboundlessbpe does not see");
    for (size_t i = 0; i < m->n_special; i++) {
        const struct str s = {m->special[i].p, m->special[i].len};
        if (memchr(s.p, '\n', s.len) || memchr(s.p, '\r', s.len) || ends_with_space(s))
            return err_set(e, EX_USAGE,
                           "special token \"%s\" ends with white space or contains a newline: %s cannot express it",
                           build_show(name, sizeof name, s.p, s.len, false), what);
    }
    *regex = n ? *list : str_of(everything);
    return 0;
}

static int put_vocabulary(struct buf *out, const struct model *m, struct err *e)
{
    const uint32_t n = n_written(m);
    unsigned char *super = calloc((size_t)n + 1, 1);
    if (!super)
        return err_mem(e, "the vocabulary", n);
    for (size_t k = m->n_merges; k-- > 0;) /* a token that words make, too, is not a superword */
        super[m->merge[k].result] = k >= m->n_merges - m->n_super;
    int rc = buf_printf(out, e, "vocabulary\n%lu\n", (unsigned long)n);
    for (uint32_t id = 0; id < n && !rc; id++)
        rc = buf_printf(out, e, "%lu ", (unsigned long)id) ||
             byte_level_put(out, m->token[id].p, m->token[id].len, e) || buf_printf(out, e, " 0 %d\n", super[id]);
    free(super);
    return rc ? -1 : 0;
}

static int put_special(struct buf *out, const struct model *m, struct err *e)
{
    int rc = buf_printf(out, e, "special_tokens\n%zu\n", m->n_special);
    for (size_t i = 0; i < m->n_special && !rc; i++)
        rc = buf_printf(out, e, "%lu ", (unsigned long)m->special[i].id) ||
             buf_put(out, m->special[i].p, m->special[i].len, e) || buf_put_byte(out, '\n', e);
    return rc ? -1 : 0;
}

static int put_config(struct buf *out, bool super, bool superbpe, struct str regex, struct err *e)
{
    struct json_writer w = json_write_over(out, false, e);
    if (buf_printf(out, e,
                   "{\"tau\": 1.1, \"is_super\": %s, \"superbpe_mode\": %s, \"blowup\": false, \"main_regex\": ",
                   super ? "true" : "false", superbpe ? "true" : "false"))
        return -1;
    json_write_bytes(&w, regex.p, regex.len);
    if (json_write_done(&w) ||
        buf_put_str(out,
                    ", \"script_specific_regex\": null, \"script_specific_scripts\": null, \"merge_pattern\": ", e))
        return -1;
    w = json_write_over(out, false, e);
    json_write_str(&w, letter);
    return json_write_done(&w) || buf_put_str(out, "}\n", e) ? -1 : 0;
}

/* Writes the merges of words or of superwords, and their configuration. */
static int put_section(struct buf *out, const struct model *m, bool super, struct str regex, struct err *e)
{
    const size_t n_words = m->n_merges - m->n_super, from = super ? n_words : 0, to = super ? m->n_merges : n_words;
    if (buf_put_str(out, super ? "superwords\n" : "words\n", e) ||
        put_config(out, super, super && m->joins == JOINS_RUNS, regex, e) ||
        buf_printf(out, e, "merges\n%zu\n", to - from))
        return -1;
    for (size_t k = from; k < to; k++) {
        const struct model_token *left = &m->token[m->merge[k].left], *right = &m->token[m->merge[k].right];
        const uint64_t count = m->merge_count ? m->merge_count[k] : 0;
        if (buf_printf(out, e, "%zu ", k - from) || byte_level_put(out, left->p, left->len, e) ||
            buf_put_byte(out, ' ', e) || byte_level_put(out, right->p, right->len, e) ||
            buf_printf(out, e, " %llu 0\n", (unsigned long long)(count < INT64_MAX ? count : INT64_MAX)))
            return -1;
    }
    return buf_put_str(out, "deletions\n0\n", e);
}

static int write_boundless(struct model_files *to, const struct model *m, struct err *e)
{
    struct buf *out = model_files_add(to, "");
    struct str regex;
    return check_text(m, &regex, e) || buf_printf(out, e, MAGIC "v2 %s\n", type_names[m->joins]) ||
                   put_vocabulary(out, m, e) || put_special(out, m, e) || put_section(out, m, false, regex, e) ||
                   (m->joins && put_section(out, m, true, regex, e))
               ? -1
               : 0;
}

const struct model_format format_boundless = {
    .name = "boundless",
    .content = "a BoundlessBPE model",
    .sniff = sniff,
    .read = read_boundless,
    .dialect = PATTERN_PCRE,
    .check = check_boundless,
    .write = write_boundless,
    .drops_gaps = true,
    .all_special = true,
    .has_superwords = true,
    .has_ids = true,
    .special_apart = true,
};
