/* json_read.c - see json_read.h: arrays, objects and values of any kind. */
#include "json/json_read.h"

#include "json/json_read_internal.h"

#include <string.h>

int json_read_peek(struct json_reader *r)
{
    int c = json_next(r);
    if (c < 0)
        return -1;
    if ((c >= '0' && c <= '9') || c == '-')
        return '0';
    if (c && strchr("{[\"tfn", c))
        return c;
    return json_bad_next(r, "a value");
}

static int enter(struct json_reader *r, char c, const char *wanted)
{
    if (json_expect(r, c, wanted))
        return -1;
    unsigned max = r->lenient ? JSON_READ_LENIENT_DEPTH : JSON_READ_DEPTH;
    if (++r->depth > max)
        return json_read_fail(r, "more than %u levels of arrays and objects", max);
    r->fresh = true;
    return 0;
}

int json_read_object(struct json_reader *r)
{
    return enter(r, '{', "an object");
}

int json_read_array(struct json_reader *r)
{
    return enter(r, '[', "an array");
}

int json_read_item(struct json_reader *r)
{
    return json_separate(r, ']');
}

/* Skips a scalar value, or the opening bracket of an array or object. */
static int skip_one(struct json_reader *r, int c)
{
    struct json_place place;
    struct str s;
    bool v;
    switch (c) {
    case '{':
        return json_read_object(r);
    case '[':
        return json_read_array(r);
    case '"':
        return r->lenient ? json_read_place(r, &place) : json_read_written(r, &s);
    case '0':
        return json_skip_number(r);
    case 'n':
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return json_read_bool(r, &v);
    }
}

/* Not recursive, because there may be many levels. */
int json_read_skip(struct json_reader *r)
{
    bool is_object[JSON_READ_LENIENT_DEPTH + 1];
    unsigned outside = r->depth;
    do {
        int c = json_read_peek(r), more = 0;
        if (c < 0 || skip_one(r, c))
            return -1;
        if (c == '{' || c == '[')
            is_object[r->depth] = c == '{';
        while (r->depth > outside && !more) {
            more = is_object[r->depth] ? json_skip_key(r) : json_read_item(r);
            if (more < 0)
                return -1;
        }
    } while (r->depth > outside);
    return 0;
}

int json_read_members(struct json_reader *r, const char *const *names, uint32_t *seen,
                      int (*consume)(void *ctx, int key), void *ctx)
{
    struct str name;
    int more;
    if (json_read_object(r))
        return -1;
    while ((more = json_read_key(r, &name)) > 0) {
        int key = json_read_which(r, name, names, seen);
        if (key < 0 || (names[key] ? consume(ctx, key) : json_read_skip(r)))
            return -1;
    }
    return more;
}

int json_read_end(struct json_reader *r)
{
    int c = json_next(r);
    if (c < 0)
        return -1;
    return r->at < r->window.len ? json_bad_at(r, r->base + r->at, "unexpected data after the end") : 0;
}

int json_read_which(struct json_reader *r, struct str key, const char *const *names, uint32_t *seen)
{
    int i = 0;
    while (names[i] && (strlen(names[i]) != key.len || memcmp(names[i], key.p, key.len) != 0))
        i++;
    if (!names[i])
        return i;
    if (*seen & 1U << i)
        return json_read_fail(r, "duplicate key \"%s\"", names[i]);
    *seen |= 1U << i;
    return i;
}
