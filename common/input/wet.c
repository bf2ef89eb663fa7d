/* wet.c - see wet.h. */
#include "input/wet.h"

#include "base/sys/str.h"

#include <string.h>
#include <strings.h>

static bool is_white(unsigned char c)
{
    return c == ' ' || c == '\t';
}

/* Gets the line at *at, without its line end, and moves *at past it; false if the line has no end. */
static bool next_line(const unsigned char *p, size_t n, size_t *at, struct str *line)
{
    const unsigned char *start = p + *at, *end = memchr(start, '\n', n - *at);
    if (!end)
        return false;
    *at = (size_t)(end - p) + 1;
    *line = (struct str){start, (size_t)(end - start)};
    if (line->len && start[line->len - 1] == '\r')
        line->len--;
    return true;
}

/* Whether the line is a field of this name; sets *value. */
static bool is_field(struct str line, const char *name, struct str *value)
{
    size_t len = strlen(name);
    if (line.len <= len || strncasecmp((const char *)line.p, name, len) != 0)
        return false;
    const unsigned char *p = line.p + len, *end = line.p + line.len;
    while (p < end && is_white(*p))
        p++;
    if (p == end || *p++ != ':')
        return false;
    while (p < end && is_white(*p))
        p++;
    while (end > p && is_white(end[-1]))
        end--;
    *value = (struct str){p, (size_t)(end - p)};
    return true;
}

int wet_show(const unsigned char *p, size_t n)
{
    enum { LEN_MAX = 40 };
    size_t len = 0;
    while (len < n && len < LEN_MAX && p[len] != '\r' && p[len] != '\n')
        len++;
    return (int)len;
}

static int get_length(uint64_t *to, struct str value, struct err *e)
{
    uint64_t n = 0;
    bool good = value.len > 0 && value.len < 19;
    for (size_t i = 0; i < value.len && good; i++) {
        good = value.p[i] >= '0' && value.p[i] <= '9';
        n = 10 * n + (uint64_t)(value.p[i] - '0');
    }
    *to = n;
    return good ? 0
                : err_set(e, EX_DATAERR, "a WARC record with Content-Length \"%.*s\", which is not a number of bytes",
                          wet_show(value.p, value.len), (const char *)value.p);
}

/* What has been read of a header. */
struct fields {
    bool typed, sized, segmented;
    struct wet_header *h;
};

static int take_field(struct fields *f, struct str line, struct err *e)
{
    struct str value;
    uint64_t block;
    if (is_field(line, "WARC-Type", &value)) {
        f->h->is_text = value.len == 10 && strncasecmp((const char *)value.p, "conversion", 10) == 0;
        f->typed = true;
    } else if (is_field(line, "Content-Length", &value)) {
        if (get_length(&block, value, e))
            return -1;
        if (f->sized && block != f->h->block)
            return err_set(e, EX_DATAERR, "a WARC record with two values of Content-Length");
        f->h->block = block;
        f->sized = true;
    } else if (is_field(line, "WARC-Segment-Number", &value)) {
        f->segmented = true;
    } else if (!memchr(line.p, ':', line.len) && !is_white(*line.p)) {
        return err_set(e, EX_DATAERR, "a WARC record with the line \"%.*s\" in its header, which is not a field",
                       wet_show(line.p, line.len), (const char *)line.p);
    }
    return 0;
}

static int check_fields(const struct fields *f, struct err *e)
{
    if (!f->typed || !f->sized)
        return err_set(e, EX_DATAERR, "a WARC record without %s", f->typed ? "Content-Length" : "WARC-Type");
    if (f->segmented && f->h->is_text)
        return err_set(e, EX_DATAERR, "a segmented WARC record, which is not supported");
    return 1;
}

static int no_record(const unsigned char *p, size_t n, struct err *e)
{
    int shown = wet_show(p, n);
    if (!shown)
        return err_set(e, EX_DATAERR, "an empty line where a WARC record should begin (WARC/1.0)");
    return err_set(e, EX_DATAERR, "\"%.*s\" where a WARC record should begin (WARC/1.0)", shown, (const char *)p);
}

int wet_get_header(struct wet_header *h, const unsigned char *p, size_t n, bool last, struct err *e)
{
    static const char version[] = "WARC/";
    size_t at = 0, look = n < 5 ? n : 5, max = n < WET_HEADER_MAX ? n : WET_HEADER_MAX;
    struct str line;
    struct fields f = {.h = h};
    if (memcmp(p, version, look) != 0)
        return no_record(p, n, e);
    *h = (struct wet_header){0};
    for (bool first = true; next_line(p, max, &at, &line); first = false) {
        if (line.len == 0) {
            h->len = at;
            return check_fields(&f, e);
        }
        if (!first && take_field(&f, line, e))
            return -1;
    }
    if (n >= WET_HEADER_MAX)
        return err_set(e, EX_DATAERR, "a WARC record whose header has more than %d bytes", WET_HEADER_MAX);
    return last ? err_set(e, EX_DATAERR, "cut off in the header of a WARC record") : 0;
}

size_t wet_skip_lines(const unsigned char *p, size_t n, unsigned *n_lines)
{
    size_t at = 0;
    for (;;) {
        size_t end = at;
        if (end < n && p[end] == '\r')
            end++;
        if (end == n || p[end] != '\n')
            return at;
        at = end + 1;
        *n_lines = *n_lines < 2 ? *n_lines + 1 : 2;
    }
}

/* Where the next record begins, after the one at p + at with the header *h; 0: not in p[0 .. n), or not known yet.
 * *wrong: the bytes there are not a record. */
static size_t next_record(const struct wet_header *h, const unsigned char *p, size_t n, size_t at, bool *wrong)
{
    unsigned n_lines = 0;
    if (h->len > n - at || h->block > n - at - h->len)
        return 0;
    at += h->len + (size_t)h->block;
    at += wet_skip_lines(p + at, n - at, &n_lines);
    if (at == n || (at + 1 == n && p[at] == '\r'))
        return 0;
    *wrong = n_lines < 2;
    return at;
}

size_t wet_last_border(const unsigned char *p, size_t n, size_t lo, size_t hi)
{
    size_t border = 0, at = 0;
    bool wrong = false;
    struct wet_header h;
    struct err ignored;
    do {
        border = at;
        int got = wet_get_header(&h, p + at, n - at, false, &ignored);
        if (got < 0 && at <= lo)
            return hi - at >= WET_HEADER_MAX ? hi : 0;
        at = got > 0 ? next_record(&h, p, n, at, &wrong) : 0;
    } while (at && at <= hi && !wrong);
    if (border > lo)
        return border;
    return wrong && at < hi ? hi : 0;
}
