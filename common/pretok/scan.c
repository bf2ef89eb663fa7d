/* scan.c - chooses the scanner for a pattern. See scan.h. */
#include "pretok/scan.h"

#include "base/sys/buf.h"
#include "base/sys/simd.h"
#include "pretok/char_pairs.h"
#include "pretok/scan_internal.h"
#include "pretok/split.h"
#include "unicode/uclass.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pattern "bytes": no split, the whole document is one pretoken. */
static size_t scan_whole(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                         size_t max)
{
    (void)text;
    if (end != TEXT_DOC || *pos == len || max == 0)
        return 0;
    ends[0] = (uint32_t)len;
    *pos = len;
    return 1;
}

struct scanner {
    scan_fn *scan;                  /* for a built-in pattern, or */
    bool tail;                      /* scan with scan_tail, or */
    bool lines;                     /* with scan_lines */
    struct scan_regex *regex;       /* for one regex from the user, or */
    struct scan_sequence *sequence; /* for several, or another behavior than "isolated" */
    bool drops;                     /* pieces may be dropped; `dropped` has a flag for each end of the last call */
    unsigned char *dropped;
    size_t dropped_cap;
    const struct char_pairs *pairs; /* for splitting pretokens */
};

/* The fastest version of a pattern's scanner at the current simd_level(). */
static scan_fn *scanner_for(enum pattern_id pattern)
{
    static scan_fn *const plain[PATTERN_N] = {
        [PATTERN_GPT2] = scan_gpt2,
        [PATTERN_CL100K] = scan_cl100k,
        [PATTERN_CL100K_TIKTOKEN] = scan_cl100k,
        [PATTERN_NANOCHAT] = scan_nanochat,
        [PATTERN_QWEN2] = scan_qwen2,
        [PATTERN_O200K] = scan_o200k,
        [PATTERN_DEEPSEEK_V3] = scan_deepseek,
        [PATTERN_TEKKEN] = scan_tekken,
        [PATTERN_QWEN35] = scan_qwen35,
        [PATTERN_KIMI_K2] = scan_kimi,
        [PATTERN_GPT2_DIGITS] = scan_gpt2_digits,
        [PATTERN_SUPERBPE] = scan_superbpe, /* also for PATTERN_SUPERBPE_LINES */
        [PATTERN_BYTES] = scan_whole,
    };
    static scan_fn *const *const all[SIMD_N] = {plain, scan_neon, scan_sse2, scan_avx2, scan_avx512};
    size_t level = simd_level();
    while (!all[level][pattern])
        level--;
    return all[level][pattern];
}

struct scanner *scanner_open(const struct pattern *pattern, const struct str *regex, size_t n_regex, struct err *e)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a scanner", sizeof *s);
        return NULL;
    }
    if (pattern) {
        s->lines = pattern->id == PATTERN_SUPERBPE_LINES;
        s->scan = scanner_for(s->lines ? PATTERN_SUPERBPE : pattern->id);
        s->tail = pattern->id == PATTERN_CL100K_TIKTOKEN;
        return s;
    }
    free(s);
    return scanner_open_split(regex, NULL, n_regex, e);
}

struct scanner *scanner_open_split(const struct str *regex, const unsigned char *split, size_t n_regex, struct err *e)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a scanner", sizeof *s);
        return NULL;
    }
    assert(n_regex > 0);
    for (size_t i = 0; split && i < n_regex; i++) {
        enum split_how how = split[i] & SPLIT_MASK;
        s->drops = s->drops || how == SPLIT_GAPS || how == SPLIT_MATCHES;
    }
    if (n_regex == 1 && (!split || *split == SPLIT_ISOLATED))
        s->regex = scan_regex_open(*regex, 0, e);
    else
        s->sequence = scan_sequence_open(regex, split, n_regex, e);
    if (!s->regex && !s->sequence) {
        free(s);
        return NULL;
    }
    return s;
}

struct scanner *scanner_open_pairs(const struct char_pairs *pairs, struct err *e)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a scanner", sizeof *s);
        return NULL;
    }
    s->pairs = pairs;
    return s;
}

void scanner_close(struct scanner *s)
{
    if (s) {
        scan_regex_close(s->regex);
        scan_sequence_close(s->sequence);
        free(s->dropped);
    }
    free(s);
}

bool scanner_streams(const struct scanner *s)
{
    return s->pairs || (s->scan && s->scan != scan_whole);
}

ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum window_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e)
{
    assert(*pos <= len && len <= SCAN_WINDOW_MAX);
    assert(end != TEXT_LETTER || scanner_streams(s));
    assert(end != TEXT_LETTER || len == 0 || text[len - 1] == '\n');
    if (s->pairs)
        return (ptrdiff_t)char_pairs_scan(s->pairs, text, len, end == TEXT_MORE, pos, ends, max);
    if (s->tail)
        return (ptrdiff_t)scan_tail(s->scan, text, len, end, pos, ends, max);
    if (s->lines)
        return (ptrdiff_t)scan_lines(s->scan, text, len, end, pos, ends, max);
    if (s->scan)
        return (ptrdiff_t)s->scan(text, len, end, pos, ends, max);
    if (end == TEXT_MORE)
        return 0;
    if (s->regex)
        return scan_regex(s->regex, text, len, pos, ends, NULL, max, 0, e);
    if (s->drops && array_grow(&s->dropped, &s->dropped_cap, max, 1, "pretokens", e))
        return -1;
    return scan_sequence(s->sequence, text, len, pos, ends, s->dropped, max, e);
}

const unsigned char *scanner_dropped(const struct scanner *s)
{
    return s->dropped;
}

const char *scanner_versions(char *buf, size_t n)
{
    char regex[100];
    snprintf(buf, n, "Unicode %s; %s", uclass_version, scan_regex_version(regex, sizeof regex));
    return buf;
}
