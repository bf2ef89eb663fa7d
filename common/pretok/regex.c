/* regex.c - see regex.h.
 *
 * One pass, by recursive descent: each item is appended to the output as it is read. The repetition that follows it
 * then completes or rewrites that output.
 */
#include "pretok/regex.h"

#include "pretok/regex_internal.h"
#include "unicode/char_set.h"
#include "unicode/ugc.h"
#include "unicode/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MANY UINT32_MAX /* characters: no upper bound */

enum { DEPTH = 100, BEHIND = 255 }; /* levels of nested groups; characters in a lookbehind */

/* Callout numbers: BLOCK stands for BLOCK_LEN characters, and each later number for twice as many as the one before. */
enum { ITERATION = 1, BLOCK = 2, LARGE_BLOCK = 5, BLOCK_LEN = 64, LARGE_BLOCK_LEN = 512 };
/* A class of more than LARGE_ATOM bytes is written only twice for blocks, one of more than HUGE_ATOM bytes once,
 * because PCRE2 limits the size of a regex. */
enum { LARGE_ATOM = 100, HUGE_ATOM = 1000 };

struct parser {
    const unsigned char *start, *p, *end;
    const unsigned char *fresh; /* start of the innermost group, where (?i) is allowed */
    struct buf *out;
    struct buf atom;      /* for counted repetitions */
    struct char_set *set; /* receives the members of a class; NULL: they are written */
    struct regex_uses uses;
    unsigned form, dialects;
    size_t nth, n_inner, n_cuts; /* so far: nested classes; && and negated classes */
    int depth;
    bool caseless, behind; /* (?i); in a lookbehind */
    struct err *e;
};

/* What an item or a branch matches. */
struct part {
    uint32_t min, max; /* characters */
    unsigned folds;    /* of its caseless letters: see fold_of */
    bool single;       /* one character: a literal or a class */
    bool run, lazy;    /* one such character with a greedy repetition; one item with a lazy repetition */
};

/* ---- Errors ---- */

