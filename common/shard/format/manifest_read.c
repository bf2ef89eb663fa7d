/* manifest_read.c - see manifest.h: reading. Keys that are not known are skipped. */
#include "shard/format/manifest.h"

#include "base/io/fd.h"
#include "base/sys/bytes.h"
#include "shard/format/formats.h"
#include "wire/payload.h"
#include "json/json_escape.h"
#include "json/json_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct json_reader r;
    struct manifest *m;
    struct manifest_shard shard;   /* that is read */
    struct manifest_document *doc; /* that is read */
    struct manifest_file *file;    /* that is read */
    size_t cap_special, cap_extra;
    uint64_t version;
};

/* ---- Values ---- */

static int get_text(struct reader *in, char **to)
{
    struct buf text = {0};
    if (json_read_any(&in->r, &text) || buf_put_byte(&text, '\0', in->r.e)) {
        buf_free(&text);
        return -1;
    }
    free(*to);
    *to = (char *)text.p;
    return 0;
}

/* A short string. */
static int get_word(struct reader *in, char to[JSON_WORD_MAX])
{
    struct str s;
    if (json_read_string(&in->r, &s))
        return -1;
    if (s.len >= JSON_WORD_MAX)
        return json_read_fail(&in->r, "a long string where a word should be");
    memcpy(to, s.p, s.len);
    to[s.len] = '\0';
    return 0;
}

static int get_real(struct reader *in, double *v)
{
    char text[40];
    if (json_read_peek(&in->r) != '0')
        return json_read_fail(&in->r, "no number where one should be");
    const unsigned char *from = in->r.window.p + in->r.at;
    if (json_read_skip(&in->r))
        return -1;
    size_t n = (size_t)(in->r.window.p + in->r.at - from);
    if (n >= sizeof text)
        return json_read_fail(&in->r, "a number of %zu digits", n);
    memcpy(text, from, n);
    text[n] = '\0';
    *v = strtod(text, NULL);
    return *v >= 0 && *v < 1 ? 0 : json_read_fail(&in->r, "%s is no fraction", text);
}

/* Pairs of hexadecimal digits. */
static int get_hex(struct reader *in, unsigned char *to, size_t n)
{
    struct str s;
    if (json_read_string(&in->r, &s))
        return -1;
    for (size_t i = 0; i < 2 * n; i++) {
        int c = i < s.len ? s.p[i] : 0, v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0 || s.len != 2 * n)
            return json_read_fail(&in->r, "%zu hexadecimal digits should be here", 2 * n);
        to[i / 2] = (unsigned char)(i % 2 ? to[i / 2] << 4 | v : v);
    }
    return 0;
}

/* ---- Files ---- */

static const char *const file_keys[] = {"name", "bytes", "xxh128", "sha256", NULL};
enum { FILE_KEYS = 1 | 2 | 4 };

static int read_file_key(void *ctx, int key)
{
    struct reader *in = ctx;
    struct manifest_file *f = in->file;
    unsigned char digest[32];
    switch (key) {
    case 0:
        return get_text(in, &f->name);
    case 1:
        return json_read_uint(&in->r, &f->bytes);
    case 2:
        return get_hex(in, f->checksum, CHECKSUM_LEN);
    default:
        if (get_hex(in, digest, sizeof digest))
            return -1;
        hex_put(f->sha256, digest, sizeof digest);
        return 0;
    }
}

static int read_file(struct reader *in, struct manifest_file *f)
{
    uint32_t seen = 0;
    in->file = f;
    if (json_read_members(&in->r, file_keys, &seen, read_file_key, in))
        return -1;
    return (seen & FILE_KEYS) == FILE_KEYS ? 0 : json_read_fail(&in->r, "a file without name, bytes or xxh128");
}

