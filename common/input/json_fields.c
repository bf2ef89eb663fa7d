/* json_fields.c - see json_fields.h. */
#include "input/json_fields.h"

#include "base/sys/err.h"
#include "base/sys/shell_words.h"
#include "base/sys/str.h"
#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stdio.h>
#include <string.h>

struct look {
    struct json_fields *fields;
    struct json_reader reader;
    size_t longest; /* length of the longest string */
    size_t n_members;
};

/* Whether --jsonl can name this key, and a terminal can show it. */
static bool is_plain(struct str key)
{
    enum { LEN_MAX = 40 };
    bool plain = key.len > 0 && key.len < LEN_MAX;
    for (size_t i = 0; i < key.len && plain; i++)
        plain = key.p[i] >= 0x20 && key.p[i] != 0x7F && key.p[i] != '.';
    return plain;
}

/* Adds a field with a string of n bytes. */
static void add_field(struct look *l, const char *name, size_t n)
{
    struct json_fields *f = l->fields;
    size_t len = strlen(f->names);
    if (len + strlen(name) + 3 < sizeof f->names)
        snprintf(f->names + len, sizeof f->names - len, "%s%s", len ? ", " : "", name);
    if (n >= l->longest && strlen(name) < sizeof f->longest) {
        l->longest = n;
        snprintf(f->longest, sizeof f->longest, "%s", name);
    }
}

/* Reads an object that has begun, and the objects in it. If the text ends inside a value, this is an error, but the
 * fields added before are kept. */
static int read_members(struct look *l, const char *prefix)
{
    struct json_reader *r = &l->reader;
    char name[80];
    struct str key;
    int more;
    while ((more = json_read_key(r, &key)) > 0) {
        bool plain = is_plain(key);
        snprintf(name, sizeof name, "%s%s%.*s", prefix, *prefix ? "." : "", (int)(plain ? key.len : 0),
                 (const char *)key.p);
        int kind = json_read_peek(r);
        l->n_members++;
        if (kind == '"') {
            struct str value;
            size_t left = r->window.len - r->at;
            bool whole = json_read_written(r, &value) == 0;
            if (plain)
                add_field(l, name, whole ? value.len : left);
            if (!whole)
                return -1;
        } else if (kind == '{' && !*prefix && plain) {
            if (json_read_object(r) || read_members(l, name))
                return -1;
        } else if (kind < 0 || json_read_skip(r)) {
            return -1;
        }
    }
    return more;
}

bool json_fields_find(struct json_fields *f, const unsigned char *line, size_t n, bool whole)
{
    struct look l = {.fields = f};
    struct err ignored;
    size_t mark = utf8_mark_len(line, n);
    *f = (struct json_fields){0};
    json_read_memory(&l.reader, line + mark, n - mark, true, &ignored);
    bool ended = json_read_object(&l.reader) == 0 && read_members(&l, "") == 0 && json_read_end(&l.reader) == 0;
    json_read_free(&l.reader);
    return l.n_members && (ended || !whole);
}

const char *json_fields_text(const struct json_fields *f, char to[JSON_FIELDS_TEXT])
{
    char option[sizeof "--jsonl=" + sizeof f->longest];
    const char *words[] = {option};
    struct buf word = {0};
    struct err ignored;
    *to = '\0';
    snprintf(option, sizeof option, "--jsonl=%s", f->longest);
    if (*f->longest && shell_words_put(&word, words, 1, &ignored) == 0)
        snprintf(to, JSON_FIELDS_TEXT, " (fields with strings: %s; the longest:%.*s)", f->names, (int)word.len,
                 (const char *)word.p);
    buf_free(&word);
    return to;
}
