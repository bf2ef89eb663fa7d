/* fuzz_json.c - the reader of JSON: a value read by its parts, and skipped, is well-formed in both ways or in neither,
 * and the error is at the same byte. The first byte of the input says how much of the rest the reader gets at once. */
#include "fuzz.h"
#include "json/json_read.h"

#include <string.h>
#include <sys/mman.h>

static int read_value(struct json_reader *r)
{
    struct str s;
    bool truth;
    int more;
    switch (json_read_peek(r)) {
    case '{':
        if (json_read_object(r))
            return -1;
        while ((more = json_read_key(r, &s)) > 0) {
            if (read_value(r))
                return -1;
        }
        return more;
    case '[':
        if (json_read_array(r))
            return -1;
        while ((more = json_read_item(r)) > 0) {
            if (read_value(r))
                return -1;
        }
        return more;
    case '"':
        return json_read_string(r, &s);
    case '0':
        return json_read_skip(r);
    case 't':
    case 'f':
        return json_read_bool(r, &truth);
    case 'n':
        return json_read_null(r) > 0 ? 0 : -1;
    default:
        return -1;
    }
}

static int try_value(struct fuzz_file *file, const uint8_t *data, size_t head, int value(struct json_reader *r),
                     struct err *e)
{
    struct buf first = {0};
    struct json_reader r;
    if (buf_put(&first, data, head, e) || lseek(file->fd, (off_t)head, SEEK_SET) < 0 ||
        json_read_init(&r, file->fd, "json", &first, e))
        abort();
    int rc = value(&r) || json_read_end(&r);
    json_read_free(&r);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    struct err a = {0}, b = {0};
    if (size == 0)
        return 0;
    size_t head = data[0] < size - 1 ? data[0] : size - 1;
    fuzz_fill(&file, ++data, --size);
    int read = try_value(&file, data, head, read_value, &a);
    int skipped = try_value(&file, data, head, json_read_skip, &b);
    if (read != skipped || (read && (strcmp(a.msg, b.msg) != 0 || a.offset != b.offset)))
        abort();
    return 0;
}
