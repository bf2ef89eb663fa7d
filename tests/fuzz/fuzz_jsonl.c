/* fuzz_jsonl.c - lines of JSON. The first byte of the input says what is done about invalid UTF-8; each line of the
 * rest is read for the string at "text" and at "a.text". */
#include "fuzz.h"
#include "text/jsonl.h"

#include <string.h>

static void read_lines(struct jsonl *j, const uint8_t *data, size_t size)
{
    struct str text;
    struct err e = {0};
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) + 1 : size;
        uint8_t *line = malloc(n + JSON_READ_PAD);
        if (!line)
            abort();
        memcpy(line, data, n);
        memset(line + n, '"', JSON_READ_PAD);
        enum jsonl_line got = jsonl_read(j, line, n, &text, &e);
        if (got == JSONL_TEXT && text.len > 3 * n) /* no byte of a line becomes more than U+FFFD */
            abort();
        if ((got == JSONL_BAD || got == JSONL_ERROR) && !e.code)
            abort();
        free(line);
        data += n;
        size -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const fields[] = {"text", "a.text"};
    if (size == 0)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        struct jsonl j;
        jsonl_init(&j, str_of(fields[i]), (enum invalid_policy)(data[0] % 3)); /* INVALID_BYTES is not for JSON */
        read_lines(&j, data + 1, size - 1);
        jsonl_free(&j);
    }
    return 0;
}
