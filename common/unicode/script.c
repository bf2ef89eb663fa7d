/* script.c - see script.h. */
#include "unicode/script.h"

#include "base/sys/buf.h"
#include "unicode/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

enum { OTHERS = N_SCRIPTS - 1, POINTS = 0x110000 };

const char *const script_names[N_SCRIPTS] = {"none",         "Latin",      "Greek",
                                             "Cyrillic",     "Armenian",   "Georgian",
                                             "Hebrew",       "Arabic",     "Syriac",
                                             "Thaana",       "Nko",        "Ethiopic",
                                             "Tifinagh",     "Devanagari", "Bengali",
                                             "Gurmukhi",     "Gujarati",   "Oriya",
                                             "Tamil",        "Telugu",     "Kannada",
                                             "Malayalam",    "Sinhala",    "Thai",
                                             "Lao",          "Tibetan",    "Myanmar",
                                             "Khmer",        "Mongolian",  "Javanese",
                                             "Balinese",     "Sundanese",  "Han",
                                             "Hiragana",     "Katakana",   "Bopomofo",
                                             "Hangul",       "Yi",         "Canadian_Aboriginal",
                                             "Cherokee",     "Coptic",     "Gothic",
                                             "other scripts"};

/* Compiles an alternative for each script, with its number as the mark. sc: how the regex says that the script itself
 * counts, and not which scripts use the character. Returns PCRE2's error, 0 if there is none; -1: out of memory. */
static int compile(struct scripts *s, const char *sc, struct err *e)
{
    struct buf regex = {0};
    int rc = 0, number = 0;
    size_t offset;
    for (unsigned i = 1; i < OTHERS && !rc; i++)
        rc = buf_printf(&regex, e, "\\p{%s%s}(*:%u)|", sc, script_names[i], i);
    rc = rc || buf_printf(&regex, e, "[^\\p{%sCommon}\\p{%sInherited}\\p{%sUnknown}](*:%d)", sc, sc, sc, OTHERS);
    if (!rc)
        s->code = pcre2_compile(regex.p, regex.len, PCRE2_UTF | PCRE2_ANCHORED, &number, &offset, NULL);
    buf_free(&regex);
    return rc ? -1 : s->code ? 0 : number;
}

/* Before PCRE2 10.40, the name of a script stands for the script itself, and "sc:" is an error. */
int scripts_open(struct scripts *s, struct err *e)
{
    int number = compile(s, "sc:", e);
    if (number > 0)
        number = compile(s, "", e);
    if (number > 0) {
        PCRE2_UCHAR reason[256];
        pcre2_get_error_message(number, reason, sizeof reason);
        return err_set(e, EX_SOFTWARE, "PCRE2 does not know the scripts: %s", (const char *)reason);
    }
    if (number < 0)
        return -1;
    s->match = pcre2_match_data_create(1, NULL);
    s->known = calloc(POINTS, 1);
    return s->match && s->known ? 0 : err_mem(e, "the scripts", POINTS);
}

void scripts_close(struct scripts *s)
{
    pcre2_match_data_free(s->match);
    pcre2_code_free(s->code);
    free(s->known);
    *s = (struct scripts){0};
}

unsigned scripts_of(const struct scripts *s, uint32_t code_point)
{
    if (!s->known[code_point]) {
        unsigned char p[4];
        const size_t n = utf8_put(p, code_point);
        const int found = pcre2_match(s->code, p, n, 0, PCRE2_NO_UTF_CHECK, s->match, NULL);
        const char *mark = found > 0 ? (const char *)pcre2_get_mark(s->match) : NULL;
        s->known[code_point] = (unsigned char)(1 + (mark ? atoi(mark) : SCRIPT_NONE));
    }
    return s->known[code_point] - 1U;
}
