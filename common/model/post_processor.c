/* post_processor.c - see post_processor.h.
 *
 * The ids of TemplateProcessing are in special_tokens.NAME.ids; those of BertProcessing and RobertaProcessing in the
 * arrays sep and cls. A Sequence contains others, in `processors`.
 */
#include "model/post_processor.h"

#include "model/model_build.h"
#include "json/json_write.h"

#include <string.h>

/* What a value is part of. */
enum within {
    ANYTHING,
    TOKENS, /* the object special_tokens */
    TOKEN,  /* one of its members */
    IDS,    /* an array of ids, or of a token and its id */
};

struct copier {
    struct json_reader *r;
    struct json_writer *w;
    const uint32_t *new_id; /* NULL: ids do not change */
    uint32_t n;
};

static enum within member(enum within in, struct str key)
{
    if (in == TOKENS)
        return TOKEN;
    if (in == TOKEN)
        return str_equal(key, str_of("ids")) ? IDS : ANYTHING;
    if (str_equal(key, str_of("special_tokens")))
        return TOKENS;
    return str_equal(key, str_of("sep")) || str_equal(key, str_of("cls")) ? IDS : ANYTHING;
}

static int copy_number(const struct copier *c, enum within in)
{
    uint64_t v;
    if (json_read_uint(c->r, &v))
        return -1;
    if (in == IDS && c->new_id && v < c->n) {
        if (c->new_id[v] == MODEL_NO_ID)
            return err_set(c->r->e, EX_USAGE, "the post_processor adds token %llu to texts, so it cannot be removed",
                           (unsigned long long)v);
        v = c->new_id[v];
    }
    json_write_uint(c->w, v);
    return 0;
}

static int copy_value(const struct copier *c, enum within in)
{
    struct json_reader *r = c->r;
    struct json_writer *w = c->w;
    struct str s;
    bool truth;
    int kind = json_read_peek(r), more = 0;
    if (kind == '{') {
        if (json_read_object(r))
            return -1;
        json_write_begin(w, '{');
        while ((more = json_read_key(r, &s)) > 0) {
            const enum within next = member(in, s);
            json_write_key_bytes(w, s.p, s.len);
            if (copy_value(c, next))
                return -1;
        }
        json_write_end(w, '}');
    } else if (kind == '[') {
        if (json_read_array(r))
            return -1;
        json_write_begin(w, '[');
        while ((more = json_read_item(r)) > 0)
            if (copy_value(c, in))
                return -1;
        json_write_end(w, ']');
    } else if (kind == '"') {
        more = json_read_string(r, &s);
        if (!more)
            json_write_bytes(w, s.p, s.len);
    } else if (kind == '0') {
        more = copy_number(c, in);
    } else if (kind == 'n') {
        more = json_read_null(r) > 0 ? 0 : -1;
        json_write_null(w);
    } else {
        more = kind < 0 ? -1 : json_read_bool(r, &truth);
        if (!more)
            json_write_bool(w, truth);
    }
    return more ? -1 : 0;
}

static int copy(struct json_reader *r, const uint32_t *new_id, uint32_t n, struct buf *out, struct err *e)
{
    struct json_writer w = json_write_over(out, true, e);
    const struct copier c = {.r = r, .w = &w, .new_id = new_id, .n = n};
    w.depth = 1; /* the value of a key in the outermost object */
    w.keyed = true;
    int rc = copy_value(&c, ANYTHING);
    w.depth = 0;
    return rc ? -1 : json_write_done(&w);
}

int post_processor_read(struct json_reader *r, struct buf *out, struct err *e)
{
    return copy(r, NULL, 0, out, e);
}

int post_processor_renumber(struct model *m, const uint32_t *new_id, uint32_t n, struct err *e)
{
    static const unsigned char pad[JSON_READ_PAD];
    struct build b = {.m = m, .e = e};
    struct json_reader r = {0};
    struct buf old = {0}, new = {0};
    const size_t len = m->post_processor.len;
    int rc = 0;
    if (len)
        rc = buf_put(&old, m->post_processor.p, len, e) || buf_put(&old, pad, sizeof pad, e) ? -1 : 0;
    if (len && rc == 0) {
        json_read_memory(&r, old.p, len, false, e);
        rc = copy(&r, new_id, n, &new, e);
    }
    if (len && rc == 0) {
        m->post_processor = (struct str){build_copy(&b, new.p, new.len), new.len};
        rc = m->post_processor.p ? 0 : -1;
    }
    json_read_free(&r);
    buf_free(&old);
    buf_free(&new);
    return rc;
}
