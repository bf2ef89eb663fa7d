/* json_read.c - shows how our reader reads JSON, for tests/cli/jsonr.t to compare with Python's json module.
 *
 *     json_read < lines      each line: N HEX, a document of which the reader gets N bytes at first, then the rest
 *
 * Prints a line for each document: the same JSON without white space and with 0 for each number, or `bad: ` and the
 * error; then a tab and the result of a lenient reader. The result must be the same from a file and from memory, item
 * by item, with the functions that read several tokens in one step, and when skipped.
 */
#include "json/json_read.h"
#include "json/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Copies all items that are pairs of strings and can be read in one step. */
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

/* Reads the document in one of the ways; SKIP makes no output. */
static int read_one(struct json_reader *r, enum how how, struct buf *out)
{
    struct err ignored;
    struct json_writer w = json_write_over(out, false, &ignored);
    out->len = 0;
    int rc = (how == SKIP ? json_read_skip(r) : copy(r, &w, how)) || json_read_end(r) ? -1 : 0;
    json_read_free(r);
    return rc;
}

/* Reads the file fd from its start; the reader gets `head` bytes at first. */
static int read_file(int fd, struct str doc, size_t head, enum how how, struct buf *out, struct err *e)
{
    struct buf first = {0};
    struct json_reader r;
    if (buf_put(&first, doc.p, head, e) || lseek(fd, (off_t)head, SEEK_SET) < 0 ||
        json_read_init(&r, fd, "json", &first, e))
        exit(EX_OSERR);
    return read_one(&r, how, out);
}

/* The same from memory, where bytes after the padding cannot be read. */
static int read_memory(struct str doc, bool lenient, enum how how, struct buf *out, struct err *e)
{
    static const char fill[] = "]}\"1,\n";
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (doc.len + JSON_READ_PAD + page - 1) / page * page;
    unsigned char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE))
        exit(EX_OSERR);
    unsigned char *p = map + room - JSON_READ_PAD - doc.len;
    memcpy(p, doc.p, doc.len);
    memset(p + doc.len, fill[doc.len % (sizeof fill - 1)], JSON_READ_PAD);
    struct json_reader r = {0};
    json_read_memory(&r, p, doc.len, lenient, e);
    int rc = read_one(&r, how, out);
    munmap(map, room + page);
    return rc;
}

/* Whether a file and memory, or two ways to read one of them, give the same result. Errors may differ if one way is
 * QUICK. */
static bool is_same(int rc, const struct buf *out, const struct err *e, int other_rc, const struct buf *other,
                    const struct err *other_e, enum how how)
{
    static const char prefix[] = "bad JSON: ";
    const char *msg = strncmp(e->msg, prefix, sizeof prefix - 1) == 0 ? e->msg + sizeof prefix - 1 : e->msg;
    if (rc != other_rc)
        return false;
    if (rc)
        return how == QUICK ||
               (e->offset == other_e->offset && (strcmp(e->msg, other_e->msg) == 0 || strcmp(msg, other_e->msg) == 0));
    return how == SKIP || (out->len == other->len && memcmp(out->p, other->p, out->len) == 0);
}

static void print(int rc, const struct buf *out, const struct err *e, char end)
{
    char text[ERR_TEXT];
    if (rc)
        printf("bad: %s%c", err_text(e, text), end);
    else
        printf("%.*s%c", (int)out->len, (char *)out->p, end);
}

static void take_line(char *line)
{
    char *hex;
    size_t head = strtoul(line, &hex, 10), n = 0;
    unsigned char *p = malloc(strlen(hex) / 2 + 1);
    struct err e = {0}, lenient_e = {0}, other_e = {0};
    struct buf out = {0}, lenient = {0}, other = {0};
    bool same = true;
    int fd = memfd_create("json", MFD_CLOEXEC);
    if (!p || fd < 0)
        exit(EX_OSERR);
    for (hex++; hex[0] && hex[1]; hex += 2) {
        char pair[3] = {hex[0], hex[1], '\0'};
        p[n++] = (unsigned char)strtoul(pair, NULL, 16);
    }
    if (write(fd, p, n) != (ssize_t)n)
        exit(EX_OSERR);
    struct str doc = {p, n};
    head = head < n ? head : n;
    int rc = read_file(fd, doc, head, PLAIN, &out, &e);
    int lenient_rc = read_memory(doc, true, PLAIN, &lenient, &lenient_e);
    for (enum how how = PLAIN; how <= SKIP; how++) {
        int other_rc = read_file(fd, doc, head, how, &other, &other_e);
        same &= is_same(rc, &out, &e, other_rc, &other, &other_e, how);
        other_rc = read_memory(doc, false, how, &other, &other_e);
        same &= is_same(rc, &out, &e, other_rc, &other, &other_e, how);
        other_rc = read_memory(doc, true, how, &other, &other_e);
        same &= is_same(lenient_rc, &lenient, &lenient_e, other_rc, &other, &other_e, how);
        if (!same) {
            printf("the result differs when read in way %d: ", (int)how);
            print(other_rc, &other, &other_e, '\n');
            break;
        }
    }
    if (same) {
        print(rc, &out, &e, '\t');
        print(lenient_rc, &lenient, &lenient_e, '\n');
    }
    close(fd);
    free(p);
    buf_free(&out);
    buf_free(&lenient);
    buf_free(&other);
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
