/* scan_regex.c - see scan_internal.h.
 *
 * Between calls, only the document and the position matter: the search starts at *pos. An empty match there changes
 * nothing, because *pos is a boundary already, so the search continues one character further. A gap and the match after
 * it are returned by one call.
 *
 * PCRE2's classes and limits are not used as they are.
 *
 * Classes are those of Unicode 16, whatever version PCRE2 has. Its own \p{L} matches several times as fast as ranges,
 * so it is used unless the document has a character for which the two may differ (pretok/regex.h).
 *
 * Work is bounded in steps, so that the same documents are refused on every machine. PCRE2's match limit does not count
 * the forward steps of a repetition, and starts anew at each position: `(?=(a+))a*b` would take n * n steps on a text
 * of n a's. So a match is first tried on a window, with a small limit; this finds nearly all pretokens. If text after
 * the window might change the result (as PCRE2 reports), or the limit is reached, the match is tried again at that
 * position on the whole document, with a version of the regex that has callouts in its repetitions (REGEX_COUNTED), and
 * its steps are counted.
 */
#include "pretok/scan_internal.h"

#include "base/sys/buf.h"
#include "base/sys/swar.h"
#include "pretok/regex.h"
#include "unicode/ugc.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A match is first tried in a window of at least WINDOW and at most 2 * WINDOW bytes, with PLAIN_LIMIT steps of
 * backtracking. A counted match is tried with PLAIN_LIMIT, then with COUNTED_MORE times as many, up to COUNTED_LIMIT.
 * All counted matches of a document together may take STEPS, plus STEPS_PER_BYTE for each of its bytes. */
enum { WINDOW = 256, PLAIN_LIMIT = 4096, COUNTED_MORE = 16, COUNTED_LIMIT = 16 << 20, STEPS_PER_BYTE = 256 };
#define STEPS (UINT64_C(1) << 32)

#define HEAP_LIMIT (128u << 10)   /* KiB; without JIT */
#define JIT_STACK_MIN (64u << 10) /* bytes */
#define JIT_STACK_MAX (8u << 20)
#define MONGOLIAN_SEPARATOR 0x180E /* white space for PCRE2, but not in Unicode */

/* A regex compiled by PCRE2. */
struct version {
    pcre2_code *code; /* NULL: not yet */
    bool jit;
};

struct scan_regex {
    struct buf regex; /* as it was given */
    size_t nth;
    bool may_jit;
    struct version plain[2], counted[2]; /* [1]: exact for all characters */
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL: no version has JIT */

    /* A bit for each block of 64 code points: whether PCRE2 may class a character in it differently. If so, the masks
     * for the first two bytes of its characters have a bit in common. */
    unsigned char differs[0x110000 / 64 / 8], first_differs[256], second_differs[256];
    bool any_differs;

    /* The document. Between calls, `text` may dangle: it is only compared. */
    const unsigned char *text;
    size_t len;
    bool exact; /* it has a character that differs, or may have one */
    uint64_t steps_left;
};

/* ---- Compiling ---- */

/* The form in which a regex is exact with this PCRE2. The differences are known for Unicode 14 to 16. */
static unsigned exact_form(void)
{
    char unicode[64];
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
    unsigned long major = strtoul(unicode, NULL, 10);
    return major >= 14 && major <= 16 ? REGEX_EXACT : REGEX_RANGES;
}