static int fail(const struct parser *p, const unsigned char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(const struct parser *p, const unsigned char *at, const char *fmt, ...)
{
    char what[300], number[30] = "";
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (p->nth)
        snprintf(number, sizeof number, " %zu", p->nth);
    return err_set(p->e, EX_USAGE, "regex%s, byte %zu: %s", number, (size_t)(at - p->start), what);
}

/* The error for an unsupported construct, the n bytes at `at`. */
static int refuse(const struct parser *p, const unsigned char *at, size_t n)
{
    if (n > (size_t)(p->end - at))
        n = (size_t)(p->end - at);
    while (at + n < p->end && (at[n] & 0xC0) == 0x80)
        n++;
    return fail(p, at, "%.*s is not supported, as regex engines may read it differently; see REGEXES in bpe-chunk(1)",
                (int)n, (const char *)at);
}

/* ---- Writing ---- */

static int put(struct parser *p, const char *s)
{
    return buf_put_str(p->out, s, p->e);
}

static int put_range(struct parser *p, uint32_t first, uint32_t last)
{
    return p->set ? char_set_add(p->set, first, last, p->e) : regex_put_range(p->out, first, last, p->e);
}

/* Writes a set, after sorting it; or adds it to p->set. */
static int put_set(struct parser *p, struct char_set *set, bool negated, bool in_class)
{
    const struct char_range none = {0, 0x10FFFF};
    if (char_set_complement(set, p->e) || (!negated && char_set_complement(set, p->e)))
        return -1;
    if (p->set)
        return char_set_add_all(p->set, set, p->e);
    if (!in_class && put(p, set->n ? "[" : "[^"))
        return -1;
    for (size_t i = 0; i < set->n; i++)
        if (put_range(p, set->range[i].first, set->range[i].last))
            return -1;
    if (!in_class && ((!set->n && put_range(p, none.first, none.last)) || put(p, "]")))
        return -1;
    return 0;
}

static int put_categories(struct parser *p, const char *name, bool negated, bool in_class)
{
    uint32_t mask = ugc_mask(name, strlen(name));
    if (p->set)
        return char_set_add_categories(p->set, negated ? ~mask : mask, p->e);
    p->uses.categories |= mask;
    return regex_put_category(p->out, p->form, name, negated, in_class, p->e);
}

/* ---- Characters ---- */

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint32_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Reads the character at p->p; the text must be valid UTF-8. */
static uint32_t next_char(struct parser *p)
{
    uint32_t c = *p->p++;
    size_t more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    c &= more ? 0x3FU >> more : 0xFF;
    for (; more; more--)
        c = c << 6 | (*p->p++ & 0x3F);
    return c;
}

/* The bit of an ASCII letter that is part of a sequence that Oniguruma folds to one character (ss, ff, fi, fl, st); 0
 * for any other. */
static unsigned fold_of(uint32_t letter)
{
    static const char letters[] = "filst";
    const char *found = memchr(letters, (int)(letter | 0x20), sizeof letters - 1);
    return is_letter(letter) && found ? 1U << (found - letters) : 0;
}

/* Whether a letter in `before` followed by one in `after` is such a sequence. */
static bool may_fold(unsigned before, unsigned after)
{
    enum { F = 1, I = 2, L = 4, S = 8, T = 16 };
    return (before & F && after & (F | I | L)) || (before & S && after & (S | T));
}

/* Whether a character other than an ASCII letter is known to have no other case. */
static bool has_no_case(uint32_t c)
{
    const uint32_t without = ugc_mask("P", 1) | ugc_mask("Z", 1) | ugc_mask("Sc", 2) | ugc_mask("Sm", 2) |
                             ugc_mask("Nd", 2) | ugc_mask("Cc", 2) | ugc_mask("Sk", 2);
    return without >> ugc_of(c) & 1;
}

/* Writes the ASCII letter in its other case, and the other characters that fold to it. */
static int put_other_cases(struct parser *p, uint32_t letter)
{
    uint32_t lower = letter | 0x20;
    if (put_range(p, letter ^ 0x20, letter ^ 0x20) || (lower == 's' && put_range(p, 0x17F, 0x17F)) ||
        (lower == 'k' && put_range(p, 0x212A, 0x212A)))
        return -1;
    return 0;
}

static int hex_value(unsigned char c)
{
    unsigned char lower = c | 0x20;
    return is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* After \x: HH or {H...}. */
static int read_hex(struct parser *p, const unsigned char *at, uint32_t *c)
{
    bool braces = p->p < p->end && *p->p == '{';
    size_t n = 0;
    *c = 0;
    p->p += braces;
    for (; p->p < p->end && hex_value(*p->p) >= 0 && n < (braces ? 8 : 2); n++)
        *c = *c << 4 | (uint32_t)hex_value(*p->p++);
    if (braces ? !n || p->p == p->end || *p->p++ != '}' || *c > 0x10FFFF || (*c >= 0xD800 && *c <= 0xDFFF)
               : n != 2 || *c >= 0x80)
        return refuse(p, at, (size_t)(p->p - at));
    return 0;
}

enum escape { ESCAPE_CHAR, ESCAPE_CLASS, ESCAPE_OTHER };

/* Reads the escape at p->p. A character goes to *c; a class, or anything else, is not consumed. */
static int read_escape(struct parser *p, uint32_t *c)
{
    static const char controls[] = "tnrfae", values[] = "\t\n\r\f\a\033";
    const unsigned char *at = p->p;
    if (p->end - at < 2)
        return fail(p, at, "a backslash at the end");
    const char *control = memchr(controls, at[1], sizeof controls - 1);
    if (control || (at[1] > 0x1F && at[1] < 0x7F && !is_letter(at[1]) && !is_digit(at[1]))) {
        if (strchr("<>", at[1]) && p->dialects & 1U << PATTERN_PCRE) /* word boundaries in fancy-regex */
            return refuse(p, at, 2);
        *c = control ? (uint32_t)values[control - controls] : at[1];
        p->p += 2;
        return ESCAPE_CHAR;
    }
    if (at[1] == 'x') {
        p->p += 2;
        return read_hex(p, at, c) ? -1 : ESCAPE_CHAR;
    }
    return strchr("dDsSpP", at[1]) && at[1] ? ESCAPE_CLASS : ESCAPE_OTHER;
}

static int put_space(struct parser *p, bool negated, bool in_class)
{
    struct char_set set = {0};
    if (!p->set) {
        p->uses.space = true;
        return regex_put_space(p->out, p->form, negated, in_class, p->e);
    }
    int rc = char_set_add_space(&set, p->e) || put_set(p, &set, negated, true) ? -1 : 0;
    char_set_free(&set);
    return rc;
}

static int put_han(struct parser *p, bool negated, bool in_class)
{
    struct char_set set = {0};
    int rc = char_set_add_han(&set, p->e) || put_set(p, &set, negated, in_class) ? -1 : 0;
    char_set_free(&set);
    return rc;
}

/* Writes the class of the escape at p->p. */
static int take_class_escape(struct parser *p, bool in_class)
{
    const unsigned char *at = p->p, *name;
    unsigned char kind = at[1];
    char text[3] = "";
    bool negated = kind == 'D' || kind == 'S' || kind == 'P';
    p->p += 2;
    if (p->caseless && in_class && negated) /* a letter in it may match several in Oniguruma */
        return refuse(p, at, 2);
    if (kind == 's' || kind == 'S')
        return put_space(p, negated, in_class);
    if (kind == 'd' || kind == 'D')
        return put_categories(p, "Nd", negated, in_class);
    if (p->p == p->end || *p->p != '{')
        return refuse(p, at, 3);
    name = ++p->p;
    if (name < p->end && *name == '^') {
        negated = !negated;
        name++;
    }
    while (p->p < p->end && *p->p != '}')
        p->p++;
    size_t n = (size_t)(p->p - name);
    bool han = n == 3 && !memcmp(name, "Han", 3);
    if (p->p == p->end || p->caseless || (!han && (n == 0 || n > 2 || !ugc_mask((const char *)name, n))))
        return refuse(p, at, (size_t)(p->p - at) + 1);
    p->p++;
    if (han)
        return put_han(p, negated, in_class);
    memcpy(text, name, n);
    return put_categories(p, text, negated, in_class);
}

/* ---- Classes in brackets ---- */

/* Reads a member of a class: a character (*is_char) goes to *c, a class is written. */
static int take_member(struct parser *p, uint32_t *c, bool *is_char)
{
    const unsigned char *at = p->p;
    *is_char = true;
    if (*at == '[' || (*at == '&' && p->end - at > 1 && at[1] == '&') ||
        (p->dialects & 1U << PATTERN_PCRE && *at == '~' && p->end - at > 1 && at[1] == '~'))
        return refuse(p, at, *at == '[' ? 1 : 2);
    if (*at != '\\') {
        *c = next_char(p);
        return 0;
    }
    int found = read_escape(p, c);
    if (found == ESCAPE_OTHER)
        return refuse(p, at, 2);
    *is_char = found == ESCAPE_CHAR;
    if (found < 0 || (found == ESCAPE_CLASS && take_class_escape(p, true)))
        return -1;
    return 0;
}

/* Writes the characters from first to last and, with (?i), their other cases. */
static int put_members(struct parser *p, const unsigned char *at, uint32_t first, uint32_t last, struct part *part)
{
    if (first > last)
        return fail(p, at, "a range that ends before it begins");
    if (put_range(p, first, last))
        return -1;
    if (p->caseless && last >= 0x80 && (first != last || !has_no_case(first)))
        return refuse(p, at, (size_t)(p->p - at));
    for (uint32_t c = first; p->caseless && c <= last && c < 0x80; c++) {
        part->folds |= fold_of(c);
        if (is_letter(c) && put_other_cases(p, c))
            return -1;
    }
    return 0;
}

/* Reads a member of a class, or a range of them, at p->p. A - is a character if it comes first or last. */
static int take_members(struct parser *p, bool first, struct part *part)
{
    const unsigned char *at = p->p;
    uint32_t c = 0, last;
    bool is_char, is_last;
    if (*at == '-' && !first && p->end - at > 1 && at[1] != ']')
        return refuse(p, at, 1);
    if (take_member(p, &c, &is_char))
        return -1;
    last = c;
    if (p->end - p->p > 1 && *p->p == '-' && p->p[1] != ']') {
        p->p++;
        if (*p->p == '-' || !is_char || (*at == '-' && first))
            return refuse(p, p->p - 1, 1);
        if (take_member(p, &last, &is_last))
            return -1;
        if (!is_last)
            return refuse(p, at, (size_t)(p->p - at));
    }
    return is_char ? put_members(p, at, c, last, part) : 0;
}

/* ---- Nested classes ---- */

/* Whether the class at p->p contains another class or a &&. */
static bool has_classes(const struct parser *p)
{
    const unsigned char *at = p->p + 1;
    at += at < p->end && *at == '^';
    for (bool first = true; at < p->end && (*at != ']' || first); at++, first = false) {
        if (*at == '[' || (*at == '&' && p->end - at > 1 && at[1] == '&'))
            return true;
        at += *at == '\\';
    }
    return false;
}

/* Adds a complete operand of &&: *all becomes its intersection with the operands before. */
static int take_operand(struct char_set *all, struct char_set *operand, bool first, struct err *e)
{
    if (first)
        return char_set_add_all(all, operand, e);
    return char_set_intersect(all, operand, e);
}

static bool is_ascii(const struct char_set *set)
{
    size_t i = 0;
    while (i < set->n && set->range[i].last < 0x80)
        i++;
    return i == set->n;
}

static int read_class(struct parser *p, struct char_set *set, struct part *part);

/* Reads the members of a class, up to its ] or a &&. */
static int read_operand(struct parser *p, const unsigned char *open, bool first, struct part *part)
{
    const unsigned char *from = p->p;
    struct char_set *set = p->set, inner = {0};
    int rc = 0;
    for (; !rc; first = false) {
        const unsigned char *at = p->p;
        size_t left = (size_t)(p->end - at);
        if (!left)
            return fail(p, open, "a [ without its ]");
        if ((*at == ']' && !first) || (left > 1 && at[0] == '&' && at[1] == '&'))
            return at == from ? refuse(p, at, *at == ']' ? 1 : 2) : 0;
        if (*at != '[') {
            rc = take_members(p, first, part);
            continue;
        }
        if (left > 1 && at[1] == ':')
            return refuse(p, at, 2);
        p->set = NULL;
        p->n_inner++;
        rc = read_class(p, &inner, part) || char_set_add_all(set, &inner, p->e) ? -1 : 0;
        p->set = set;
        char_set_free(&inner);
    }
    return rc;
}

/* Reads the class at p->p: its members, nested classes and intersections (&&). If a negated class contains another
 * class, and && or a second negation, Oniguruma may lose all characters from U+0080 on unless the negated part contains
 * one of them. So this is refused. */
static int read_class(struct parser *p, struct char_set *set, struct part *part)
{
    const unsigned char *open = p->p++;
    const size_t n_inner = p->n_inner, n_cuts = p->n_cuts;
    bool negated = p->p < p->end && *p->p == '^', first = true;
    struct char_set operand = {0};
    int rc = 0;
    p->p += negated;
    if (p->depth++ == DEPTH)
        return fail(p, open, "more than %d nested groups", DEPTH);
    do {
        p->n_cuts += !first;
        p->p += first ? 0 : 2; /* && */
        p->set = &operand;
        rc = read_operand(p, open, first, part);
        p->set = NULL;
        if (!rc)
            rc = take_operand(set, &operand, first, p->e);
        char_set_free(&operand);
        first = false;
    } while (!rc && *p->p == '&');
    p->p += !rc;
    p->depth--;
    if (!rc && negated && p->n_inner > n_inner && p->n_cuts > n_cuts && is_ascii(set))
        return refuse(p, open, (size_t)(p->p - open));
    p->n_cuts += negated;
    return rc || (negated && char_set_complement(set, p->e)) ? -1 : 0;
}

static int take_classes(struct parser *p, struct part *part)
{
    struct char_set set = {0};
    int rc = read_class(p, &set, part) || put_set(p, &set, false, false) ? -1 : 0;
    char_set_free(&set);
    return rc;
}

/* [...], at p->p. */
static int take_brackets(struct parser *p, struct part *part)
{
    if (!p->caseless && has_classes(p))
        return take_classes(p, part);
    const unsigned char *open = p->p++;
    bool negated = p->p < p->end && *p->p == '^';
    p->p += negated;
    if (put(p, negated ? "[^" : "["))
        return -1;
    for (bool first = true;; first = false) {
        if (p->p == p->end)
            return fail(p, open, "a [ without its ]");
        if (*p->p == ']' && !first)
            break;
        if (take_members(p, first, part))
            return -1;
    }
    p->p++;
    return put(p, "]");
}

/* ---- Groups ---- */

static int take_branches(struct parser *p, struct part *all);

enum group { GROUP, GROUP_BEHIND, GROUP_LOOK, GROUP_ATOMIC, GROUP_CAPTURE, GROUP_OPTION };

struct group_kind {
    const char *text; /* in the regex */
    const char *put;  /* for PCRE2: no group is numbered, as nothing can refer to it */
    enum group group;
    int caseless; /* 1, 0; -1: as outside */
};

static const struct group_kind groups[] = {
    {"(?:", "(?:", GROUP, -1},          {"(?i:", "(?:", GROUP, 1},         {"(?-i:", "(?:", GROUP, 0},
    {"(?i)", "", GROUP_OPTION, 1},      {"(?-i)", "", GROUP_OPTION, 0},    {"(?>", "(?>", GROUP_ATOMIC, -1},
    {"(?=", "(?=", GROUP_LOOK, -1},     {"(?!", "(?!", GROUP_LOOK, -1},    {"(?<=", "(?<=", GROUP_BEHIND, -1},
    {"(?<!", "(?<!", GROUP_BEHIND, -1}, {"(?<", "(?:", GROUP_CAPTURE, -1}, {"(", "(?:", GROUP_CAPTURE, -1},
};

/* Finds the kind of the group that begins at p->p, and moves past its opening. NULL: an error. */
static const struct group_kind *open_group(struct parser *p)
{
    const unsigned char *at = p->p;
    size_t left = (size_t)(p->end - at);
    for (const struct group_kind *k = groups;; k++) {
        size_t n = strlen(k->text);
        if (n > left || memcmp(at, k->text, n) != 0)
            continue;
        p->p += n;
        if (n == 1 && left > 1 && (at[1] == '?' || at[1] == '*')) {
            refuse(p, at, at[1] == '*' ? 2 : 3);
            return NULL;
        }
        if (k->text[n - 1] != '<')
            return k;
        while (p->p < p->end && (is_letter(*p->p) || *p->p == '_' || (is_digit(*p->p) && p->p > at + n)))
            p->p++;
        if (p->p < p->end && *p->p == '>' && p->p++ > at + n)
            return k;
        refuse(p, at, 3);
        return NULL;
    }
}

static int take_group(struct parser *p, struct part *part)
{
    const unsigned char *at = p->p, *fresh = p->fresh;
    const struct group_kind *kind = open_group(p);
    size_t to = p->out->len;
    bool caseless = p->caseless, behind = p->behind;
    if (!kind)
        return -1;
    if (kind->group == GROUP_OPTION ? at != fresh : behind && kind->group != GROUP)
        return refuse(p, at, (size_t)(p->p - at));
    if (kind->caseless >= 0)
        p->caseless = kind->caseless;
    if (kind->group == GROUP_OPTION) { /* until the group ends */
        p->fresh = p->p;
        return 0;
    }
    if (p->depth++ == DEPTH)
        return fail(p, at, "more than %d nested groups", DEPTH);
    p->behind = behind || kind->group == GROUP_BEHIND;
    if (put(p, kind->put) || take_branches(p, part))
        return -1;
    if (p->p == p->end)
        return fail(p, at, "a ( without its )");
    p->p++;
    p->depth--;
    p->caseless = caseless;
    p->behind = behind;
    bool run = part->run && kind->group == GROUP_ATOMIC;
    if (kind->group == GROUP_LOOK || kind->group == GROUP_BEHIND)
        *part = (struct part){0};
    part->lazy = part->lazy && kind->group == GROUP;
    part->single = part->run = false;
    if (run && !(p->form & REGEX_COUNTED)) { /* (?>x{n,m}) is (?:x{n,m}+) */
        p->out->p[to + 2] = ':';
        return put(p, "+)");
    }
    p->uses.atomic = p->uses.atomic || kind->group == GROUP_ATOMIC;
    return put(p, ")");
}

/* ---- Repetitions ---- */

struct repetition {
    uint32_t min, max;
    const char *mode; /* "", "?" lazy, "+" possessive */
};

static bool begins_repetition(const struct parser *p)
{
    return p->p < p->end &&
           (strchr("*+?", *p->p) ? *p->p != '\0'
                                 : *p->p == '{' && p->end - p->p > 1 && (is_digit(p->p[1]) || p->p[1] == ','));
}

/* Reads at most six digits, enough for a number that is too large; false: there are none. */
static bool read_number(struct parser *p, uint32_t *n)
{
    const unsigned char *at = p->p;
    for (*n = 0; p->p < p->end && is_digit(*p->p) && p->p - at < 6; p->p++)
        *n = *n * 10 + (uint32_t)(*p->p - '0');
    return p->p > at;
}

/* {n}, {n,} or {n,m} at p->p. */
static int read_braces(struct parser *p, struct repetition *r)
{
    const unsigned char *at = p->p++;
    bool found = read_number(p, &r->min);
    r->max = r->min;
    if (found && p->p < p->end && *p->p == ',') {
        p->p++;
        r->max = MANY;
        if (p->p < p->end && *p->p != '}')
            found = read_number(p, &r->max);
    }
    if (!found || p->p == p->end || *p->p++ != '}') {
        const unsigned char *close = memchr(at, '}', (size_t)(p->end - at));
        return refuse(p, at, close ? (size_t)(close - at) + 1 : 1);
    }
    if (r->min > 65535 || (r->max > 65535 && r->max != MANY) || r->max < r->min || !r->max)
        return fail(p, at, "{n,m} needs n <= m <= 65535 and m > 0");
    return 0;
}

/* Reads the repetition at p->p. 1; 0: there is none; -1: error. */
static int read_repetition(struct parser *p, struct repetition *r)
{
    const unsigned char *at = p->p;
    if (!begins_repetition(p))
        return 0;
    bool braces = *at == '{';
    if (braces) {
        if (read_braces(p, r))
            return -1;
    } else {
        *r = (struct repetition){.min = *at == '+', .max = *at == '?' ? 1 : MANY};
        p->p++;
    }
    r->mode = "";
    if (p->p < p->end && (*p->p == '?' || *p->p == '+')) {
        r->mode = *p->p++ == '?' ? "?" : "+";
        if (braces && (*r->mode == '?' ? r->min == r->max : p->dialects & 1U << PATTERN_ONIGURUMA)) {
            if (*r->mode == '+')
                return fail(p, at,
                            "%.*s: after {n,m} a + makes it possessive in some regex engines and repeats it in others; "
                            "write (?>...{n,m})",
                            (int)(p->p - at), (const char *)at);
            return refuse(p, at, (size_t)(p->p - at));
        }
    }
    return begins_repetition(p) ? refuse(p, at, (size_t)(p->p - at) + 1) : 1;
}

static int put_repetition(struct parser *p, const struct repetition *r)
{
    int rc = r->max == MANY && r->min < 2 ? put(p, r->min ? "+" : "*")
             : r->max == 1 && !r->min     ? put(p, "?")
             : r->max == MANY             ? buf_printf(p->out, p->e, "{%u,}", (unsigned)r->min)
             : r->max == r->min           ? buf_printf(p->out, p->e, "{%u}", (unsigned)r->min)
                                          : buf_printf(p->out, p->e, "{%u,%u}", (unsigned)r->min, (unsigned)r->max);
    if (rc || put(p, r->mode))
        return -1;
    return 0;
}

static int put_atom(struct parser *p, const char *before, const char *after)
{
    if (put(p, before) || buf_put(p->out, p->atom.p, p->atom.len, p->e) || put(p, after))
        return -1;
    return 0;
}

/* Writes an unbounded repetition of a character as large blocks, small blocks and the rest. Lengths are tried in the
 * same order as without blocks: decreasing or, for a lazy repetition, increasing. (Large blocks save memory: PCRE2
 * keeps a frame for each block.) */
static int put_blocks(struct parser *p, const char *mode)
{
    char large[60], small[60], rest[60];
    bool has_large = p->atom.len <= LARGE_ATOM;
    snprintf(large, sizeof large, "{%d}(?C%d))*%s", LARGE_BLOCK_LEN, LARGE_BLOCK, mode);
    if (has_large)
        snprintf(small, sizeof small, "{%d}(?C%d)){0,%d}%s", BLOCK_LEN, BLOCK, LARGE_BLOCK_LEN / BLOCK_LEN - 1, mode);
    else
        snprintf(small, sizeof small, "{%d}(?C%d))*%s", BLOCK_LEN, BLOCK, mode);
    snprintf(rest, sizeof rest, "{0,%d}%s", BLOCK_LEN - 1, mode);
    if ((has_large && put_atom(p, "(?:", large)) || put_atom(p, "(?:", small) || put_atom(p, "", rest))
        return -1;
    return 0;
}

/* Replaces the item at out[at ..) with its repetition, with callouts. */
static int put_counted(struct parser *p, size_t at, const struct part *part, const struct repetition *r)
{
    char least[40];
    p->atom.len = 0;
    if (buf_put(&p->atom, p->out->p + at, p->out->len - at, p->e))
        return -1;
    p->out->len = at;
    if (!part->single || p->atom.len > HUGE_ATOM)
        return buf_printf(&p->atom, p->e, "(?C%d)", ITERATION) || put_atom(p, "(?:", ")") || put_repetition(p, r) ? -1
                                                                                                                  : 0;
    if (r->max != MANY) {
        int callout = BLOCK;
        while (r->max > (uint32_t)BLOCK_LEN << (callout - BLOCK))
            callout++;
        if (r->max > BLOCK_LEN && buf_printf(p->out, p->e, "(?C%d)", callout))
            return -1;
        if (put_atom(p, "", "") || put_repetition(p, r))
            return -1;
        return 0;
    }
    bool possessive = *r->mode == '+';
    snprintf(least, sizeof least, "{%u}", (unsigned)r->min);
    return (possessive && put(p, "(?>")) || (r->min && put_atom(p, "", least)) ||
                   put_blocks(p, possessive ? "" : r->mode) || (possessive && put(p, ")"))
               ? -1
               : 0;
}

static uint32_t times(uint32_t a, uint32_t b)
{
    uint64_t n = (uint64_t)a * b;
    return !a || !b ? 0 : a == MANY || b == MANY || n >= MANY ? MANY : (uint32_t)n;
}

static uint32_t plus(uint32_t a, uint32_t b)
{
    return a >= MANY - b ? MANY : a + b;
}

/* Reads the repetition, if any, of the item that was read from `from` and written at out[at ..). */
static int repeat(struct parser *p, const unsigned char *from, size_t at, struct part *part)
{
    struct repetition r;
    const unsigned char *sign = p->p;
    int found = read_repetition(p, &r);
    if (found <= 0)
        return found;
    if (!part->min)
        return fail(p, from, "a repeated item that may be empty is not supported; see REGEXES in bpe-chunk(1)");
    if (part->lazy)
        return refuse(p, from, (size_t)(p->p - from)); /* Oniguruma merges the two repetitions */
    if (may_fold(part->folds, part->folds) && r.max > 1)
        return refuse(p, from, (size_t)(p->p - from));
    if (p->behind && r.min != r.max)
        return refuse(p, sign, (size_t)(p->p - sign));
    if (p->form & REGEX_COUNTED && !p->behind ? put_counted(p, at, part, &r) : put_repetition(p, &r))
        return -1;
    p->uses.atomic = p->uses.atomic || (*r.mode == '+' && !part->single);
    *part = (struct part){.min = times(part->min, r.min),
                          .max = times(part->max, r.max),
                          .folds = part->folds,
                          .run = part->single && !*r.mode,
                          .lazy = *r.mode == '?'};
    return 0;
}

/* ---- Items and branches ---- */

static int put_literal(struct parser *p, const unsigned char *at, uint32_t c, struct part *part)
{
    if (!p->caseless)
        return put_range(p, c, c);
    part->folds = fold_of(c);
    if (is_letter(c))
        return put(p, "[") || put_range(p, c, c) || put_other_cases(p, c) || put(p, "]") ? -1 : 0;
    return c < 0x80 || has_no_case(c) ? put_range(p, c, c) : refuse(p, at, (size_t)(p->p - at));
}

static int take_escape(struct parser *p, struct part *part)
{
    const unsigned char *at = p->p;
    uint32_t c;
    int found = read_escape(p, &c);
    if (found == ESCAPE_CHAR)
        return put_literal(p, at, c, part);
    if (found == ESCAPE_CLASS)
        return take_class_escape(p, false);
    if (found < 0)
        return -1;
    if ((at[1] != 'A' && at[1] != 'z') || p->behind)
        return refuse(p, at, 2);
    *part = (struct part){0};
    p->p += 2;
    return put(p, at[1] == 'A' ? "\\A" : "\\z");
}

static int take_item(struct parser *p, struct part *part)
{
    const unsigned char *at = p->p;
    size_t to = p->out->len;
    int rc;
    *part = (struct part){.min = 1, .max = 1, .single = true};
    if (begins_repetition(p))
        return fail(p, at, "%c: there is nothing to repeat", *at);
    switch (*at) {
    case '(':
        *part = (struct part){0};
        rc = take_group(p, part);
        break;
    case '[':
        rc = take_brackets(p, part);
        break;
    case '\\':
        rc = take_escape(p, part);
        break;
    case '.':
        p->p++;
        rc = put(p, "[^\\n]");
        break;
    case '^':
    case '$':
        return fail(p, at,
                    "%c means the %s of each line in some regex engines, and of the text in others; use %s or %s", *at,
                    *at == '^' ? "start" : "end", *at == '^' ? "(?:\\A|(?<=\\n)(?!\\z))" : "(?=\\n|\\z)",
                    *at == '^' ? "\\A" : "\\z");
    default:
        rc = put_literal(p, at, next_char(p), part);
    }
    if (rc || repeat(p, at, to, part))
        return -1;
    return 0;
}

static int take_branch(struct parser *p, struct part *all)
{
    const unsigned char *at = p->p;
    unsigned before = 0; /* the letters that can come directly before an item */
    size_t n = 0;
    *all = (struct part){0};
    while (p->p < p->end && *p->p != '|' && *p->p != ')') {
        struct part part;
        const unsigned char *from = p->p;
        if (take_item(p, &part))
            return -1;
        if (may_fold(before, part.folds))
            return refuse(p, from, (size_t)(p->p - from));
        before = part.min ? part.folds : before | part.folds;
        all->min = plus(all->min, part.min);
        all->max = plus(all->max, part.max);
        all->folds |= part.folds;
        n++;
        all->run = n == 1 && part.run;
        all->lazy = n == 1 && part.lazy;
    }
    if (p->behind && (all->min != all->max || !all->min || all->max > BEHIND))
        return fail(p, at, "each branch of a lookbehind must have a fixed length of 1 to %d characters", BEHIND);
    return 0;
}

static int take_branches(struct parser *p, struct part *all)
{
    const unsigned char *fresh = p->fresh;
    p->fresh = p->p;
    if (take_branch(p, all))
        return -1;
    while (p->p < p->end && *p->p == '|') {
        struct part part;
        p->p++;
        if (put(p, "|") || take_branch(p, &part))
            return -1;
        all->min = part.min < all->min ? part.min : all->min;
        all->max = part.max > all->max ? part.max : all->max;
        all->folds |= part.folds;
        all->run = all->lazy = false;
    }
    p->fresh = fresh;
    return 0;
}

/* ---- The whole regex ---- */

int regex_put(struct buf *out, struct str regex, unsigned form, unsigned dialects, size_t nth, struct regex_uses *uses,
              struct err *e)
{
    struct parser p = {
        .start = regex.p, .p = regex.p, .end = regex.p + regex.len, .out = out, .form = form, .nth = nth};
    struct part all;
    bool cut;
    p.dialects = dialects;
    p.e = e;
    size_t valid = regex.len ? utf8_valid_len(regex.p, regex.len, &cut) : 0;
    int rc = valid < regex.len ? fail(&p, regex.p + valid, "invalid UTF-8 (0x%02X)", regex.p[valid])
                               : take_branches(&p, &all);
    if (!rc && p.p < p.end)
        rc = fail(&p, p.p, "a ) without its (");
    buf_free(&p.atom);
    if (uses)
        *uses = p.uses;
    return rc;
}

int regex_check(struct str regex, unsigned dialects, size_t nth, struct err *e)
{
    struct buf unused = {0};
    int rc = regex_put(&unused, regex, REGEX_PLAIN, dialects, nth, NULL, e);
    buf_free(&unused);
    return rc;
}

unsigned regex_steps(unsigned callout)
{
    return callout == ITERATION ? 8 : (unsigned)BLOCK_LEN << (callout - BLOCK);
}
