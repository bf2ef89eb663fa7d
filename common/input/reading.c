/* reading.c - see reading.h. */
#include "input/reading.h"

#include <stdio.h>
#include <string.h>

const char *const on_error_names[] = {"fail", "skip", NULL}, *const counts_order_names[] = {"first", "last", NULL};

int reading_check_text(const struct reading *r, struct err *e)
{
    return r->counts ? err_set(e, EX_DATAERR, "its lines are counts, not text; run bpe-count --counts on it again") : 0;
}

/* Appends a word, after a space unless it is the first. */
static int put_word(struct buf *out, const char *name, struct str value, struct err *e)
{
    if ((out->len && buf_put_byte(out, ' ', e)) || buf_put_str(out, name, e) ||
        (value.len && (buf_put_byte(out, '=', e) || buf_put(out, value.p, value.len, e))))
        return -1;
    return 0;
}

int reading_put_words(struct buf *out, const struct reading *r, struct err *e)
{
    if ((r->form != FORM_TEXT && put_word(out, input_forms[r->form]->name, r->field, e)) ||
        (r->id.len && put_word(out, "id", r->id, e)) ||
        (r->invalid != INVALID_ERROR && put_word(out, "invalid", str_of(invalid_policy_names[r->invalid]), e)) ||
        (r->skip_bad_lines && put_word(out, "on-error", str_of(on_error_names[1]), e)))
        return -1;
    return out->len ? 0 : buf_put_str(out, "plain text", e);
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
        rc = json_read_choice(m->in, forms, &choice);
        m->r->form = (enum form)choice;
        return rc;
    case 1:
        return json_read_any(m->in, m->field);
    case 2:
        return json_read_any(m->in, m->id);
    case 3:
        rc = json_read_choice(m->in, invalid_policy_names, &choice);
        m->r->invalid = (enum invalid_policy)choice;
        return rc;
    default:
        rc = json_read_choice(m->in, on_error_names, &choice);
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
        return json_read_fail(in, "no \"form\" in the description of the input");
    return input_forms[r->form]->has_field || !(r->field.len || r->id.len || r->skip_bad_lines)
               ? 0
               : json_read_fail(in, "a field, which the input format %s does not have", input_forms[r->form]->name);
}

const char *reading_skipped_text(uint64_t n, struct str first, bool none, char *text, size_t size)
{
    snprintf(
        text, size, "%s%llu %s left out (the first: %.*s)%s", none ? "no text is left: " : "", (unsigned long long)n,
        n == 1 ? "line that is not JSON or lacks the string was" : "lines that are not JSON or lack the string were",
        (int)first.len, (const char *)first.p, none ? "; see --jsonl=FIELD" : "");
    return text;
}
