/* scan.c - the built-in patterns by name, and which scanner serves a pattern. See scan.h. */
#include "bpe/scan.h"

#include "bpe/scan_parts.h"
#include "bpe/scan_regex.h"
#include "bpe/scan_stages.h"
#include "bpe/uclass.h"
#include "sys/simd.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pattern "bytes": no split, the whole document is one pretoken. */
static size_t scan_whole(const unsigned char *text, size_t len, enum text_end end, size_t *pos, uint32_t *ends,
                         size_t max)
{
    (void)text;
    if (end != TEXT_DOC || *pos == len || max == 0)
        return 0;
    ends[0] = (uint32_t)len;
    *pos = len;
    return 1;
}

/* ---- The patterns ---- */

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* What is common to cl100k and its kin, before and behind \p{N}. */
#define BEFORE_NUMBERS CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define BEHIND_NUMBERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"

/* The two halves of a word of o200k. */
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
static const char cl100k[] = BEFORE_NUMBERS "\\p{N}{1,3}" BEHIND_NUMBERS SPACES;
static const char cl100k_tiktoken[] = BEFORE_NUMBERS "\\p{N}{1,3}" BEHIND_NUMBERS "\\s+\\z|" SPACES;
static const char nanochat[] = BEFORE_NUMBERS "\\p{N}{1,2}" BEHIND_NUMBERS SPACES;
static const char qwen2[] = BEFORE_NUMBERS "\\p{N}" BEHIND_NUMBERS SPACES;
static const char o200k[] = "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTION "?|"
                            "[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" CONTRACTION "?|"
                            "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;

#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        literal, sizeof literal - 1                                                                                    \
    }

/* The second is [一-龥぀-ゟ゠-ヿ]+ */
static const struct scan_text deepseek_v3[] = {
    TEXT("\\p{N}{1,3}"),
    TEXT("[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+"),
    TEXT("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
         "| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES),
};

#define ONE(name, alias, regex, cut_inside)                                                                            \
    {                                                                                                                  \
        name, alias, regex, &(const struct scan_text){regex, sizeof regex - 1}, 1, cut_inside                          \
    }

static const struct pattern patterns[] = {
    ONE("gpt2", NULL, gpt2, true),
    ONE("cl100k", "llama3", cl100k, true),
    ONE("cl100k-tiktoken", NULL, cl100k_tiktoken, true),
    ONE("nanochat", NULL, nanochat, true),
    ONE("qwen2", NULL, qwen2, true),
    ONE("o200k", NULL, o200k, true),
    {"deepseek-v3", NULL, NULL, deepseek_v3, sizeof deepseek_v3 / sizeof deepseek_v3[0], true},
    {"bytes", NULL, NULL, NULL, 0, false},
};

#define N_PATTERNS (sizeof patterns / sizeof patterns[0])

/* How each is scanned. */
static const struct {
    enum scan_name scanner;
    bool tail; /* by scan_tail */
} how[N_PATTERNS] = {
    {SCAN_GPT2, false},  {SCAN_CL100K, false}, {SCAN_CL100K, true},    {SCAN_NANOCHAT, false},
    {SCAN_QWEN2, false}, {SCAN_O200K, false},  {SCAN_DEEPSEEK, false}, {SCAN_WHOLE, false},
};

/* Other texts of the same: the release of GPT-2; tiktoken's of gpt2, the older one and that of 0.8 and later; the same
 * of cl100k, which is Hugging Face's before 0.8; nanochat's own. */
static const struct spelling spellings[] = {
    {"gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?[\\p{L}]+| ?[\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", false},
    {"gpt2", "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", false},
    {"gpt2", "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s", false},
    {"cl100k",
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s+",
     false},
    {"cl100k-tiktoken",
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| "
     "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s",
     true},
    {"nanochat",
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,2}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s+",
     false},
};

const struct pattern *pattern_at(size_t i)
{
    return i < N_PATTERNS ? &patterns[i] : NULL;
}

const struct pattern *pattern_find(const char *name)
{
    for (size_t i = 0; i < N_PATTERNS; i++)
        if (strcmp(patterns[i].name, name) == 0 || (patterns[i].alias && strcmp(patterns[i].alias, name) == 0))
            return &patterns[i];
    return NULL;
}

const struct pattern *pattern_named(const char *name, struct err *e)
{
    const struct pattern *found = pattern_find(name);
    char known[300] = "";
    if (found)
        return found;
    for (size_t i = 0; i < N_PATTERNS; i++) {
        const struct pattern *p = &patterns[i];
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, p->alias ? "%s%s (%s)" : "%s%s", i ? ", " : "", p->name, p->alias);
    }
    err_set(e, EX_USAGE, "-p %s: no such pattern; there are %s", name, known);
    return NULL;
}