static int read_shard_files(struct reader *in)
{
    struct manifest_shard *s = &in->shard;
    int more;
    if (json_read_array(&in->r))
        return -1;
    s->n_files = 1;
    while ((more = json_read_item(&in->r)) > 0) {
        if (s->n_files == SHARD_FILES)
            return json_read_fail(&in->r, "more than %d files of a shard", SHARD_FILES);
        if (read_file(in, &s->file[s->n_files++]))
            return -1;
    }
    return more;
}

static int read_extra(struct reader *in)
{
    struct manifest *m = in->m;
    int more;
    if (json_read_array(&in->r))
        return -1;
    while ((more = json_read_item(&in->r)) > 0) {
        if (array_grow(&m->extra, &in->cap_extra, m->n_extra + 1, sizeof *m->extra, "files", in->r.e))
            return -1;
        m->extra[m->n_extra] = (struct manifest_file){0};
        if (read_file(in, &m->extra[m->n_extra++]))
            return -1;
    }
    return more;
}

/* ---- Shards ---- */

static const char *const document_keys[] = {"source", "offset", "end", "line", "token", "tokens", "continued", NULL};
enum { DOCUMENT_KEYS = 0x7F };

/* null: it is not known. */
static int read_offset(struct reader *in, uint64_t *to)
{
    int null = json_read_null(&in->r);
    if (null > 0)
        *to = DOCUMENT_UNKNOWN;
    return null < 0 ? -1 : null ? 0 : json_read_uint(&in->r, to);
}

static int read_document_key(void *ctx, int key)
{
    struct reader *in = ctx;
    struct manifest_document *d = in->doc;
    uint64_t *const number[] = {NULL, &d->offset, &d->end, &d->line, &d->token, &d->tokens};
    return key == 0               ? get_text(in, &d->source)
           : key == 6             ? json_read_bool(&in->r, &d->continued)
           : key == 1 || key == 2 ? read_offset(in, number[key])
                                  : json_read_uint(&in->r, number[key]);
}

static int read_document(struct reader *in, struct manifest_document *d)
{
    uint32_t seen = 0;
    in->doc = d;
    if (json_read_members(&in->r, document_keys, &seen, read_document_key, in))
        return -1;
    return seen == DOCUMENT_KEYS ? 0 : json_read_fail(&in->r, "a document without all of its keys");
}

/* [["source", begin, end], ...] */
static int read_ranges(struct reader *in)
{
    struct manifest_shard *s = &in->shard;
    size_t cap = 0;
    int more;
    if (json_read_array(&in->r))
        return -1;
    while ((more = json_read_item(&in->r)) > 0) {
        if (array_grow(&s->range, &cap, s->n_ranges + 1, sizeof *s->range, "ranges", in->r.e))
            return -1;
        struct manifest_range *g = &s->range[s->n_ranges++];
        *g = (struct manifest_range){0};
        if (json_read_array(&in->r) || json_read_item(&in->r) <= 0 || get_text(in, &g->source) ||
            json_read_item(&in->r) <= 0 || json_read_uint(&in->r, &g->begin) || json_read_item(&in->r) <= 0 ||
            read_offset(in, &g->end) || json_read_item(&in->r) != 0)
            return json_read_fail(&in->r, "a range should be [source, begin, end]");
    }
    return more;
}

static const char *const shard_keys[] = {"name",      "bytes", "xxh128", "sha256", "split",  "number", "tokens",
                                         "documents", "files", "first",  "last",   "ranges", NULL};
enum { SHARD_KEYS = 0xFF & ~8 };

static const char *const split_words[] = {"train", "test", NULL};

static int read_shard_key(void *ctx, int key)
{
    struct reader *in = ctx;
    struct manifest_shard *s = &in->shard;
    switch (key) {
    case 4:
        return json_read_choice(&in->r, split_words, &s->split);
    case 5:
        return json_read_uint(&in->r, &s->number);
    case 6:
        return json_read_uint(&in->r, &s->tokens);
    case 7:
        return json_read_uint(&in->r, &s->documents);
    case 8:
        return read_shard_files(in);
    case 9:
        return read_document(in, &s->first);
    case 10:
        return read_document(in, &s->last);
    case 11:
        return read_ranges(in);
    default:
        in->file = &s->file[0];
        return read_file_key(in, key);
    }
}

