/* fuzz_jsonl.c - lines of JSON. The first byte of the input selects what happens to invalid UTF-8. Each line of the
 * rest is read for the strings at "text" and "a.text". The fast walk, at each level of vector instructions, must give
 * the same result whenever it gives one. */
#include "base/sys/simd.h"
#include "fuzz.h"
#include "input/jsonl.h"
#include "unicode/utf8.h"

#include <string.h>

/* The line ends with a newline, is valid UTF-8, and was read: `got`, and its text. */
static void walk_line(struct str field, const uint8_t *line, size_t n, enum jsonl_line got, struct str text)
{
    for (enum simd level = SIMD_NONE; level < SIMD_N; level++) {
        struct jsonl j;
        struct str fast;
        if (!simd_has(level))
            continue;
        simd_use(level);
        j = (struct jsonl){.field = field, .invalid = INVALID_REPLACE};
        ptrdiff_t len = jsonl_try(&j, line, &fast);
        if (len != 0 && ((size_t)len != n || (got != JSONL_TEXT && got != JSONL_BLANK) ||
                         (fast.p != NULL) != (got == JSONL_TEXT) || (fast.p && !str_equal(fast, text))))
            abort();
        jsonl_free(&j);
    }
}

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
        if (got == JSONL_TEXT && text.len > 3 * n) /* U+FFFD is the longest replacement of a byte */
            abort();
        if ((got == JSONL_BAD || got == JSONL_ERROR) && !e.code)
            abort();
        bool cut;
        if (line[n - 1] == '\n' && utf8_valid_len(line, n, &cut) == n)
            walk_line(j->field, line, n, got, text);
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
        j = (struct jsonl){.field = str_of(fields[i]),
                           .invalid = (enum invalid_policy)(data[0] % 3)}; /* INVALID_BYTES does not apply to JSON */
        read_lines(&j, data + 1, size - 1);
        jsonl_free(&j);
    }
    return 0;
}