/* Compiles a version, unless it is compiled already. */
static int compile(struct scan_regex *s, struct version *v, unsigned form, struct err *e)
{
    struct buf text = {0};
    int number;
    size_t offset;
    if (v->code)
        return 0;
    if (regex_put(&text, buf_str(&s->regex), form, 0, s->nth, NULL, e)) {
        buf_free(&text);
        return -1;
    }
    /* With start optimizations, the JIT (of 10.42 and later) misses matches of (?:b.|b)c*x: if c* has failed at one
     * position, it takes all earlier positions as failed, too. */
    v->code = pcre2_compile(text.len ? text.p : (PCRE2_SPTR) "", text.len,
                            PCRE2_UTF | PCRE2_UCP | PCRE2_NO_START_OPTIMIZE, &number, &offset, NULL);
    buf_free(&text);
    if (!v->code) {
        PCRE2_UCHAR reason[256];
        pcre2_get_error_message(number, reason, sizeof reason);
        return err_set(e, EX_USAGE, "the regex cannot be used: %s", (const char *)reason);
    }
    size_t jit_size = 0;
    if (s->may_jit && !(form & REGEX_COUNTED) &&
        pcre2_jit_compile(v->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0)
        pcre2_pattern_info(v->code, PCRE2_INFO_JITSIZE, &jit_size);
    v->jit = jit_size > 0; /* 0 where PCRE2 has no JIT */
    if (v->jit && !s->stack) {
        s->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
        if (!s->stack)
            return err_mem(e, "a regex match", JIT_STACK_MAX);
        pcre2_jit_stack_assign(s->context, NULL, s->stack);
    }
    return 0;
}

static int version_of(struct scan_regex *s, bool counted, const struct version **v, struct err *e)
{
    struct version *use = counted ? &s->counted[s->exact] : &s->plain[s->exact];
    *v = use;
    return compile(s, use, (s->exact ? exact_form() : REGEX_PLAIN) | (counted ? REGEX_COUNTED : 0), e);
}

static void note_differs(struct scan_regex *s, uint32_t from, uint32_t to)
{
    for (uint32_t block = from / 64; block <= to / 64; block++) {
        s->differs[block / 8] |= (unsigned char)(1U << block % 8);
        uint32_t first = block < 0x10000 / 64 ? 0xE0 | block >> 6 : 0xF0 | block >> 12;
        uint32_t second = 0x80 | (block < 0x10000 / 64 ? block : block >> 6) % 64;
        s->first_differs[first] |= (unsigned char)(1U << first % 8);
        s->second_differs[second] |= (unsigned char)(1U << first % 8);
    }
    s->any_differs = true;
}

/* Records the characters that PCRE2 may class differently from the regex. */
static void note_all_differs(struct scan_regex *s, const struct regex_uses *uses)
{
    for (size_t i = 0; i < ugc_n_since_14; i++) {
        const struct ugc_changed *r = &ugc_since_14[i];
        for (uint32_t c = r->first, last; c <= r->last; c = last + 1) {
            unsigned is = ugc_run(c, &last);
            last = last < r->last ? last : r->last;
            if (uses->categories & (1U << r->was | 1U << is))
                note_differs(s, c, last);
        }
    }
    if (uses->space)
        note_differs(s, MONGOLIAN_SEPARATOR, MONGOLIAN_SEPARATOR);
}

static int count_steps(pcre2_callout_block *block, void *ctx)
{
    struct scan_regex *s = ctx;
    unsigned steps = regex_steps(block->callout_number);
    if (s->steps_left < steps)
        return PCRE2_ERROR_CALLOUT;
    s->steps_left -= steps;
    return 0;
}

static int open_matching(struct scan_regex *s, struct err *e)
{
    s->match = pcre2_match_data_create(1, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (!s->match || !s->context)
        return err_mem(e, "a regex match", sizeof *s);
    pcre2_set_match_limit(s->context, PLAIN_LIMIT);
    pcre2_set_heap_limit(s->context, HEAP_LIMIT);
    pcre2_set_callout(s->context, count_steps, s);
    return 0;
}

struct scan_regex *scan_regex_open(struct str regex, size_t nth, struct err *e)
{
    struct scan_regex *s = calloc(1, sizeof *s);
    struct regex_uses uses;
    struct buf text = {0};
    const struct version *v;
    if (!s) {
        err_mem(e, "a regex", sizeof *s);
        return NULL;
    }
    s->nth = nth;
    int rc = buf_put(&s->regex, regex.p, regex.len, e) || regex_put(&text, regex, REGEX_PLAIN, 0, nth, &uses, e);
    buf_free(&text);
    if (!rc) {
        s->may_jit = !uses.atomic;
        if (exact_form() == REGEX_EXACT)
            note_all_differs(s, &uses);
        else
            s->exact = uses.categories || uses.space;
    }
    if (rc || open_matching(s, e) || version_of(s, false, &v, e)) {
        scan_regex_close(s);
        return NULL;
    }
    return s;
}

void scan_regex_close(struct scan_regex *s)
{
    if (!s)
        return;
    for (int exact = 0; exact < 2; exact++) {
        pcre2_code_free(s->plain[exact].code);
        pcre2_code_free(s->counted[exact].code);
    }
    pcre2_jit_stack_free(s->stack);
    pcre2_match_context_free(s->context);
    pcre2_match_data_free(s->match);
    buf_free(&s->regex);
    free(s);
}

/* ---- A document ---- */

/* Length of the character at p. */
static size_t char_len(const unsigned char *p)
{
    return *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
}

/* Whether one of the characters that begin in p[0 .. n) is in a block that differs. */
static bool is_differing(const struct scan_regex *s, const unsigned char *p, size_t n)
{
    for (; n; p++, n--) {
        if (*p < 0xE0) /* all that differ have at least three bytes */
            continue;
        uint32_t block = *p < 0xF0 ? (uint32_t)(*p & 0x0F) << 6 | (p[1] & 0x3F)
                                   : (uint32_t)(*p & 0x07) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        if (s->differs[block / 8] >> block % 8 & 1)
            return true;
    }
    return false;
}

/* The same for a document of valid UTF-8. It checks pairs of bytes first, without a branch for each. */
static bool has_differing(const struct scan_regex *s, const unsigned char *p, size_t len)
{
    enum { SPAN = 32 };
    for (; len > SPAN; p += SPAN, len -= SPAN) {
        unsigned may = 0;
        if (!((swar_load(p) | swar_load(p + 8) | swar_load(p + 16) | swar_load(p + 24)) & SWAR_HIGH))
            continue;
        for (size_t i = 0; i < SPAN; i++)
            may |= s->first_differs[p[i]] & s->second_differs[p[i + 1]];
        if (may && is_differing(s, p, SPAN))
            return true;
    }
    return is_differing(s, p, len);
}

static void begin(struct scan_regex *s, const unsigned char *text, size_t len)
{
    s->text = text;
    s->len = len;
    s->steps_left = STEPS + (uint64_t)STEPS_PER_BYTE * len;
    if (s->any_differs)
        s->exact = has_differing(s, text, len);
}

/* ---- Matching ---- */

static inline int match(const struct scan_regex *s, const struct version *v, size_t len, size_t from, uint32_t options)
{
    /* pcre2_jit_match is faster than pcre2_match, which would check its arguments for each pretoken. */
    return v->jit ? pcre2_jit_match(v->code, s->text, len, from, options, s->match, s->context)
                  : pcre2_match(v->code, s->text, len, from, options, s->match, s->context);
}

/* The error of a match that begins at `from`. Returns -1. */
static int match_error(int rc, size_t from, struct err *e)
{
    PCRE2_UCHAR reason[256];
    pcre2_get_error_message(rc, reason, sizeof reason);
    switch (rc) {
    case PCRE2_ERROR_CALLOUT:
        return err_set(e, EX_DATAERR, "the regex takes too many steps to be matched from byte %zu", from);
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return err_set(e, EX_DATAERR, "the regex backtracks too much to be matched from byte %zu: %s", from,
                       (const char *)reason);
    }
    return err_set(e, rc == PCRE2_ERROR_NOMEMORY ? EX_OSERR : EX_SOFTWARE, "cannot match the regex from byte %zu: %s",
                   from, (const char *)reason);
}

/* Tries the match only at `from`, on the whole document, and counts its steps. 1; 0: there is none; -1: error. */
static int match_counted(struct scan_regex *s, size_t from, size_t base, struct err *e)
{
    const struct version *v;
    int rc = PCRE2_ERROR_MATCHLIMIT;
    if (version_of(s, true, &v, e))
        return -1;
    for (uint32_t limit = PLAIN_LIMIT; rc == PCRE2_ERROR_MATCHLIMIT && limit <= COUNTED_LIMIT; limit *= COUNTED_MORE) {
        if (s->steps_left < limit)
            return match_error(PCRE2_ERROR_CALLOUT, base + from, e);
        pcre2_set_match_limit(s->context, limit);
        rc = match(s, v, s->len, from, PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED);
        s->steps_left -= s->steps_left < limit ? s->steps_left : limit;
    }
    pcre2_set_match_limit(s->context, PLAIN_LIMIT);
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : match_error(rc, base + from, e);
}

/* The end of a window in which positions from `from` on are tried. */
static size_t end_of_window(const struct scan_regex *s, size_t from)
{
    if (s->len - from <= 2 * WINDOW)
        return s->len;
    for (from += 2 * WINDOW; (s->text[from] & 0xC0) == 0x80; from--)
        ;
    return from;
}

/* Finds the next match from `from` on, after matching in the window that ends at `end` failed with rc. 1; 0: there is
 * none; -1: error. */
static int next_match(struct scan_regex *s, const struct version *v, int rc, size_t from, size_t end, size_t base,
                      struct err *e)
{
    for (;;) {
        switch (rc) {
        case PCRE2_ERROR_NOMATCH: /* no match before `end` */
            if (end == s->len)
                return 0;
            from = end;
            break;
        case PCRE2_ERROR_PARTIAL:
            from = pcre2_get_ovector_pointer(s->match)[0];
            /* Fall through. */
        case PCRE2_ERROR_MATCHLIMIT:
        case PCRE2_ERROR_JIT_STACKLIMIT:
        case PCRE2_ERROR_HEAPLIMIT:
            rc = match_counted(s, from, base, e);
            if (rc || from == s->len)
                return rc;
            from += char_len(s->text + from);
            break;
        default:
            return match_error(rc, base + from, e);
        }
        end = end_of_window(s, from);
        rc = match(s, v, end, from, PCRE2_NO_UTF_CHECK | (end < s->len ? PCRE2_PARTIAL_HARD : 0));
        if (rc >= 0)
            return 1;
    }
}

ptrdiff_t scan_regex(struct scan_regex *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                     unsigned char *is_match, size_t max, size_t base, struct err *e)
{
    assert(max >= 2);
    size_t n = 0;
    size_t from = *pos; /* where the next search starts */
    const size_t *place = pcre2_get_ovector_pointer(s->match);
    const struct version *v;
    if (*pos == 0 || text != s->text || len != s->len)
        begin(s, text, len);
    if (version_of(s, false, &v, e))
        return -1;
    size_t window = end_of_window(s, from);
    while (*pos < len && n + 2 <= max) {
        if (window - from < WINDOW && window < len)
            window = end_of_window(s, from);
        int rc = match(s, v, window, from, PCRE2_NO_UTF_CHECK | (window < len ? PCRE2_PARTIAL_HARD : 0));
        size_t start = place[0], end = place[1];
        if (rc >= 0 && start == *pos && end > start) { /* almost always */
            if (is_match)
                is_match[n] = true;
            ends[n++] = (uint32_t)end;
            *pos = from = end;
            continue;
        }
        if (rc < 0) {
            int found = next_match(s, v, rc, from, window, base, e);
            if (found < 0)
                return -1;
            start = found ? place[0] : len;
            end = found ? place[1] : len;
        }
        if (end == *pos) {
            from += char_len(text + from);
            continue;
        }
        if (start > *pos) {
            if (is_match)
                is_match[n] = false;
            ends[n++] = (uint32_t)start;
        }
        if (end > start) {
            if (is_match)
                is_match[n] = true;
            ends[n++] = (uint32_t)end;
        }
        *pos = from = end;
        window = end_of_window(s, from);
    }
    return (ptrdiff_t)n;
}

const char *scan_regex_version(char *buf, size_t n)
{
    char version[64];
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    version[strcspn(version, " ")] = '\0'; /* a date follows */
    snprintf(buf, n, "PCRE2 %s", version);
    return buf;
}
