/* manifest_json.c - see manifest.h: the manifest as JSON, and its file.
 *
 * Tables of members (manifest_member.h) drive both reading and writing, except when the top-level object is written:
 * its members are on lines of their own, and some are written only if others have a value.
 */
#include "shard/format/manifest.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/formats.h"
#include "shard/format/manifest_member.h"
#include "wire/payload.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const last_words[] = {"short", "dropped", "padded", NULL};
static const char *const eot_words[] = {"none", "before", "after", NULL};
static const char *const special_words[] = {"token", "text", "error", NULL};
static const char *const dtype_words[] = {"uint16", "uint32", "int32", NULL};
static const char *const split_words[] = {"train", "test", NULL};

/* ---- Arrays ---- */

/* Advances to the next item of a JSON array, as json_read_item. On 1, appends a zeroed item to *p, an array of *n items
 * (array_grow). */
static int next_item(struct json_reader *r, void *p, size_t *cap, size_t *n, size_t size, const char *what)
{
    char *items;
    int more = json_read_item(r);
    if (more <= 0)
        return more;
    if (array_grow(p, cap, *n + 1, size, what, r->e))
        return -1;
    memcpy(&items, p, sizeof items);
    memset(items + size * (*n)++, 0, size);
    return 1;
}

/* ---- Files ---- */

static const struct member file_members[] = {
    {"name", MEMBER_TEXT, .at = offsetof(struct manifest_file, name), .needed = true},
    {"bytes", MEMBER_UINT, .at = offsetof(struct manifest_file, bytes), .needed = true},
    {"xxh128", MEMBER_CHECKSUM, .at = offsetof(struct manifest_file, checksum), .needed = true},
    {"sha256", MEMBER_SHA256, .at = offsetof(struct manifest_file, sha256)},
    {0},
};

static int get_file(struct json_reader *r, struct manifest_file *f)
{
    return member_get_object(r, file_members, f, "a file without name, bytes or xxh128");
}

static void put_files(struct json_writer *w, const struct manifest_file *f, size_t n)
{
    json_write_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        member_put_object(w, file_members, &f[i]);
    json_write_end(w, ']');
}

/* The files of a shard after file 0, whose members are those of the shard object. */
static int get_shard_files(struct json_reader *r, void *to)
{
    struct manifest_shard *s = to;
    int more;
    if (json_read_array(r))
        return -1;
    while ((more = json_read_item(r)) > 0) {
        if (s->n_files == SHARD_FILES)
            return json_read_fail(r, "more than %d files in a shard", SHARD_FILES);
        if (get_file(r, &s->file[s->n_files++]))
            return -1;
    }
    return more;
}

static void put_shard_files(struct json_writer *w, const char *key, const void *from)
{
    const struct manifest_shard *s = from;
    if (s->n_files < 2)
        return;
    json_write_key(w, key);
    put_files(w, s->file + 1, s->n_files - 1);
}

/* The directory-wide files. */
static int get_extra(struct json_reader *r, void *to)
{
    struct manifest *x = to;
    size_t cap = 0;
    int more;
    if (json_read_array(r))
        return -1;
    while ((more = next_item(r, &x->extra, &cap, &x->n_extra, sizeof *x->extra, "files")) > 0) {
        if (get_file(r, &x->extra[x->n_extra - 1]))
            return -1;
    }
    return more;
}

/* ---- Shards ---- */

static int get_id(struct json_reader *r, void *to)
{
    return member_get_text(r, to);
}

/* Omitted if there is no id. */
static void put_id(struct json_writer *w, const char *key, const void *from)
{
    const char *id = *(char *const *)from;
    if (!id || !*id)
        return;
    json_write_key(w, key);
    member_put_text(w, id);
}

static const struct member document_members[] = {
    {"source", MEMBER_TEXT, .at = offsetof(struct manifest_document, source), .needed = true},
    {"offset", MEMBER_OR_NULL, .at = offsetof(struct manifest_document, offset), .needed = true},
    {"end", MEMBER_OR_NULL, .at = offsetof(struct manifest_document, end), .needed = true},
    {"id", MEMBER_OTHER, .at = offsetof(struct manifest_document, id), .get = get_id, .put = put_id},
    {"line", MEMBER_UINT, .at = offsetof(struct manifest_document, line), .needed = true},
    {"token", MEMBER_UINT, .at = offsetof(struct manifest_document, token), .needed = true},
    {"tokens", MEMBER_UINT, .at = offsetof(struct manifest_document, tokens), .needed = true},
    {"continued", MEMBER_BOOL, .at = offsetof(struct manifest_document, continued), .needed = true},
    {0},
};

