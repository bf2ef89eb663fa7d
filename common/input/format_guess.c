/* format_guess.c - see format_guess.h. */
#include "input/format_guess.h"

#include "base/sys/buf.h"
#include "input/file_command.h"
#include "input/file_signature.h"
#include "input/wet.h"
#include "unicode/utf8.h"
#include "json/json_read.h"

#include <stdio.h>
#include <string.h>

/* Skips a byte order mark and white space. */
static size_t skip_white(const unsigned char *p, size_t n)
{
    size_t at = utf8_mark_len(p, n);
    while (at < n && memchr(" \t\r\n", p[at], 4))
        at++;
    return at;
}

static bool begins_warc(const unsigned char *p, size_t n)
{
    return n >= 7 && memcmp(p, "WARC/1.", 7) == 0;
}

bool format_guess_wants(const struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n)
{
    size_t at = skip_white(p, n);
    if (form->documents)
        return form->has_field && at < n && p[at] == '[';
    return !h->found && ((at < n && (p[at] == '{' || p[at] == '[')) || begins_warc(p, n));
}

/* Whether p[0 .. n), the first few hundred bytes of a text, is the start of an array whose first item is an object with
 * members. */
static bool is_array(const unsigned char *p, size_t n)
{
    enum { LOOK = 1024 };
    unsigned char copy[LOOK + JSON_READ_PAD] = {0};
    struct json_reader r = {0};
    struct err ignored;
    struct str key;
    size_t from = skip_white(p, n);
    size_t len = n - from < LOOK ? n - from : LOOK;
    if (!len || p[from] != '[')
        return false;
    memcpy(copy, p + from, len);
    json_read_memory(&r, copy, len, true, &ignored);
    bool found =
        json_read_array(&r) == 0 && json_read_item(&r) > 0 && json_read_object(&r) == 0 && json_read_key(&r, &key) > 0;
    json_read_free(&r);
    return found;
}

/* A json_read_more. */
static ptrdiff_t read_more(void *ctx, unsigned char *p, size_t n, struct err *e)
{
    struct str *left = ctx;
    (void)e;
    n = n < left->len ? n : left->len;
    memcpy(p, left->p, n);
    *left = (struct str){left->p + n, left->len - n};
    return (ptrdiff_t)n;
}

/* Whether p[0 .. n) is the start of one array of objects, not a line of JSON with other lines after it. */
static bool is_only_array(const unsigned char *p, size_t n)
{
    struct json_reader r = {0};
    struct err ignored;
    n = n < FORMAT_GUESS_LOOK ? n : FORMAT_GUESS_LOOK; /* so that the result does not depend on how much was read */
    size_t from = skip_white(p, n);
    struct str left = {p + from, n - from};
    bool only = false;
    if (is_array(p, n) && json_read_stream(&r, read_more, &left, &ignored) == 0) {
        if (json_read_skip(&r))
            only = r.ended; /* the array continues after these bytes; otherwise it is not JSON */
        else
            only = memchr(p + from, '\n', (size_t)r.base + r.at) || json_read_end(&r) == 0;
    }
    json_read_free(&r);
    return only;
}

int format_guess_refuse(const struct input_form *form, const unsigned char *p, size_t n, const char *name,
                        struct err *e)
{
    char command[FILE_COMMAND];
    if (!form->has_field || !is_only_array(p, n))
        return 0;
    return err_at(e, EX_DATAERR, name, ERR_NO_OFFSET, "this is a JSON array, not one object per line; %s | ... --%s",
                  file_command("jq -c '.[]' FILE", name, command), form->name);
}

static bool is_warc(const unsigned char *p, size_t n)
{
    struct wet_header header;
    struct err ignored;
    return begins_warc(p, n) && wet_get_header(&header, p, n, false, &ignored) > 0;
}

int format_guess_look(struct format_guess *h, const struct input_form *form, const unsigned char *p, size_t n,
                      const char *name, struct err *e)
{
    struct json_fields fields;
    struct buf copy = {0};
    if (!format_guess_wants(h, form, p, n))
        return 0;
    if (form->documents)
        return format_guess_refuse(form, p, n, name, e);
    if (is_warc(p, n) || is_array(p, n)) {
        h->found = true;
        h->name = name;
        h->what = *p == 'W' ? GUESS_WARC : GUESS_ARRAY;
        return 0;
    }
    size_t from = skip_white(p, n);
    const unsigned char *end = memchr(p + from, '\n', n - from);
    size_t len = end ? (size_t)(end - p) - from : n - from;
    if (buf_put(&copy, p + from, len, e) || buf_reserve(&copy, JSON_READ_PAD, e)) {
        buf_free(&copy);
        return -1;
    }
    memset(copy.p + len, 0, JSON_READ_PAD);
    const unsigned char *next = end ? end + 1 : p + n;
    bool next_too = next == p + n || *next == '{' || *next == '\n' || *next == '\r';
    if (next_too && json_fields_find(&fields, copy.p, len, end != NULL))
        *h = (struct format_guess){.found = true, .fields = fields, .name = name};
    buf_free(&copy);
    return 0;
}

const char *format_guess_text(const struct format_guess *h, char to[FORMAT_GUESS_TEXT])
{
    static const char *const remarks[] = {
        [GUESS_LINES] = "the first lines are JSON, which is read as plain text; see --jsonl",
        [GUESS_ARRAY] = "the text is a JSON array, which is read as plain text; jq -c '.[]' FILE | ... --jsonl",
        [GUESS_WARC] = "the first lines are a WARC header, which is read as plain text; see --wet",
    };
    char remark[FILE_COMMAND], fields[JSON_FIELDS_TEXT];
    snprintf(to, FORMAT_GUESS_TEXT, "%.1000s: %s%s", h->name, file_command(remarks[h->what], h->name, remark),
             json_fields_text(&h->fields, fields));
    return to;
}

/* ---- Input ---- */

/* Reads until there are n bytes in total, or fewer if the input ends. */
static int read_start(struct input *in, struct buf *first, size_t n, struct err *e)
{
    ptrdiff_t got = 1;
    while (first->len < n && got > 0) {
        got = buf_reserve(first, n - first->len, e) ? -1 : input_read(in, first->p + first->len, n - first->len, e);
        first->len += got > 0 ? (size_t)got : 0;
    }
    return got < 0 ? -1 : 0;
}

int input_probe(struct input *in, struct buf *first, const struct input_form *form, struct format_guess *guess,
                struct err *e)
{
    if (read_start(in, first, FILE_SIGNATURE_LEN, e) ||
        file_signature_check(form, first->p, first->len, input_name(in), e))
        return -1;
    if (!format_guess_wants(guess, form, first->p, first->len))
        return 0;
    if (read_start(in, first, FORMAT_GUESS_LOOK, e) ||
        format_guess_look(guess, form, first->p, first->len, input_name(in), e))
        return -1;
    return 0;
}
