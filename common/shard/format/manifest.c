/* manifest.c - see manifest.h: adding shards, and writing. manifest_read.c reads, manifest_check.c checks. */
#include "shard/format/manifest.h"

#include "base/io/durable.h"
#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "base/sys/hash.h"
#include "wire/payload.h"
#include "json/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const manifest_last_words[] = {"short", "dropped", "padded", NULL};
const char *const manifest_eot_words[] = {"none", "before", "after", NULL};
const char *const manifest_special_words[] = {"token", "text", "error", NULL};

static void file_free(struct manifest_file *f)
{
    free(f->name);
}

int manifest_set_text(char **to, struct str s, struct err *e)
{
    char *copy = malloc(s.len + 1);
    if (!copy)
        return err_mem(e, "a text of the manifest", s.len);
    if (s.len)
        memcpy(copy, s.p, s.len);
    copy[s.len] = '\0';
    free(*to);
    *to = copy;
    return 0;
}

void manifest_shard_free(struct manifest_shard *s)
{
    for (size_t i = 0; i < s->n_files; i++)
        file_free(&s->file[i]);
    for (size_t i = 0; i < s->n_ranges; i++)
        free(s->range[i].source);
    free(s->range);
    free(s->first.source);
    free(s->last.source);
    *s = (struct manifest_shard){0};
}

void manifest_free(struct manifest *m)
{
    for (size_t i = 0; i < m->n_shards; i++)
        manifest_shard_free(&m->shard[i]);
    for (size_t i = 0; i < m->n_extra; i++)
        file_free(&m->extra[i]);
    for (size_t i = 0; i < m->n_special; i++)
        free(m->special[i]);
    free(m->shard);
    free(m->extra);
    free(m->special);
    free(m->name);
    free(m->software);
    free(m->pattern);
    buf_free(&m->reading);
    *m = (struct manifest){0};
}

/* Test before train. */
static bool comes_before(const struct manifest_shard *a, const struct manifest_shard *b)
{
    return a->split != b->split ? a->split == SPLIT_TEST : a->number < b->number;
}

int manifest_add(struct manifest *m, struct manifest_shard *s, struct err *e)
{
    size_t at = m->n_shards;
    if (array_grow(&m->shard, &m->cap_shards, at + 1, sizeof *m->shard, "the shards of the manifest", e)) {
        manifest_shard_free(s);
        return -1;
    }
    while (at && comes_before(s, &m->shard[at - 1]))
        at--;
    memmove(m->shard + at + 1, m->shard + at, (m->n_shards - at) * sizeof *m->shard);
    m->shard[at] = *s;
    m->n_shards++;
    *s = (struct manifest_shard){0};
    return 0;
}

const struct manifest_shard *manifest_find(const struct manifest *m, unsigned split, uint64_t number)
{
    const struct manifest_shard wanted = {.split = split, .number = number};
    size_t begin = 0, end = m->n_shards;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (comes_before(&m->shard[middle], &wanted))
            begin = middle + 1;
        else
            end = middle;
    }
    const struct manifest_shard *s = &m->shard[begin];
    return begin < m->n_shards && s->split == split && s->number == number ? s : NULL;
}

uint64_t manifest_n_shards(const struct manifest *m, unsigned split)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->n_shards; i++)
        n += m->shard[i].split == split;
    return n;
}

bool manifest_has_split(const struct manifest *m, unsigned split)
{
    return manifest_n_shards(m, split) || (split == SPLIT_TRAIN && !shard_plan_splits(&m->plan));
}

int manifest_checksum(const struct manifest *m, unsigned char to[CHECKSUM_LEN], struct err *e)
{
    struct hash128 *h = hash128_new(e);
    if (!h)
        return -1;
    memset(to, 0, CHECKSUM_LEN);
    for (size_t i = 0; i < m->n_shards; i++) {
        for (size_t k = 0; k < m->shard[i].n_files; k++) {
            const struct manifest_file *f = &m->shard[i].file[k];
            hash128_reset(h);
            hash128_add(h, to, CHECKSUM_LEN);
            hash128_add(h, f->checksum, CHECKSUM_LEN);
            hash128_add(h, f->name, strlen(f->name));
            hash128_get(h, to);
        }
    }
    hash128_free(h);
    return 0;
}

/* ---- Writing ---- */

static void put_text(struct json_writer *w, const char *s)
{
    json_write_any(w, (const unsigned char *)s, strlen(s));
}

static void put_hex(struct json_writer *w, const unsigned char *p, size_t n)
{
    char hex[2 * CHECKSUM_LEN + 1];
    hex_put(hex, p, n);
    json_write_str(w, hex);
}

static void put_number(struct json_writer *w, const char *key, uint64_t v)
{
    json_write_key(w, key);
    json_write_uint(w, v);
}

static void put_checksums(struct json_writer *w, const struct manifest_file *f)
{
    json_write_key(w, "bytes");
    json_write_uint(w, f->bytes);
    json_write_key(w, "xxh128");
    put_hex(w, f->checksum, CHECKSUM_LEN);
    if (f->sha256[0]) {
        json_write_key(w, "sha256");
        json_write_str(w, f->sha256);
    }
}