static int get_document(struct json_reader *r, void *to)
{
    return member_get_object(r, document_members, to, "a document with missing keys");
}

static void put_document(struct json_writer *w, const char *key, const void *from)
{
    const struct manifest_document *d = from;
    if (!d->source)
        return;
    json_write_key(w, key);
    member_put_object(w, document_members, d);
}

/* [["source", begin, end], ...] */
static int get_ranges(struct json_reader *r, void *to)
{
    struct manifest_shard *s = to;
    size_t cap = 0;
    int more;
    if (json_read_array(r))
        return -1;
    while ((more = next_item(r, &s->range, &cap, &s->n_ranges, sizeof *s->range, "ranges")) > 0) {
        struct manifest_range *g = &s->range[s->n_ranges - 1];
        if (json_read_array(r) || json_read_item(r) <= 0 || member_get_text(r, &g->source) || json_read_item(r) <= 0 ||
            json_read_uint(r, &g->begin) || json_read_item(r) <= 0 || member_get_or_null(r, &g->end, 0) ||
            json_read_item(r) != 0)
            return json_read_fail(r, "a range should be [source, begin, end]");
    }
    return more;
}

static void put_ranges(struct json_writer *w, const char *key, const void *from)
{
    const struct manifest_shard *s = from;
    if (!s->n_ranges)
        return;
    json_write_key(w, key);
    json_write_begin(w, '[');
    for (size_t i = 0; i < s->n_ranges; i++) {
        json_write_begin(w, '[');
        member_put_text(w, s->range[i].source);
        json_write_uint(w, s->range[i].begin);
        member_put_or_null(w, s->range[i].end);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
}

static const struct member shard_members[] = {
    {"name", MEMBER_TEXT, .at = offsetof(struct manifest_shard, file[0].name), .needed = true},
    {"split", MEMBER_CHOICE, .at = offsetof(struct manifest_shard, split), .needed = true, .words = split_words},
    {"number", MEMBER_UINT, .at = offsetof(struct manifest_shard, number), .needed = true},
    {"tokens", MEMBER_UINT, .at = offsetof(struct manifest_shard, tokens), .needed = true},
    {"documents", MEMBER_UINT, .at = offsetof(struct manifest_shard, documents), .needed = true},
    {"bytes", MEMBER_UINT, .at = offsetof(struct manifest_shard, file[0].bytes), .needed = true},
    {"xxh128", MEMBER_CHECKSUM, .at = offsetof(struct manifest_shard, file[0].checksum), .needed = true},
    {"sha256", MEMBER_SHA256, .at = offsetof(struct manifest_shard, file[0].sha256)},
    {"files", MEMBER_OTHER, .get = get_shard_files, .put = put_shard_files},
    {"first", MEMBER_OTHER, .at = offsetof(struct manifest_shard, first), .get = get_document, .put = put_document},
    {"last", MEMBER_OTHER, .at = offsetof(struct manifest_shard, last), .get = get_document, .put = put_document},
    {"ranges", MEMBER_OTHER, .get = get_ranges, .put = put_ranges},
    {0},
};

static int get_shards(struct json_reader *r, void *to)
{
    int more;
    if (json_read_array(r))
        return -1;
    while ((more = json_read_item(r)) > 0) {
        struct manifest_shard s = {.n_files = 1};
        if (member_get_object(r, shard_members, &s, "a shard with missing keys")) {
            manifest_shard_free(&s);
            return -1;
        }
        if (manifest_add(to, &s, r->e))
            return -1;
    }
    return more;
}

int manifest_put_shard(struct buf *out, const struct manifest_shard *s, struct err *e)
{
    struct json_writer w = json_write_over(out, false, e);
    member_put_object(&w, shard_members, s);
    return json_write_done(&w);
}

/* ---- The model ---- */

static int get_fingerprint(struct json_reader *r, void *to)
{
    unsigned char byte[8];
    uint64_t v = 0;
    if (member_get_hex(r, byte, sizeof byte))
        return -1;
    for (size_t i = 0; i < sizeof byte; i++)
        v = v << 8 | byte[i];
    *(uint64_t *)to = v;
    return 0;
}

static void put_fingerprint(struct json_writer *w, const char *key, const void *from)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)*(const uint64_t *)from);
    json_write_key(w, key);
    json_write_str(w, hex);
}

static int get_special_tokens(struct json_reader *r, void *to)
{
    struct manifest *x = to;
    size_t cap = 0;
    int more;
    if (json_read_array(r))
        return -1;
    while ((more = next_item(r, &x->special, &cap, &x->n_special, sizeof *x->special, "tokens")) > 0) {
        if (member_get_text(r, &x->special[x->n_special - 1]))
            return -1;
    }
    return more;
}

