/* pattern.c - see pattern.h. */
#include "pretok/pattern.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* The parts that cl100k and the patterns derived from it have in common, before and after \p{N}. */
#define BEFORE_NUMBERS CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define AFTER_NUMBERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"

/* The words of o200k: upper case, then lower case, at least one letter. `but` excludes characters from both classes;
 * `after` is what may follow a word. */
#define UPPER(but) "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}" but "]"
#define LOWER(but) "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}" but "]"
#define WORDS(but, after)                                                                                              \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER(but) "*" LOWER(but) "+" after "|"                                                   \
                                                       "[^\\r\\n\\p{L}\\p{N}]?" UPPER(but) "+" LOWER(but) "*" after    \
                                                                                                          "|"

static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
static const char cl100k[] = BEFORE_NUMBERS "\\p{N}{1,3}" AFTER_NUMBERS SPACES;
static const char cl100k_tiktoken[] = BEFORE_NUMBERS "\\p{N}{1,3}" AFTER_NUMBERS "\\s+\\z|" SPACES;
static const char nanochat[] = BEFORE_NUMBERS "\\p{N}{1,2}" AFTER_NUMBERS SPACES;
static const char qwen2[] = BEFORE_NUMBERS "\\p{N}" AFTER_NUMBERS SPACES;
static const char qwen35[] = CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
                                         "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES;
static const char o200k[] = WORDS("", CONTRACTION "?") "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;
static const char tekken[] = WORDS("", "") "\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;
static const char kimi_k2[] = "[\\p{Han}]+|" WORDS("&&[^\\p{Han}]", CONTRACTION "?") "\\p{N}{1,3}" AFTER_NUMBERS SPACES;
static const char superbpe[] = "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]{2,}[\\r\\n/]*| +(?!\\S)";

#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        (const unsigned char *)(literal), sizeof(literal) - 1                                                          \
    }