bool pattern_spelling(size_t i, struct spelling *out)
{
    if (i >= sizeof spellings / sizeof spellings[0])
        return false;
    *out = spellings[i];
    return true;
}

/* Whether a regex has this text, CR and LF in it being \r and \n. */
static bool is_text(struct scan_text regex, const char *text)
{
    const char *p = regex.p, *end = p + regex.len;
    while (p < end && *text) {
        char escape = *p == '\r' ? 'r' : *p == '\n' ? 'n' : '\0';
        if (escape && text[0] == '\\' && text[1] == escape)
            text++;
        else if (*p != *text)
            return false;
        p++;
        text++;
    }
    return p == end && !*text;
}

const struct pattern *pattern_by_regex(const struct scan_text *regex, size_t n, enum scan_dialect dialect)
{
    for (size_t i = 0; i < N_PATTERNS; i++) {
        size_t same = 0;
        while (n == patterns[i].n_regexes && same < n && is_text(regex[same], patterns[i].regexes[same].p))
            same++;
        if (n > 0 && same == n)
            return &patterns[i];
    }
    for (size_t i = 0; n == 1 && i < sizeof spellings / sizeof spellings[0]; i++)
        if ((dialect == SCAN_PCRE || !spellings[i].pcre_only) && is_text(*regex, spellings[i].regex))
            return pattern_find(spellings[i].pattern);
    return NULL;
}

/* ---- Scanners ---- */

struct scanner {
    const struct pattern *pattern;
    scan_fn *scan; /* of a built-in pattern, or */
    bool tail;
    struct scan_regex *regex;   /* a regex by a user, or */
    struct scan_stages *stages; /* several */
};

/* The best scanner of the name. */
static scan_fn *scanner_for(enum scan_name name)
{
    static scan_fn *const plain[SCAN_N] = {
        [SCAN_GPT2] = scan_gpt2,   [SCAN_CL100K] = scan_cl100k, [SCAN_NANOCHAT] = scan_nanochat,
        [SCAN_QWEN2] = scan_qwen2, [SCAN_O200K] = scan_o200k,   [SCAN_DEEPSEEK] = scan_deepseek,
        [SCAN_WHOLE] = scan_whole,
    };
    static scan_fn *const *const all[SIMD_N] = {plain, scan_neon, scan_sse2, scan_avx2, scan_avx512};
    size_t level = simd_level();
    while (!all[level][name])
        level--;
    return all[level][name];
}

struct scanner *scanner_open(const struct pattern *pattern, const struct scan_text *regex, size_t n_regex,
                             struct err *e)
{
    struct scanner *s = calloc(1, sizeof *s);
    if (!s) {
        err_mem(e, "a scanner", sizeof *s);
        return NULL;
    }
    s->pattern = pattern;
    if (pattern) {
        s->scan = scanner_for(how[pattern - patterns].scanner);
        s->tail = how[pattern - patterns].tail;
        return s;
    }
    assert(n_regex > 0);
    if (n_regex == 1)
        s->regex = scan_regex_open(regex->p, regex->len, 0, e);
    else
        s->stages = scan_stages_open(regex, n_regex, e);
    if (!s->regex && !s->stages) {
        free(s);
        return NULL;
    }
    return s;
}

void scanner_close(struct scanner *s)
{
    if (s) {
        scan_regex_close(s->regex);
        scan_stages_close(s->stages);
    }
    free(s);
}

const struct pattern *scanner_pattern(const struct scanner *s)
{
    return s->pattern;
}

bool scanner_streams(const struct scanner *s)
{
    return s->scan && s->scan != scan_whole;
}

ptrdiff_t scanner_scan(struct scanner *s, const unsigned char *text, size_t len, enum text_end end, size_t *pos,
                       uint32_t *ends, size_t max, struct err *e)
{
    assert(*pos <= len && len <= SCAN_MAX_WINDOW);
    assert(end != TEXT_LETTER || scanner_streams(s));
    assert(end != TEXT_LETTER || len == 0 || text[len - 1] == '\n');
    if (s->tail)
        return (ptrdiff_t)scan_tail(s->scan, text, len, end, pos, ends, max);
    if (s->scan)
        return (ptrdiff_t)s->scan(text, len, end, pos, ends, max);
    if (end == TEXT_MORE)
        return 0;
    if (s->stages)
        return scan_stages(s->stages, text, len, pos, ends, max, e);
    return scan_regex(s->regex, text, len, pos, ends, max, 0, e);
}

const char *scanner_version(char *buf, size_t n, const char *program)
{
    char regex[100];
    snprintf(buf, n, "%s (Unicode %s; -e: %s)\n", program, uclass_version, scan_regex_version(regex, sizeof regex));
    return buf;
}