static void put_special_tokens(struct json_writer *w, const char *key, const void *from)
{
    const struct manifest *x = from;
    json_write_key(w, key);
    json_write_begin(w, '[');
    for (size_t i = 0; i < x->n_special; i++)
        member_put_text(w, x->special[i]);
    json_write_end(w, ']');
}

static int get_normalizer(struct json_reader *r, void *to)
{
    return json_read_choice(r, normalizer_names, &((struct manifest *)to)->normalizer);
}

/* Omitted if there is none, as in manifests written before normalizers existed. */
static void put_normalizer(struct json_writer *w, const char *key, const void *from)
{
    const struct manifest *x = from;
    if (!x->normalizer)
        return;
    json_write_key(w, key);
    json_write_str(w, normalizer_names[x->normalizer]);
}

/* Omitted if the other members determine the rules. */
static void put_rules(struct json_writer *w, const char *key, const void *from)
{
    if (*(const uint64_t *)from)
        put_fingerprint(w, key, from);
}

static const struct member model_members[] = {
    {"fingerprint", MEMBER_OTHER, .at = offsetof(struct manifest, model), .get = get_fingerprint,
     .put = put_fingerprint},
    {"vocabulary", MEMBER_UINT, .at = offsetof(struct manifest, vocabulary)},
    {"pattern", MEMBER_TEXT, .at = offsetof(struct manifest, pattern)},
    {"normalizer", MEMBER_OTHER, .get = get_normalizer, .put = put_normalizer},
    {"rules", MEMBER_OTHER, .at = offsetof(struct manifest, rules), .get = get_fingerprint, .put = put_rules},
    {"special_tokens", MEMBER_OTHER, .get = get_special_tokens, .put = put_special_tokens},
    {"eot", MEMBER_CHOICE, .at = offsetof(struct manifest, eot), .words = eot_words},
    {"separator", MEMBER_OR_NULL, .at = offsetof(struct manifest, separator), .first = 1},
    {"special", MEMBER_CHOICE, .at = offsetof(struct manifest, special_policy), .words = special_words},
    {0},
};

static int get_model(struct json_reader *r, void *to)
{
    return member_get_object(r, model_members, to, "");
}

/* ---- The sources ---- */

static const struct member sources_members[] = {
    {"count", MEMBER_UINT, .at = offsetof(struct manifest_sources, n), .needed = true},
    {"bytes", MEMBER_UINT, .at = offsetof(struct manifest_sources, bytes), .needed = true},
    {"names", MEMBER_SHA256, .at = offsetof(struct manifest_sources, names), .needed = true},
    {0},
};

static int get_sources(struct json_reader *r, void *to)
{
    struct manifest_sources *s = to;
    s->known = true;
    return member_get_object(r, sources_members, s, "sources without count, bytes or names");
}

static int get_reading(struct json_reader *r, void *to)
{
    struct buf *encoded = to, field = {0}, id = {0};
    struct reading how;
    int null = json_read_null(r);
    if (null)
        return null < 0 ? -1 : 0;
    int rc = reading_read_json(&how, r, &field, &id) || reading_put(encoded, &how, r->e);
    buf_free(&field);
    buf_free(&id);
    return rc ? -1 : 0;
}

/* ---- The whole manifest: reading ---- */

static int get_version(struct json_reader *r, void *to)
{
    uint64_t v;
    (void)to;
    if (json_read_uint(r, &v))
        return -1;
    return v == 1 ? 0 : json_read_fail(r, "version %llu; this program knows version 1", (unsigned long long)v);
}

static int get_format(struct json_reader *r, void *to)
{
    const struct shard_format **format = to;
    char word[JSON_WORD_MAX];
    struct str s;
    if (json_read_string(r, &s))
        return -1;
    if (s.len >= JSON_WORD_MAX)
        return json_read_fail(r, "a string too long for the name of a format");
    memcpy(word, s.p, s.len);
    word[s.len] = '\0';
    *format = shard_format_find(word);
    return *format ? 0 : json_read_fail(r, "unknown format \"%s\"", word);
}

static int get_order(struct json_reader *r, void *to)
{
    static const char *const words[] = {"corpus", "shuffled", NULL};
    unsigned i = 0;
    int rc = json_read_choice(r, words, &i);
    *(bool *)to = i;
    return rc;
}

