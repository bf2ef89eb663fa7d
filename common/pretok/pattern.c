/* pattern.c - see pattern.h. */
#include "pretok/pattern.h"

#include <stdio.h>
#include <string.h>

#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* The parts that cl100k and the patterns derived from it have in common, before and after \p{N}. */
#define BEFORE_NUMBERS CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define AFTER_NUMBERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"

/* The two halves of a word of o200k. */
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
static const char cl100k[] = BEFORE_NUMBERS "\\p{N}{1,3}" AFTER_NUMBERS SPACES;
static const char cl100k_tiktoken[] = BEFORE_NUMBERS "\\p{N}{1,3}" AFTER_NUMBERS "\\s+\\z|" SPACES;
static const char nanochat[] = BEFORE_NUMBERS "\\p{N}{1,2}" AFTER_NUMBERS SPACES;
static const char qwen2[] = BEFORE_NUMBERS "\\p{N}" AFTER_NUMBERS SPACES;
static const char o200k[] = "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTION "?|"
                            "[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" CONTRACTION "?|"
                            "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES;

#define TEXT(literal)                                                                                                  \
    {                                                                                                                  \
        (const unsigned char *)(literal), sizeof(literal) - 1                                                          \
    }

/* The second is [一-龥぀-ゟ゠-ヿ]+ */
static const struct str deepseek_v3[] = {
    TEXT("\\p{N}{1,3}"),
    TEXT("[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+"),
    TEXT("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
         "| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES),
};

#define ONE(regex) &(const struct str)TEXT(regex), 1

static const struct pattern patterns[PATTERN_N] = {
    {PATTERN_GPT2, "gpt2", NULL, ONE(gpt2), true},
    {PATTERN_CL100K, "cl100k", "llama3", ONE(cl100k), true},
    {PATTERN_CL100K_TIKTOKEN, "cl100k-tiktoken", NULL, ONE(cl100k_tiktoken), true},
    {PATTERN_NANOCHAT, "nanochat", NULL, ONE(nanochat), true},
    {PATTERN_QWEN2, "qwen2", NULL, ONE(qwen2), true},
    {PATTERN_O200K, "o200k", NULL, ONE(o200k), true},
    {PATTERN_DEEPSEEK_V3, "deepseek-v3", NULL, deepseek_v3, sizeof deepseek_v3 / sizeof *deepseek_v3, true},
    {PATTERN_BYTES, "bytes", NULL, NULL, 0, false},
};

/* Other spellings of the same regexes: the release of GPT-2; tiktoken's gpt2, before 0.8 and since; the same for
 * cl100k, where Hugging Face's is tiktoken's before 0.8; nanochat's own. */
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

const char *const *pattern_names(void)
{
    static const char *names[2 * PATTERN_N + 1];
    size_t n = 0;
    for (size_t i = 0; i < PATTERN_N; i++) {
        names[n++] = patterns[i].name;
        if (patterns[i].alias)
            names[n++] = patterns[i].alias;
    }
    return names;
}

const struct pattern *pattern_find(struct str name)
{
    for (size_t i = 0; i < PATTERN_N; i++) {
        const struct pattern *p = &patterns[i];
        if (str_equal(str_of(p->name), name) || (p->alias && str_equal(str_of(p->alias), name)))
            return p;
    }
    return NULL;
}

const struct pattern *pattern_named(const char *name, struct err *e)
{
    const struct pattern *found = pattern_find(str_of(name));
    char known[300] = "";
    if (found)
        return found;
    for (size_t i = 0; i < PATTERN_N; i++) {
        const struct pattern *p = &patterns[i];
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, p->alias ? "%s%s (%s)" : "%s%s", i ? ", " : "", p->name, p->alias);
    }
    err_set(e, EX_USAGE, "-p %s: no such pattern; there are %s", name, known);
    return NULL;
}

const struct pattern_variant *pattern_variant_at(size_t i)
{
    return i < sizeof variants / sizeof *variants ? &variants[i] : NULL;
}

/* Whether a regex has this text, where a CR or LF in it equals \r or \n. */
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
