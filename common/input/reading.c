/* reading.c - see reading.h. */
#include "input/reading.h"

#include "json/json_escape.h"

#include <string.h>

const char *const on_error_names[] = {"fail", "skip", NULL};

static int put_word(struct buf *out, const char *name, struct str value, struct err *e)
{
    if ((out->len && buf_put_byte(out, ' ', e)) || buf_put_str(out, name, e) ||
        (value.len && (buf_put_byte(out, '=', e) || buf_put(out, value.p, value.len, e))))
        return -1;
    return 0;
}

int reading_put_words(struct buf *out, const struct reading *r, struct err *e)
{
    struct buf words = {0};
    int rc =
        (r->form != FORM_TEXT && put_word(&words, input_forms[r->form]->name, r->field, e)) ||
        (r->id.len && put_word(&words, "id", r->id, e)) ||
        (r->invalid != INVALID_ERROR && put_word(&words, "invalid", str_of(invalid_policy_names[r->invalid]), e)) ||
        (r->skip_bad_lines && put_word(&words, "on-error=skip", (struct str){0}, e)) ||
        buf_put(out, words.p, words.len, e);
    buf_free(&words);
    return rc ? -1 : 0;
}

/* ---- JSON ---- */

static const char *const keys[] = {"form", "field", "id", "invalid", "on_error", NULL};

void reading_write_json(struct json_writer *w, const struct reading *r)
{
    json_write_begin(w, '{');
    json_write_key(w, keys[0]);
    json_write_str(w, input_forms[r->form]->name);
    if (r->field.len) {
        json_write_key(w, keys[1]);
        json_write_any(w, r->field.p, r->field.len);
    }
    if (r->id.len) {
        json_write_key(w, keys[2]);
        json_write_any(w, r->id.p, r->id.len);
    }
    if (r->invalid != INVALID_ERROR) {
        json_write_key(w, keys[3]);
        json_write_str(w, invalid_policy_names[r->invalid]);
    }
    if (r->skip_bad_lines) {
        json_write_key(w, keys[4]);
        json_write_str(w, on_error_names[1]);
    }
    json_write_end(w, '}');
}

struct members {
    struct json_reader *in;
    struct reading *r;
    struct buf *field, *id;
};

static int read_text(struct json_reader *in, struct buf *to)
{
    struct str written;
    if (json_read_written(in, &written) || json_unescape_any(to, written, in->e))
        return -1;
    return 0;
}

/* A short word, one of these; *choice is its number. */
static int read_word(struct json_reader *in, const char *const *words, unsigned *choice)
{
    struct str s;
    if (json_read_string(in, &s))
        return -1;
    for (*choice = 0; words[*choice]; ++*choice) {
        if (str_equal(s, str_of(words[*choice])))
            return 0;
    }
    return json_read_fail(in, "\"%.*s\" is not known here", s.len < 32 ? (int)s.len : 32, (const char *)s.p);
}

static int read_member(void *ctx, int key)
{
    struct members *m = ctx;
    const char *forms[N_INPUT_FORMS + 1] = {NULL};
    unsigned choice = 0;
    int rc = 0;
    switch (key) {
    case 0:
        for (size_t i = 0; i < N_INPUT_FORMS; i++)
            forms[i] = input_forms[i]->name;
        rc = read_word(m->in, forms, &choice);
        m->r->form = (enum form)choice;
        return rc;
    case 1:
        return read_text(m->in, m->field);
    case 2:
        return read_text(m->in, m->id);
    case 3:
        rc = read_word(m->in, invalid_policy_names, &choice);
        m->r->invalid = (enum invalid_policy)choice;
        return rc;
    default:
        rc = read_word(m->in, on_error_names, &choice);
        m->r->skip_bad_lines = choice;
        return rc;
    }
}

int reading_read_json(struct reading *r, struct json_reader *in, struct buf *field, struct buf *id)
{
    struct members m = {.in = in, .r = r, .field = field, .id = id};
    uint32_t seen = 0;
    *r = (struct reading){0};
    field->len = id->len = 0;
    if (json_read_members(in, keys, &seen, read_member, &m))
        return -1;
    r->field = buf_str(field);
    r->id = buf_str(id);
    if (!(seen & 1))
        return json_read_fail(in, "a reading without a form");
    return input_forms[r->form]->place == PLACE_LINE || !(r->field.len || r->id.len || r->skip_bad_lines)
               ? 0
               : json_read_fail(in, "a field, which %s has not", input_forms[r->form]->name);
}