static int get_fraction(struct json_reader *r, void *to)
{
    char digits[40];
    double *v = to;
    if (json_read_peek(r) != '0')
        return json_read_fail(r, "expected a number from 0 to 1");
    const unsigned char *from = r->window.p + r->at;
    if (json_read_skip(r))
        return -1;
    size_t n = (size_t)(r->window.p + r->at - from);
    if (n >= sizeof digits)
        return json_read_fail(r, "a number of %zu characters, which is too long", n);
    memcpy(digits, from, n);
    digits[n] = '\0';
    *v = strtod(digits, NULL);
    return *v >= 0 && *v < 1 ? 0 : json_read_fail(r, "%s is not a fraction from 0 to 1", digits);
}

static const struct member top_members[] = {
    {"version", MEMBER_OTHER, .needed = true, .get = get_version},
    {"software", MEMBER_TEXT, .at = offsetof(struct manifest, software)},
    {"format", MEMBER_OTHER, .at = offsetof(struct manifest, plan.format), .needed = true, .get = get_format},
    {"dtype", MEMBER_CHOICE, .at = offsetof(struct manifest, plan.dtype), .needed = true, .words = dtype_words,
     .first = DTYPE_U16},
    {"shard_tokens", MEMBER_UINT, .at = offsetof(struct manifest, plan.shard_tokens), .needed = true},
    {"order", MEMBER_OTHER, .at = offsetof(struct manifest, plan.shuffled), .get = get_order},
    {"seed", MEMBER_UINT, .at = offsetof(struct manifest, plan.seed)},
    {"test_shards", MEMBER_UINT, .at = offsetof(struct manifest, plan.test_shards)},
    {"test_fraction", MEMBER_OTHER, .at = offsetof(struct manifest, plan.test_fraction), .get = get_fraction},
    {"last", MEMBER_CHOICE, .at = offsetof(struct manifest, plan.last), .words = last_words},
    {"name", MEMBER_TEXT, .at = offsetof(struct manifest, name)},
    {"docs", MEMBER_BOOL, .at = offsetof(struct manifest, plan.docs)},
    {"sha256", MEMBER_BOOL, .at = offsetof(struct manifest, plan.sha256)},
    {"model", MEMBER_OTHER, .needed = true, .get = get_model},
    {"reading", MEMBER_OTHER, .at = offsetof(struct manifest, reading), .get = get_reading},
    {"sources", MEMBER_OTHER, .at = offsetof(struct manifest, sources), .get = get_sources},
    {"shards", MEMBER_OTHER, .needed = true, .get = get_shards},
    {"files", MEMBER_OTHER, .get = get_extra},
    {"complete", MEMBER_BOOL, .at = offsetof(struct manifest, complete), .needed = true},
    {"checksum", MEMBER_CHECKSUM, .at = offsetof(struct manifest, checksum), .needed = true},
    {0},
};

int manifest_get(struct manifest *m, const unsigned char *p, size_t n, struct err *e)
{
    struct json_reader r = {0};
    *m = (struct manifest){0};
    json_read_memory(&r, p, n, true, e); /* names with invalid UTF-8 have lone surrogates */
    int rc = member_get_object(&r, top_members, m, "not a manifest of shards: keys are missing") || json_read_end(&r);
    json_read_free(&r);
    m->plan.name = m->name;
    if (rc)
        manifest_free(m);
    return rc ? -1 : 0;
}

/* ---- The whole manifest: writing ---- */

/* Writes a member of the top-level object, on a line of its own. */
struct top_writer {
    struct buf *out;
    struct err *e;
    struct json_writer w; /* of the value */
    bool failed;
};

static struct json_writer *top(struct top_writer *t, const char *key)
{
    t->failed |= json_write_done(&t->w) != 0;
    t->failed = t->failed || buf_put_str(t->out, t->out->len ? ",\n  \"" : "{\n  \"", t->e) ||
                buf_put_str(t->out, key, t->e) || buf_put_str(t->out, "\": ", t->e);
    t->w = json_write_over(t->out, false, t->e);
    return &t->w;
}

static void put_options(struct top_writer *t, const struct manifest *m)
{
    const struct shard_plan *p = &m->plan;
    json_write_str(top(t, "format"), p->format->name);
    json_write_str(top(t, "dtype"), shard_dtype_name(p->dtype));
    json_write_uint(top(t, "shard_tokens"), p->shard_tokens);
    json_write_str(top(t, "documents"), p->format->whole ? "whole" : "continue");
    json_write_str(top(t, "order"), p->shuffled ? "shuffled" : "corpus");
    if (p->shuffled || p->test_fraction > 0)
        json_write_uint(top(t, "seed"), p->seed);
    if (p->test_shards)
        json_write_uint(top(t, "test_shards"), p->test_shards);
    if (p->test_fraction > 0)
        json_write_real(top(t, "test_fraction"), p->test_fraction);
    json_write_str(top(t, "last"), last_words[p->last]);
    if (p->name)
        member_put_text(top(t, "name"), p->name);
    json_write_bool(top(t, "docs"), p->docs);
    json_write_bool(top(t, "sha256"), p->sha256);
}