/* The second regex is [一-龥぀-ゟ゠-ヿ]+ */
static const struct str deepseek_v3[] = {
    TEXT("\\p{N}{1,3}"),
    TEXT("[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+"),
    TEXT("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
         "| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES),
};

static const struct str gpt2_digits[] = {TEXT(PATTERN_DIGIT), TEXT(gpt2)};

static const struct str superbpe_lines[] = {TEXT("[^\\n]*\\n|[^\\n]+"), TEXT(superbpe)};

#define ONE(regex) &(const struct str)TEXT(regex), 1
#define ALL(regexes) regexes, sizeof(regexes) / sizeof *(regexes)

static const struct pattern patterns[PATTERN_N] = {
    {PATTERN_GPT2, "gpt2", {NULL}, ONE(gpt2), true, false},
    {PATTERN_CL100K, "cl100k", {"llama3"}, ONE(cl100k), true, false},
    {PATTERN_CL100K_TIKTOKEN, "cl100k-tiktoken", {NULL}, ONE(cl100k_tiktoken), true, false},
    {PATTERN_NANOCHAT, "nanochat", {NULL}, ONE(nanochat), true, false},
    {PATTERN_QWEN2, "qwen2", {"qwen3"}, ONE(qwen2), true, false},
    {PATTERN_O200K, "o200k", {NULL}, ONE(o200k), true, false},
    {PATTERN_DEEPSEEK_V3, "deepseek-v3", {NULL}, ALL(deepseek_v3), true, false},
    {PATTERN_TEKKEN, "tekken", {NULL}, ONE(tekken), true, false},
    {PATTERN_QWEN35, "qwen3.5", {NULL}, ONE(qwen35), true, false},
    {PATTERN_KIMI_K2, "kimi-k2", {"kimi"}, ONE(kimi_k2), true, false},
    {PATTERN_GPT2_DIGITS, "gpt2-digits", {"starcoder2", "command-r"}, ALL(gpt2_digits), true, false},
    {PATTERN_SUPERBPE, "superbpe", {NULL}, ONE(superbpe), false, true},
    {PATTERN_SUPERBPE_LINES, "superbpe-lines", {NULL}, ALL(superbpe_lines), true, true},
    {PATTERN_BYTES, "bytes", {NULL}, NULL, 0, false, false},
};

/* Other spellings of the same regexes: the original release of GPT-2; tiktoken's gpt2 before 0.8 and since; tiktoken's
 * cl100k before 0.8 (which gives Hugging Face's pretokens) and since; nanochat's own. */
static const struct pattern_variant variants[] = {
    {PATTERN_GPT2, "'s|'t|'re|'ve|'m|'ll|'d| ?[\\p{L}]+| ?[\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", false},
    {PATTERN_GPT2, "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", false},
    {PATTERN_GPT2, "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s", false},
    {PATTERN_CL100K,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s+",
     false},
    {PATTERN_CL100K_TIKTOKEN,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| "
     "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s",
     true},
    {PATTERN_NANOCHAT,
     "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,2}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
     "|\\s+(?!\\S)|\\s+",
     false},
};

const struct pattern *pattern_at(size_t i)
{
    return i < PATTERN_N ? &patterns[i] : NULL;
}

static const char *names[(1 + PATTERN_ALIASES) * PATTERN_N + 1];

static void list_names(void)
{
    size_t n = 0;
    for (size_t i = 0; i < PATTERN_N; i++) {
        names[n++] = patterns[i].name;
        for (size_t k = 0; k < PATTERN_ALIASES && patterns[i].alias[k]; k++)
            names[n++] = patterns[i].alias[k];
    }
}

const char *const *pattern_names(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
    return names;
}

const struct pattern *pattern_find(struct str name)
{
    for (size_t i = 0; i < PATTERN_N; i++) {
        const struct pattern *p = &patterns[i];
        if (str_equal(str_of(p->name), name))
            return p;
        for (size_t k = 0; k < PATTERN_ALIASES && p->alias[k]; k++)
            if (str_equal(str_of(p->alias[k]), name))
                return p;
    }
    return NULL;
}

static void append(char *list, size_t cap, const char *before, const char *word)
{
    size_t n = strlen(list);
    snprintf(list + n, cap - n, "%s%s", before, word);
}

const struct pattern *pattern_named(const char *name, struct err *e)
{
    const struct pattern *found = pattern_find(str_of(name));
    char known[400] = "";
    if (found)
        return found;
    for (size_t i = 0; i < PATTERN_N; i++) {
        const struct pattern *p = &patterns[i];
        append(known, sizeof known, i ? ", " : "", p->name);
        for (size_t k = 0; k < PATTERN_ALIASES && p->alias[k]; k++)
            append(known, sizeof known, k ? ", " : " (", p->alias[k]);
        append(known, sizeof known, p->alias[0] ? ")" : "", "");
    }
    err_set(e, EX_USAGE, "-p %s: no such pattern; known patterns are %s", name, known);
    return NULL;
}

const struct pattern_variant *pattern_variant_at(size_t i)
{
    return i < sizeof variants / sizeof *variants ? &variants[i] : NULL;
}

/* Whether a regex has this text, taking a literal CR or LF in it as \r or \n. */
static bool is_text(struct str regex, const char *text)
{
    const unsigned char *p = regex.p, *end = p + regex.len;
    while (p < end && *text) {
        char escape = *p == '\r' ? 'r' : *p == '\n' ? 'n' : '\0';
        if (escape && text[0] == '\\' && text[1] == escape)
            text++;
        else if (*p != (unsigned char)*text)
            return false;
        p++;
        text++;
    }
    return p == end && !*text;
}

const struct pattern *pattern_by_regex(const struct str *regex, size_t n, enum pattern_dialect dialect)
{
    for (size_t i = 0; i < PATTERN_N; i++) {
        size_t same = 0;
        while (n == patterns[i].n_regex && same < n && is_text(regex[same], (const char *)patterns[i].regex[same].p))
            same++;
        if (n > 0 && same == n)
            return &patterns[i];
    }
    for (size_t i = 0; n == 1 && i < sizeof variants / sizeof *variants; i++)
        if ((dialect == PATTERN_PCRE || !variants[i].pcre_only) && is_text(*regex, variants[i].regex))
            return &patterns[variants[i].pattern];
    return NULL;
}