static int read_shards(struct reader *in)
{
    int more;
    if (json_read_array(&in->r))
        return -1;
    while ((more = json_read_item(&in->r)) > 0) {
        uint32_t seen = 0;
        in->shard = (struct manifest_shard){.n_files = 1};
        if (json_read_members(&in->r, shard_keys, &seen, read_shard_key, in) ||
            ((seen & SHARD_KEYS) != SHARD_KEYS && json_read_fail(&in->r, "a shard without all of its keys"))) {
            manifest_shard_free(&in->shard);
            return -1;
        }
        if (manifest_add(in->m, &in->shard, in->r.e))
            return -1;
    }
    return more;
}

/* ---- The model ---- */

static const char *const model_keys[] = {"fingerprint", "vocabulary", "pattern", "special_tokens",
                                         "eot",         "separator",  "special", NULL};

static int read_special_tokens(struct reader *in)
{
    struct manifest *m = in->m;
    int more;
    if (json_read_array(&in->r))
        return -1;
    while ((more = json_read_item(&in->r)) > 0) {
        if (array_grow(&m->special, &in->cap_special, m->n_special + 1, sizeof *m->special, "tokens", in->r.e))
            return -1;
        m->special[m->n_special] = NULL;
        if (get_text(in, &m->special[m->n_special++]))
            return -1;
    }
    return more;
}

static int read_model_key(void *ctx, int key)
{
    struct reader *in = ctx;
    struct manifest *m = in->m;
    unsigned char fingerprint[8];
    int null;
    switch (key) {
    case 0:
        if (get_hex(in, fingerprint, sizeof fingerprint))
            return -1;
        m->model = 0;
        for (size_t i = 0; i < sizeof fingerprint; i++)
            m->model = m->model << 8 | fingerprint[i];
        return 0;
    case 1:
        return json_read_uint(&in->r, &m->vocabulary);
    case 2:
        return get_text(in, &m->pattern);
    case 3:
        return read_special_tokens(in);
    case 4:
        return json_read_choice(&in->r, manifest_eot_words, &m->eot);
    case 5:
        null = json_read_null(&in->r);
        if (null == 0) {
            null = json_read_uint(&in->r, &m->separator);
            m->separator++;
        }
        return null < 0 ? -1 : 0;
    default:
        return json_read_choice(&in->r, manifest_special_words, &m->special_policy);
    }
}

/* ---- The sources ---- */

static const char *const sources_keys[] = {"count", "bytes", "names", NULL};
enum { SOURCES_KEYS = 7 };

static int read_sources_key(void *ctx, int key)
{
    struct reader *in = ctx;
    struct manifest_sources *s = &in->m->sources;
    unsigned char digest[32];
    if (key < 2)
        return json_read_uint(&in->r, key == 0 ? &s->n : &s->bytes);
    if (get_hex(in, digest, sizeof digest))
        return -1;
    hex_put(s->names, digest, sizeof digest);
    return 0;
}

static int read_sources(struct reader *in)
{
    uint32_t seen = 0;
    if (json_read_members(&in->r, sources_keys, &seen, read_sources_key, in))
        return -1;
    in->m->sources.known = true;
    return (seen & SOURCES_KEYS) == SOURCES_KEYS ? 0 : json_read_fail(&in->r, "sources without count, bytes or names");
}

/* ---- All of it ---- */

static const char *const top_keys[] = {"version",       "software",    "format",  "dtype",  "shard_tokens", "order",
                                       "seed",          "test_shards", "last",    "name",   "docs",         "sha256",
                                       "test_fraction", "model",       "reading", "shards", "files",        "complete",
                                       "checksum",      "sources",     NULL};
