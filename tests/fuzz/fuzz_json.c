/* fuzz_json.c - the JSON reader: a value read by its parts, or skipped, from a file or from memory, must be well-formed
 * in all ways or in none, with errors at the same byte; a lenient reader accepts what a strict one accepts. The first
 * byte of the input is the number of bytes that the reader of a file gets at first. */
#include "fuzz.h"
#include "json/json_read.h"

#include <string.h>

static int read_value(struct json_reader *r)
{
    struct str s;
    bool truth;
    int more, c = json_read_peek(r);
    if (c == '{' || c == '[') {
        if (c == '{' ? json_read_object(r) : json_read_array(r))
            return -1;
        while ((more = c == '{' ? json_read_key(r, &s) : json_read_item(r)) > 0) {
            if (read_value(r))
                return -1;
        }
        return more;
    }
    return c == '"'               ? json_read_string(r, &s)
           : c == 't' || c == 'f' ? json_read_bool(r, &truth)
           : c == 'n'             ? (json_read_null(r) > 0 ? 0 : -1)
           : c == '0'             ? json_read_skip(r)
                                  : -1;
}

typedef int value(struct json_reader *r);

static int from_file(struct fuzz_file *file, const uint8_t *data, size_t head, value *read, struct err *e)
{
    struct buf first = {0};
    struct json_reader r;
    if (buf_put(&first, data, head, e) || lseek(file->fd, (off_t)head, SEEK_SET) < 0 ||
        json_read_init(&r, file->fd, NULL, &first, e))
        abort();
    int rc = read(&r) || json_read_end(&r);
    json_read_free(&r);
    return rc;
}

static int from_memory(const uint8_t *data, size_t size, bool lenient, value *read, struct err *e)
{
    struct json_reader r = {0};
    uint8_t *p = malloc(size + JSON_READ_PAD); /* a separate block, so that ASan detects reads past its end */
    if (!p)
        abort();
    memcpy(p, data, size);
    memset(p + size, '"', JSON_READ_PAD);
    json_read_memory(&r, p, size, lenient, e);
    int rc = read(&r) || json_read_end(&r);
    json_read_free(&r);
    free(p);
    return rc;
}

static void must_be_same(int rc, const struct err *e, int other_rc, const struct err *other)
{
    if (rc != other_rc || (rc && e->offset != other->offset))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    struct err e = {0}, other = {0}, lenient = {0};
    if (size == 0)
        return 0;
    size_t head = data[0] < size - 1 ? data[0] : size - 1;
    fuzz_fill(&file, ++data, --size);
    int rc = from_file(&file, data, head, read_value, &e);
    must_be_same(rc, &e, from_file(&file, data, head, json_read_skip, &other), &other);
    must_be_same(rc, &e, from_memory(data, size, false, read_value, &other), &other);
    must_be_same(rc, &e, from_memory(data, size, false, json_read_skip, &other), &other);
    int lenient_rc = from_memory(data, size, true, read_value, &lenient);
    must_be_same(lenient_rc, &lenient, from_memory(data, size, true, json_read_skip, &other), &other);
    if (!rc && lenient_rc)
        abort();
    return 0;
}