static const struct member totals_members[] = {
    {"shards", MEMBER_UINT, .at = offsetof(struct manifest_totals, shards)},
    {"tokens", MEMBER_UINT, .at = offsetof(struct manifest_totals, tokens)},
    {"documents", MEMBER_UINT, .at = offsetof(struct manifest_totals, documents)},
    {0},
};

static void put_totals(struct json_writer *w, const struct manifest *m)
{
    json_write_begin(w, '{');
    for (unsigned split = 0; split < N_SPLITS; split++) {
        const struct manifest_totals t = manifest_totals(m, split);
        if (split == SPLIT_TEST && !shard_plan_splits(&m->plan))
            continue;
        json_write_key(w, split_words[split]);
        member_put_object(w, totals_members, &t);
    }
    json_write_end(w, '}');
}

static int put_shards(struct top_writer *t, const struct manifest *m)
{
    top(t, "shards");
    int rc = buf_put_str(t->out, "[", t->e);
    for (size_t i = 0; i < m->n_shards && rc == 0; i++)
        rc = buf_put_str(t->out, i ? ",\n    " : "\n    ", t->e) || manifest_put_shard(t->out, &m->shard[i], t->e);
    return rc || buf_put_str(t->out, m->n_shards ? "\n  ]" : "]", t->e) ? -1 : 0;
}

int manifest_put(struct buf *out, const struct manifest *m, struct err *e)
{
    unsigned char checksum[CHECKSUM_LEN];
    struct buf text = {0};
    struct top_writer t = {.out = &text, .e = e, .w = json_write_over(&text, false, e)};
    json_write_uint(top(&t, "version"), 1);
    member_put_text(top(&t, "software"), m->software);
    put_options(&t, m);
    member_put_object(top(&t, "model"), model_members, m);
    struct json_writer *w = top(&t, "reading");
    struct reading how;
    if (m->reading.len == 0)
        json_write_null(w);
    else if (reading_get(&how, buf_str(&m->reading), t.e))
        t.failed = true;
    else
        reading_write_json(w, &how);
    if (m->sources.known)
        member_put_object(top(&t, "sources"), sources_members, &m->sources);
    int rc = put_shards(&t, m) || manifest_checksum(m, checksum, e);
    if (rc == 0) {
        if (m->n_extra)
            put_files(top(&t, "files"), m->extra, m->n_extra);
        json_write_bool(top(&t, "complete"), m->complete);
        put_totals(top(&t, "totals"), m);
        member_put_checksum(top(&t, "checksum"), checksum);
        rc = json_write_done(&t.w) || t.failed || buf_put_str(&text, "\n}\n", e) || buf_put(out, text.p, text.len, e);
    }
    buf_free(&text);
    return rc ? -1 : 0;
}

/* ---- In its directory ---- */

int manifest_write(const struct manifest *m, const char *dir, uint64_t *bytes, struct err *e)
{
    struct buf text = {0};
    char *made = fd_path(dir, ".work/" MANIFEST_NAME, e), *path = made ? fd_path(dir, MANIFEST_NAME, e) : NULL;
    int rc = !path || manifest_put(&text, m, e) || durable_write(made, path, dir, text.p, text.len, e) ? -1 : 0;
    if (bytes)
        *bytes = text.len;
    buf_free(&text);
    free(made);
    free(path);
    return rc;
}

/* text: gets the file's contents, padded for the JSON reader. */
static int read_path(struct manifest *m, const char *path, struct buf *text, struct err *e)
{
    int fd = fd_open_file(path, O_RDONLY, EX_NOINPUT, e);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    int rc =
        fd_read_all(fd, text, path, e) || buf_reserve(text, JSON_READ_PAD, e) || manifest_get(m, text->p, text->len, e)
            ? err_place(e, path, e->offset)
            : manifest_check(m, path, e);
    close(fd);
    if (rc)
        manifest_free(m);
    return rc ? -1 : 1;
}

int manifest_read(struct manifest *m, const char *dir, struct buf *text, struct err *e)
{
    struct buf own = {0};
    char *path = fd_path(dir, MANIFEST_NAME, e);
    *m = (struct manifest){0};
    int rc = path ? read_path(m, path, text ? text : &own, e) : -1;
    buf_free(&own);
    free(path);
    return rc;
}
