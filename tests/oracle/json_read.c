/* json_read.c - what jsonr makes of JSON, for tests/cli/jsonr.py to compare with Python's json module.
 *
 *     json_read < lines      a line each: N HEX, a document of which jsonr gets the first N bytes and then the rest
 *
 * For each document a line: the same JSON without white space, every number as 0; or `bad: ` and the error.
 */
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All items that are pairs of strings, and come in one step. */
static int copy_pairs(struct json_reader *r, struct json_writer *w)
{
    struct str pair[2];
    while (json_read_try_pair(r, pair)) {
        if (json_read_utf8(r, pair[0]) || json_read_utf8(r, pair[1]))
            return -1;
        json_write_begin(w, '[');
        json_write_bytes(w, pair[0].p, pair[0].len);
        json_write_bytes(w, pair[1].p, pair[1].len);
        json_write_end(w, ']');
    }
    return 0;
}

static int copy_members(struct json_reader *r, struct json_writer *w)
{
    struct str key;
    uint64_t v;
    while (json_read_try_member(r, &key, &v)) {
        if (json_read_utf8(r, key))
            return -1;
        json_write_key_bytes(w, key.p, key.len);
        json_write_uint(w, 0);
    }
    return 0;
}

enum how { PLAIN, QUICK, SKIP };

static int copy(struct json_reader *r, struct json_writer *w, enum how how)
{
    struct str s;
    bool v;
    int more, c = json_read_peek(r);
    switch (c) {
    case '{':
        if (json_read_object(r))
            return -1;
        json_write_begin(w, '{');
        while (!(more = how == QUICK ? copy_members(r, w) : 0) && (more = json_read_key(r, &s)) > 0) {
            json_write_key_bytes(w, s.p, s.len);
            if (copy(r, w, how))
                return -1;
        }
        json_write_end(w, '}');
        return more;
    case '[':
        if (json_read_array(r))
            return -1;
        json_write_begin(w, '[');
        while (!(more = how == QUICK ? copy_pairs(r, w) : 0) && (more = json_read_item(r)) > 0) {
            if (copy(r, w, how))
                return -1;
        }
        json_write_end(w, ']');
        return more;
    case '"':
        if (json_read_string(r, &s))
            return -1;
        json_write_bytes(w, s.p, s.len);
        return 0;
    case '0':
        json_write_uint(w, 0);
        return json_read_skip(r);
    case 't':
    case 'f':
        if (json_read_bool(r, &v))
            return -1;
        json_write_bool(w, v);
        return 0;
    case 'n':
        json_write_null(w);
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return -1;
    }
}

/* The file is fd from its start, of which jsonr gets `head` bytes at once. skip: reads without making anything of it.
 */
static int read_one(int fd, const unsigned char *p, size_t head, enum how how, struct buf *out, struct err *e)
{
    struct buf first = {0};
    struct json_reader r;
    struct err ignored;
    struct json_writer w = json_write_over(out, false, &ignored);
    if (buf_put(&first, p, head, e) || lseek(fd, (off_t)head, SEEK_SET) < 0 ||
        json_read_init(&r, fd, "json", &first, e))
        return -1;
    int rc = (how == SKIP ? json_read_skip(&r) : copy(&r, &w, how)) || json_read_end(&r) ? -1 : 0;
    json_read_free(&r);
    return rc;
}

static void take_line(char *line)
{
    char *hex;
    size_t head = strtoul(line, &hex, 10), n = 0;
    unsigned char *p = malloc(strlen(hex) / 2 + 1);
    struct err e = {0}, other = {0};
    char text[ERR_TEXT];
    struct buf out = {0}, quick = {0}, nothing = {0};
    int fd = memfd_create("json", MFD_CLOEXEC);
    if (!p || fd < 0)
        exit(EX_OSERR);
    for (hex++; hex[0] && hex[1]; hex += 2) {
        char pair[3] = {hex[0], hex[1], '\0'};
        p[n++] = (unsigned char)strtoul(pair, NULL, 16);
    }
    if (write(fd, p, n) != (ssize_t)n)
        exit(EX_OSERR);
    head = head < n ? head : n;
    int rc = read_one(fd, p, head, PLAIN, &out, &e);
    if (read_one(fd, p, head, QUICK, &quick, &other) != rc ||
        (!rc && (quick.len != out.len || memcmp(quick.p, out.p, out.len) != 0)))
        printf("in one step it is otherwise: %.*s%s\n", (int)quick.len, (char *)quick.p, other.msg);
    else if (read_one(fd, p, head, SKIP, &nothing, &other) != rc ||
             (rc && (strcmp(e.msg, other.msg) != 0 || e.offset != other.offset)))
        printf("skipped it is otherwise: %s\n", other.msg);
    else if (rc)
        printf("bad: %s\n", err_text(&e, text));
    else
        printf("%.*s\n", (int)out.len, (char *)out.p);
    close(fd);
    free(p);
    buf_free(&out);
    buf_free(&quick);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        take_line(line);
    }
    free(line);
    return 0;
}