static void put_files(struct json_writer *w, const struct manifest_file *f, size_t n)
{
    json_write_begin(w, '[');
    for (size_t i = 0; i < n; i++) {
        json_write_begin(w, '{');
        json_write_key(w, "name");
        put_text(w, f[i].name);
        put_checksums(w, &f[i]);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static void put_offset(struct json_writer *w, uint64_t v)
{
    if (v == DOCUMENT_UNKNOWN)
        json_write_null(w);
    else
        json_write_uint(w, v);
}

static void put_document(struct json_writer *w, const char *key, const struct manifest_document *d)
{
    if (!d->source)
        return;
    json_write_key(w, key);
    json_write_begin(w, '{');
    json_write_key(w, "source");
    put_text(w, d->source);
    json_write_key(w, "offset");
    put_offset(w, d->offset);
    json_write_key(w, "end");
    put_offset(w, d->end);
    put_number(w, "line", d->line);
    put_number(w, "token", d->token);
    put_number(w, "tokens", d->tokens);
    json_write_key(w, "continued");
    json_write_bool(w, d->continued);
    json_write_end(w, '}');
}

static void put_ranges(struct json_writer *w, const struct manifest_shard *s)
{
    json_write_key(w, "ranges");
    json_write_begin(w, '[');
    for (size_t i = 0; i < s->n_ranges; i++) {
        json_write_begin(w, '[');
        put_text(w, s->range[i].source);
        json_write_uint(w, s->range[i].begin);
        put_offset(w, s->range[i].end);
        json_write_end(w, ']');
    }
    json_write_end(w, ']');
}

int manifest_put_shard(struct buf *out, const struct manifest_shard *s, struct err *e)
{
    struct json_writer w = json_write_over(out, false, e);
    json_write_begin(&w, '{');
    json_write_key(&w, "name");
    put_text(&w, s->file[0].name);
    json_write_key(&w, "split");
    json_write_str(&w, s->split == SPLIT_TEST ? "test" : "train");
    put_number(&w, "number", s->number);
    put_number(&w, "tokens", s->tokens);
    put_number(&w, "documents", s->documents);
    put_checksums(&w, &s->file[0]);
    if (s->n_files > 1) {
        json_write_key(&w, "files");
        put_files(&w, s->file + 1, s->n_files - 1);
    }
    put_document(&w, "first", &s->first);
    put_document(&w, "last", &s->last);
    if (s->n_ranges)
        put_ranges(&w, s);
    json_write_end(&w, '}');
    return json_write_done(&w);
}

/* Writes a member of the object that the file is, on a line of its own. */
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
    json_write_str(top(t, "last"), manifest_last_words[p->last]);
    if (p->name)
        put_text(top(t, "name"), p->name);
    json_write_bool(top(t, "docs"), p->docs);
    json_write_bool(top(t, "sha256"), p->sha256);
}

static void put_model(struct json_writer *w, const struct manifest *m)
{
    char hex[20];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)m->model);
    json_write_begin(w, '{');
    json_write_key(w, "fingerprint");
    json_write_str(w, hex);
    put_number(w, "vocabulary", m->vocabulary);
    json_write_key(w, "pattern");
    put_text(w, m->pattern ? m->pattern : "");
    json_write_key(w, "special_tokens");
    json_write_begin(w, '[');
    for (size_t i = 0; i < m->n_special; i++)
        put_text(w, m->special[i]);
    json_write_end(w, ']');
    json_write_key(w, "eot");
    json_write_str(w, manifest_eot_words[m->eot]);
    json_write_key(w, "separator");
    if (m->separator)
        json_write_uint(w, m->separator - 1);
    else
        json_write_null(w);
    json_write_key(w, "special");
    json_write_str(w, manifest_special_words[m->special_policy]);
    json_write_end(w, '}');
}

static void put_sources(struct json_writer *w, const struct manifest_sources *s)
{
    json_write_begin(w, '{');
    put_number(w, "count", s->n);
    put_number(w, "bytes", s->bytes);
    json_write_key(w, "names");
    json_write_str(w, s->names);
    json_write_end(w, '}');
}

static void put_totals(struct json_writer *w, const struct manifest *m)
{
    json_write_begin(w, '{');
    for (unsigned split = 0; split < N_SPLITS; split++) {
        uint64_t tokens = 0, documents = 0;
        if (split == SPLIT_TEST && !shard_plan_splits(&m->plan))
            continue;
        for (size_t i = 0; i < m->n_shards; i++) {
            tokens += m->shard[i].split == split ? m->shard[i].tokens : 0;
            documents += m->shard[i].split == split ? m->shard[i].documents : 0;
        }
        json_write_key(w, split == SPLIT_TEST ? "test" : "train");
        json_write_begin(w, '{');
        put_number(w, "shards", manifest_n_shards(m, split));
        put_number(w, "tokens", tokens);
        put_number(w, "documents", documents);
        json_write_end(w, '}');
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
    json_write_str(top(&t, "software"), m->software ? m->software : "");
    put_options(&t, m);
    put_model(top(&t, "model"), m);
    struct json_writer *w = top(&t, "reading");
    struct reading how;
    if (m->reading.len == 0)
        json_write_null(w);
    else if (reading_get(&how, buf_str(&m->reading), t.e))
        t.failed = true;
    else
        reading_write_json(w, &how);
    if (m->sources.known)
        put_sources(top(&t, "sources"), &m->sources);
    int rc = put_shards(&t, m) || manifest_checksum(m, checksum, e);
    if (rc == 0) {
        if (m->n_extra)
            put_files(top(&t, "files"), m->extra, m->n_extra);
        json_write_bool(top(&t, "complete"), m->complete);
        put_totals(top(&t, "totals"), m);
        put_hex(top(&t, "checksum"), checksum, CHECKSUM_LEN);
        rc = json_write_done(&t.w) || t.failed || buf_put_str(&text, "\n}\n", e) || buf_put(out, text.p, text.len, e);
    }
    buf_free(&text);
    return rc ? -1 : 0;
}

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
