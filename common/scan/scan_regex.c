/* scan_regex.c - see scan_regex.h.
 *
 * Between calls nothing but the document and the position is needed: the search starts at *pos. An empty match there
 * changes nothing, because *pos is a boundary already, so the search continues one character further. A gap and the
 * match after it are returned by one call: if the match were searched for again from the end of the gap, a regex with
 * \K could give another one.
 */
#include "scan/scan_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_LIMIT 10000000      /* steps of backtracking in one match */
#define HEAP_LIMIT (64u << 10)    /* KiB; only without JIT */
#define JIT_STACK_MIN (64u << 10) /* bytes */
#define JIT_STACK_MAX (8u << 20)

struct scan_regex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    bool jit;
};

/* Fills *e with PCRE2's message for an error number, after `where`. */
static void set_pcre2_error(struct err *e, int code, const char *where, size_t at, int number)
{
    PCRE2_UCHAR reason[256];
    pcre2_get_error_message(number, reason, sizeof reason);
    err_set(e, code, "%s %zu: %s", where, at, (const char *)reason);
}

static int open_matching(struct scan_regex *s, struct err *e)
{
    s->match = pcre2_match_data_create(1, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (!s->match || !s->context)
        return err_mem(e, "a regex match", sizeof *s);
    pcre2_set_match_limit(s->context, MATCH_LIMIT);
    pcre2_set_heap_limit(s->context, HEAP_LIMIT);

    size_t jit_size = 0;
    if (pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE) == 0)
        pcre2_pattern_info(s->code, PCRE2_INFO_JITSIZE, &jit_size);
    s->jit = jit_size > 0; /* 0 where PCRE2 has no JIT, or the regex begins with (*NO_JIT) */
    if (!s->jit)
        return 0;
    s->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
    if (!s->stack)
        return err_mem(e, "a regex stack", JIT_STACK_MAX);
    pcre2_jit_stack_assign(s->context, NULL, s->stack);
    return 0;
}

struct scan_regex *scan_regex_open(struct str regex, size_t nth, struct err *e)
{
    struct scan_regex *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a regex", sizeof *s);
        return NULL;
    }
    int number;
    size_t offset;
    /* \C could leave a match in the middle of a character. */
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
    s->code = pcre2_compile(regex.p, regex.len, options, &number, &offset, NULL);
    if (!s->code) {
        char where[60] = "regex, byte";
        if (nth > 0)
            snprintf(where, sizeof where, "regex %zu, byte", nth);
        set_pcre2_error(e, EX_USAGE, where, offset, number);
        goto fail;
    }
    if (open_matching(s, e) < 0)
        goto fail;
    return s;
fail:
    scan_regex_close(s);
    return NULL;
}

void scan_regex_close(struct scan_regex *s)
{
    if (!s)
        return;
    pcre2_jit_stack_free(s->stack);
    pcre2_match_context_free(s->context);
    pcre2_match_data_free(s->match);
    pcre2_code_free(s->code);
    free(s);
}

/* The meaning of a failed match. 0: there is no match; -1: an error. */
static int no_match(int rc, size_t from, struct err *e)
{
    switch (rc) {
    case PCRE2_ERROR_NOMATCH:
        return 0;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
    case PCRE2_ERROR_RECURSELOOP:
        set_pcre2_error(e, EX_DATAERR, "the regex backtracks too much to be matched from byte", from, rc);
        return -1;
    case PCRE2_ERROR_NOMEMORY:
        set_pcre2_error(e, EX_OSERR, "cannot match the regex from byte", from, rc);
        return -1;
    }
    set_pcre2_error(e, EX_SOFTWARE, "cannot match the regex from byte", from, rc);
    return -1;
}

/* Length of the character at p. */
static size_t char_len(const unsigned char *p)
{
    return *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
}

ptrdiff_t scan_regex(struct scan_regex *s, const unsigned char *text, size_t len, size_t *pos, uint32_t *ends,
                     size_t max, size_t base, struct err *e)
{
    assert(max >= 2);
    size_t n = 0;
    size_t from = *pos; /* where the next search starts */
    const size_t *ovector = pcre2_get_ovector_pointer(s->match);
    while (*pos < len && n + 2 <= max) {
        /* Faster than pcre2_match, which would check its arguments for each pretoken; both leave UTF-8 unchecked here.
         */
        int rc = s->jit ? pcre2_jit_match(s->code, text, len, from, PCRE2_NO_UTF_CHECK, s->match, s->context)
                        : pcre2_match(s->code, text, len, from, PCRE2_NO_UTF_CHECK, s->match, s->context);
        size_t start = ovector[0], end = ovector[1];
        if (rc >= 0 && start == *pos && end > start) { /* almost always */
            ends[n++] = (uint32_t)end;
            *pos = from = end;
            continue;
        }
        if (rc < 0) {
            if (no_match(rc, base + from, e))
                return -1;
            start = end = len;
        }
        if (start < *pos || end < start)
            return err_set(e, EX_DATAERR, "the regex matches bytes %zu to %zu, backwards (\\K called by a lookaround)",
                           base + start, base + end);
        if (end == *pos) {
            from += char_len(text + from);
            continue;
        }
        if (start > *pos)
            ends[n++] = (uint32_t)start;
        if (end > start)
            ends[n++] = (uint32_t)end;
        *pos = from = end;
    }
    return (ptrdiff_t)n;
}

const char *scan_regex_version(char *buf, size_t n)
{
    char version[64], unicode[64];
    pcre2_config(PCRE2_CONFIG_VERSION, version);
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
    version[strcspn(version, " ")] = '\0'; /* a date follows */
    snprintf(buf, n, "PCRE2 %s, Unicode %s", version, unicode);
    return buf;
}