enum { TOP_NEEDED = 1 | 4 | 8 | 16 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 18 };

static const char *const dtype_words[] = {"uint16", "uint32", "int32", NULL};
static const char *const order_words[] = {"corpus", "shuffled", NULL};

static int read_format(struct reader *in)
{
    char word[JSON_WORD_MAX];
    if (get_word(in, word))
        return -1;
    in->m->plan.format = shard_format_find(word);
    return in->m->plan.format ? 0 : json_read_fail(&in->r, "there is no format \"%s\"", word);
}

static int read_reading(struct reader *in)
{
    int null = json_read_null(&in->r);
    struct buf field = {0}, id = {0};
    struct reading how;
    if (null)
        return null < 0 ? -1 : 0;
    in->m->reading.len = 0;
    int rc = reading_read_json(&how, &in->r, &field, &id) || reading_put(&in->m->reading, &how, in->r.e);
    buf_free(&field);
    buf_free(&id);
    return rc ? -1 : 0;
}

static int read_plan_key(struct reader *in, int key)
{
    struct manifest *m = in->m;
    struct shard_plan *p = &m->plan;
    unsigned choice = 0;
    int rc;
    switch (key) {
    case 2:
        return read_format(in);
    case 3:
        rc = json_read_choice(&in->r, dtype_words, &choice);
        p->dtype = DTYPE_U16 + (enum shard_dtype)choice;
        return rc;
    case 4:
        return json_read_uint(&in->r, &p->shard_tokens);
    case 5:
        rc = json_read_choice(&in->r, order_words, &choice);
        p->shuffled = choice;
        return rc;
    case 6:
        return json_read_uint(&in->r, &p->seed);
    case 7:
        return json_read_uint(&in->r, &p->test_shards);
    case 8:
        rc = json_read_choice(&in->r, manifest_last_words, &choice);
        p->last = (enum shard_last)choice;
        return rc;
    case 9:
        rc = get_text(in, &m->name);
        p->name = m->name;
        return rc;
    case 10:
        return json_read_bool(&in->r, &p->docs);
    case 11:
        return json_read_bool(&in->r, &p->sha256);
    default:
        return get_real(in, &p->test_fraction);
    }
}

static int read_top_key(void *ctx, int key)
{
    struct reader *in = ctx;
    uint32_t seen = 0;
    switch (key) {
    case 0:
        if (json_read_uint(&in->r, &in->version))
            return -1;
        return in->version == 1 ? 0
                                : json_read_fail(&in->r, "version %llu; this program knows version 1",
                                                 (unsigned long long)in->version);
    case 1:
        return get_text(in, &in->m->software);
    case 13:
        return json_read_members(&in->r, model_keys, &seen, read_model_key, in);
    case 14:
        return read_reading(in);
    case 15:
        return read_shards(in);
    case 16:
        return read_extra(in);
    case 17:
        return json_read_bool(&in->r, &in->m->complete);
    case 19:
        return read_sources(in);
    case 18:
        return get_hex(in, in->m->checksum, CHECKSUM_LEN);
    default:
        return read_plan_key(in, key);
    }
}

int manifest_get(struct manifest *m, const unsigned char *p, size_t n, struct err *e)
{
    struct reader in = {.m = m};
    uint32_t seen = 0;
    *m = (struct manifest){0};
    json_read_memory(&in.r, p, n, true, e); /* names that are no UTF-8 are lone surrogates */
    int rc = json_read_members(&in.r, top_keys, &seen, read_top_key, &in) || json_read_end(&in.r) ? -1 : 0;
    if (rc == 0 && (seen & TOP_NEEDED) != TOP_NEEDED)
        rc = json_read_fail(&in.r, "this is no manifest of shards: keys are missing");
    json_read_free(&in.r);
    if (rc)
        manifest_free(m);
    return rc;
}

/* text: gets it, with the padding that JSON needs. */
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
