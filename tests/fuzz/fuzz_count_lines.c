/* fuzz_count_lines.c - lines of counts. The first byte of the input selects how they are read. The rest must give the
 * same counts, or an error in the same line, as one window and in windows of a few bytes; and what it counts, written
 * as lines again, the same counts. */
#include "base/sys/buf.h"
#include "count/count_lines.h"
#include "fuzz.h"
#include "pretok/scan.h"
#include "wire/record_text.h"

#include <string.h>

struct result {
    uint64_t n_lines, total, text, n;
    bool failed;
};

struct how {
    struct rules rules;
    enum counts_order order;
    bool raw;
};

/* Reads the lines in windows that grow by `step`. lines: not NULL: gets the counts as lines. */
static struct result read_lines(const struct how *h, const uint8_t *data, size_t size, size_t step, struct buf *lines)
{
    struct counter counter;
    struct pretoken_check check;
    struct count_lines c;
    struct err e = {0};
    uint8_t *window = calloc(1, size + SCAN_PAD);
    if (!window || counter_open(&counter, &h->rules, INVALID_BYTES, &e))
        abort();
    pretoken_check_init(&check, &counter.pretokenizer, &h->rules);
    count_lines_init(&c, h->order, h->raw, str_of(" pattern=gpt2"), &counter.table, &check);
    count_lines_begin(&c, "fuzz");
    struct result r = {0};
    for (size_t at = 0, end = step < size ? step : size; !r.failed; end = size - end > step ? end + step : size) {
        size_t where;
        bool last = end == size;
        if (end > at) /* data may be NULL */
            memcpy(window, data + at, end - at);
        memset(window + end - at, 'x', SCAN_PAD);
        ptrdiff_t used = count_lines_take(&c, window, end - at, last, &where, &e);
        r.failed = used < 0;
        if (r.failed && (!e.code || where > end - at || (e.code == EX_DATAERR && !e.line)))
            abort();
        at += r.failed ? 0 : (size_t)used;
        if (last)
            break;
    }
    r.n_lines = r.failed ? e.line : c.n_lines;
    r.total = r.failed ? 0 : c.total;
    r.text = r.failed ? 0 : c.text;
    r.n = r.failed ? 0 : table_n(&counter.table);
    struct pretoken w;
    for (size_t pos = 0; lines && !r.failed && table_next(&counter.table, &pos, &w);) {
        if (buf_printf(lines, &e, "%llu\t", (unsigned long long)w.count) || record_text_escape(lines, w.p, w.len, &e) ||
            buf_put_byte(lines, '\n', &e))
            abort();
    }
    count_lines_free(&c);
    pretoken_check_free(&check);
    counter_close(&counter);
    free(window);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct special_token special = {.text = str_of("<s>")};
    const struct str regex = str_of("a|b");
    struct str one = regex;
    if (size == 0)
        return 0;
    struct how h = {.rules = {.pattern = str_of(data[0] & 1 ? "o200k" : "gpt2"), .special = &special, .n_special = 1},
                    .order = data[0] & 2 ? COUNTS_LAST : COUNTS_FIRST,
                    .raw = data[0] & 4};
    if (data[0] & 8)
        h.rules.normalizer = NORMALIZER_NFC;
    if (data[0] & 16) {
        h.rules.pattern = (struct str){0};
        h.rules.regex = &one;
        h.rules.n_regex = 1;
    }
    struct buf lines = {0};
    const struct result whole = read_lines(&h, data + 1, size - 1, SIZE_MAX / 2, &lines),
                        parts = read_lines(&h, data + 1, size - 1, 1 + data[0] / 32, NULL);
    if (whole.failed != parts.failed || whole.n_lines != parts.n_lines || whole.total != parts.total ||
        whole.text != parts.text || whole.n != parts.n)
        abort();
    h.order = COUNTS_FIRST;
    h.raw = false;
    const struct result again = read_lines(&h, lines.p, lines.len, SIZE_MAX / 2, NULL);
    if (!whole.failed && (again.failed || again.n != whole.n || again.total != whole.total || again.text != whole.text))
        abort();
    buf_free(&lines);
    return 0;
}
