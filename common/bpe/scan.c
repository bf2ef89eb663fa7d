/* scan.c - the built-in patterns by name, and which scanner serves a pattern. See scan.h. */
#include "bpe/scan.h"

#include "bpe/scan_parts.h"
#include "bpe/scan_regex.h"
#include "bpe/uclass.h"
#include "sys/simd.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pattern "bytes": no split, the whole document is one pretoken. */
static size_t scan_whole(const unsigned char *text, size_t len, enum scan_end end, size_t *pos, uint32_t *ends,
                         size_t max)
{
    (void)text;
    if (end != SCAN_DOC || *pos == len || max == 0)
        return 0;
    ends[0] = (uint32_t)len;
    *pos = len;
    return 1;
}

static const struct pattern patterns[] = {
    {"gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", true},
    {"cl100k",
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
     "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     true},
    {"bytes", NULL, false},
};

#define N_PATTERNS (sizeof patterns / sizeof patterns[0])

/* The best scanner for the i-th of them. */
static scan_fn *scanner_for(size_t i)
{
    scan_fn *const all[N_PATTERNS][SIMD_N] = {
        {scan_gpt2, scan_gpt2_neon, scan_gpt2_sse2, scan_gpt2_avx2, scan_gpt2_avx512},
        {scan_cl100k, scan_cl100k_neon, scan_cl100k_sse2, scan_cl100k_avx2, scan_cl100k_avx512},
        {scan_whole},
    };
    size_t level = simd_level();
    while (!all[i][level])
        level--;
    return all[i][level];
}

const struct pattern *pattern_at(size_t i)
{
    return i < N_PATTERNS ? &patterns[i] : NULL;
}

const struct pattern *pattern_find(const char *name)
{
    for (size_t i = 0; i < N_PATTERNS; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

struct scanner {
    scan_fn *scan;            /* of a built-in pattern, or */
    struct scan_regex *regex; /* a regex by a user */
};

struct scanner *scanner_open(const struct pattern *pattern, const char *regex, size_t regex_len, struct err *e)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a scanner", sizeof *s);
        return NULL;
    }
    if (pattern) {
        s->scan = scanner_for((size_t)(pattern - patterns));
        return s;
    }
    s->regex = scan_regex_open(regex, regex_len, e);
    if (!s->regex) {
        free(s);
        return NULL;
    }
    return s;
}

void scanner_close(struct scanner *s)
{
    if (s)
        scan_regex_close(s->regex);
    free(s);
}

bool scanner_streams(const struct scanner *s)
{
    return s->scan && s->scan != scan_whole;
}

ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum scan_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e)
{
    assert(*pos <= len && len <= SCAN_MAX_WINDOW);
    assert(end != SCAN_LETTER || scanner_streams(s));
    assert(end != SCAN_LETTER || len == 0 || text[len - 1] == '\n');
    if (s->scan)
        return (ptrdiff_t)s->scan(text, len, end, pos, ends, max);
    if (end == SCAN_MORE)
        return 0;
    return scan_regex(s->regex, text, len, pos, ends, max, e);
}

const char *scanner_version(char *buf, size_t n, const char *program)
{
    char regex[100];
    snprintf(buf, n, "%s (Unicode %s; -e: %s)\n", program, uclass_version, scan_regex_version(regex, sizeof regex));
    return buf;
}
