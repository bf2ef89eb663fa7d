/* manifest_member.c - see manifest_member.h. */
#include "shard/format/manifest_member.h"

#include "base/sys/bytes.h"
#include "shard/format/manifest.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 24 }; /* more than any object that is read has */

/* ---- Values ---- */

int member_get_text(struct json_reader *r, char **to)
{
    struct buf text = {0};
    if (json_read_any(r, &text) || buf_put_byte(&text, '\0', r->e)) {
        buf_free(&text);
        return -1;
    }
    free(*to);
    *to = (char *)text.p;
    return 0;
}

void member_put_text(struct json_writer *w, const char *s)
{
    s = s ? s : "";
    json_write_any(w, (const unsigned char *)s, strlen(s));
}

int member_get_or_null(struct json_reader *r, uint64_t *to, unsigned first)
{
    int null = json_read_null(r);
    *to = UINT64_MAX;
    if (null < 0 || (null == 0 && json_read_uint(r, to)))
        return -1;
    *to += first;
    return 0;
}

void member_put_or_null(struct json_writer *w, uint64_t v)
{
    if (v == UINT64_MAX)
        json_write_null(w);
    else
        json_write_uint(w, v);
}

/* Pairs of hexadecimal digits. */
int member_get_hex(struct json_reader *r, unsigned char *to, size_t n)
{
    struct str s;
    if (json_read_string(r, &s))
        return -1;
    for (size_t i = 0; i < 2 * n; i++) {
        int c = i < s.len ? s.p[i] : 0, v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0 || s.len != 2 * n)
            return json_read_fail(r, "expected %zu hexadecimal digits", 2 * n);
        to[i / 2] = (unsigned char)(i % 2 ? to[i / 2] << 4 | v : v);
    }
    return 0;
}

void member_put_checksum(struct json_writer *w, const unsigned char *p)
{
    char hex[2 * CHECKSUM_LEN + 1];
    hex_put(hex, p, CHECKSUM_LEN);
    json_write_str(w, hex);
}

static int get_sha256(struct json_reader *r, char *to)
{
    unsigned char digest[32];
    if (member_get_hex(r, digest, sizeof digest))
        return -1;
    hex_put(to, digest, sizeof digest);
    return 0;
}

static int get_choice_of(struct json_reader *r, const struct member *m, unsigned *to)
{
    unsigned i = 0;
    int rc = json_read_choice(r, m->words, &i);
    *to = m->first + i;
    return rc;
}

static int get_value(struct json_reader *r, const struct member *m, void *to)
{
    switch (m->kind) {
    case MEMBER_TEXT:
        return member_get_text(r, to);
    case MEMBER_UINT:
        return json_read_uint(r, to);
    case MEMBER_OR_NULL:
        return member_get_or_null(r, to, m->first);
    case MEMBER_BOOL:
        return json_read_bool(r, to);
    case MEMBER_CHOICE:
        return get_choice_of(r, m, to);
    case MEMBER_CHECKSUM:
        return member_get_hex(r, to, CHECKSUM_LEN);
    case MEMBER_SHA256:
        return get_sha256(r, to);
    default:
        return m->get(r, to);
    }
}

void member_put(struct json_writer *w, const struct member *m, const void *from)
{
    if (m->kind == MEMBER_OTHER) {
        m->put(w, m->key, from);
        return;
    }
    if (m->kind == MEMBER_SHA256 && !*(const char *)from)
        return;
    json_write_key(w, m->key);
    switch (m->kind) {
    case MEMBER_TEXT:
        member_put_text(w, *(char *const *)from);
        break;
    case MEMBER_OR_NULL:
        member_put_or_null(w, *(const uint64_t *)from - m->first);
        break;
    case MEMBER_BOOL:
        json_write_bool(w, *(const bool *)from);
        break;
    case MEMBER_CHOICE:
        json_write_str(w, m->words[*(const unsigned *)from - m->first]);
        break;
    case MEMBER_CHECKSUM:
        member_put_checksum(w, from);
        break;
    case MEMBER_SHA256:
        json_write_str(w, from);
        break;
    default:
        json_write_uint(w, *(const uint64_t *)from);
    }
}

/* ---- Objects ---- */

struct object {
    struct json_reader *r;
    const struct member *members; /* ends with a zeroed one */
    void *to;
};

static int get_member(void *ctx, int key)
{
    const struct object *o = ctx;
    return get_value(o->r, &o->members[key], (char *)o->to + o->members[key].at);
}

/* missing: the message if a needed member is missing. */
int member_get_object(struct json_reader *r, const struct member *members, void *to, const char *missing)
{
    struct object o = {r, members, to};
    const char *keys[MEMBERS_MAX] = {NULL};
    uint32_t seen = 0, needed = 0;
    for (size_t i = 0; members[i].key; i++) {
        keys[i] = members[i].key;
        needed |= (uint32_t)members[i].needed << i;
    }
    if (json_read_members(r, keys, &seen, get_member, &o))
        return -1;
    return (seen & needed) == needed ? 0 : json_read_fail(r, "%s", missing);
}

void member_put_object(struct json_writer *w, const struct member *members, const void *from)
{
    json_write_begin(w, '{');
    for (const struct member *m = members; m->key; m++)
        member_put(w, m, (const char *)from + m->at);
    json_write_end(w, '}');
}
