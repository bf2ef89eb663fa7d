/* pretok.c - shows pretokens and classes to the scripts in this directory, which compare them with other programs'.
 *
 *   pretok PATTERN        the length in bytes of each pretoken of standard input (one document, valid UTF-8), one per
 *                         line
 *   pretok -e REGEX...    the same with a regex, or several, applied one after the other
 *   pretok --lines        for each line of standard input, with regexes and a document, in hex, separated by spaces: a
 *                         line with the lengths of its pretokens, or - and the error; each regex must be one that all
 *                         engines read alike
 *   pretok --models       for each line, with the path of a model, a space and a document in hex: a line with its
 *                         pretokens in hex, or - and the error
 *   pretok --regexes      the built-in patterns' names and regexes, separated by tabs, one pattern per line
 *   pretok --variants     the other recognized regexes: "any" or "pcre", name and regex, in the same way
 *   pretok --classes      first, last and class (1 letter, 2 number, 3 space) of each range of code points in a
 *                         class
 */
#include "base/sys/buf.h"
#include "model/model_read.h"
#include "pretok/pretokenize.h"
#include "pretok/regex.h"
#include "pretok/scan.h"
#include "unicode/uclass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGEXES_MAX = 8 };

static int print_regexes(void)
{
    for (size_t i = 0; pattern_at(i); i++) {
        const struct pattern *p = pattern_at(i);
        for (size_t k = 0; k < p->n_regex; k++)
            printf("%s\t%s", k ? "" : p->name, (const char *)p->regex[k].p);
        if (p->n_regex)
            putchar('\n');
    }
    return 0;
}

static int print_variants(void)
{
    const struct pattern_variant *v;
    for (size_t i = 0; (v = pattern_variant_at(i)) != NULL; i++)
        printf("%s\t%s\t%s\n", v->pcre_only ? "pcre" : "any", pattern_at(v->pattern)->name, v->regex);
    return 0;
}

static int print_classes(void)
{
    uint32_t first = 0;
    for (uint32_t c = 1; c <= 0x110000; c++) {
        if (c < 0x110000 && uclass_of(c) == uclass_of(first))
            continue;
        if (uclass_of(first) != UCLASS_OTHER)
            printf("%" PRIu32 " %" PRIu32 " %d\n", first, c - 1, (int)uclass_of(first));
        first = c;
    }
    return 0;
}

/* Reads all of standard input, with space for SCAN_PAD bytes after it. */
static int read_document(struct buf *b, struct err *e)
{
    size_t got = 1;
    while (got > 0) {
        if (buf_reserve(b, (1 << 16) + SCAN_PAD, e) < 0)
            return -1;
        got = fread(b->p + b->len, 1, 1 << 16, stdin);
        b->len += got;
    }
    memset(b->p + b->len, 0, SCAN_PAD);
    return ferror(stdin) ? err_set(e, EX_IOERR, "cannot read standard input") : 0;
}

static int print_lengths(struct scanner *s, const struct buf *b, char after, struct err *e)
{
    uint32_t ends[1024], start = 0;
    size_t pos = 0;
    ptrdiff_t n;
    while ((n = scanner_scan(s, b->p, b->len, TEXT_DOC, &pos, ends, 1024, e)) > 0)
        for (ptrdiff_t i = 0; i < n; start = ends[i++])
            printf("%" PRIu32 "%c", ends[i] - start, after);
    return n < 0 ? -1 : 0;
}

static int print_pretokens(struct scanner *s, struct err *e)
{
    struct buf b = {0};
    int rc = read_document(&b, e) < 0 || print_lengths(s, &b, '\n', e) < 0 ? -1 : 0;
    buf_free(&b);
    return rc;
}

/* Reads hex up to a space or the end of the line, with space for SCAN_PAD bytes after it. */
static const char *read_hex(struct buf *b, const char *p, struct err *e)
{
    static const char digits[] = "0123456789abcdef";
    const char *high, *low;
    b->len = 0;
    for (; *p && (high = strchr(digits, p[0])) && p[1] && (low = strchr(digits, p[1])); p += 2)
        if (buf_put_byte(b, (unsigned char)((high - digits) << 4 | (low - digits)), e))
            exit(EX_OSERR);
    if (buf_reserve(b, SCAN_PAD, e))
        exit(EX_OSERR);
    memset(b->p + b->len, 0, SCAN_PAD);
    return p + (*p == ' ');
}

static int print_lines(void)
{
    struct err e;
    char *line = NULL;
    size_t cap = 0;
    struct buf hex[REGEXES_MAX + 1] = {{0}};
    while (getline(&line, &cap, stdin) > 0) {
        size_t n = 0;
        struct str regex[REGEXES_MAX];
        for (const char *p = line; *p && *p != '\n' && n <= REGEXES_MAX; n++)
            p = read_hex(&hex[n], p, &e);
        bool same = n > 1;
        snprintf(e.msg, sizeof e.msg, "no regex");
        for (size_t i = 0; i + 1 < n; i++) {
            regex[i] = buf_str(&hex[i]);
            same = same && !regex_check(regex[i], REGEX_EVERYWHERE, i + 1, &e);
        }
        struct scanner *s = same ? scanner_open(NULL, regex, n - 1, &e) : NULL;
        if (!s || print_lengths(s, &hex[n - 1], ' ', &e))
            printf("- %s", e.msg);
        putchar('\n');
        fflush(stdout);
        scanner_close(s);
    }
    for (size_t i = 0; i <= REGEXES_MAX; i++)
        buf_free(&hex[i]);
    free(line);
    return 0;
}

static int print_words(void *ctx, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                       struct err *e)
{
    (void)ctx, (void)e;
    for (size_t i = 0; i < n; i++) {
        for (; start < ends[i]; start++)
            printf("%02x", text[start]);
        putchar(' ');
    }
    return 0;
}

static int print_by_model(const char *path, const struct buf *text, struct err *e)
{
    const struct pretoken_sink sink = {.words = print_words};
    const struct model_opts opts = {.rules_only = true};
    struct model m;
    struct rules r = {0};
    struct pretokenizer w = {0};
    size_t where;
    if (model_read(&m, path, &opts, e))
        return -1;
    int rc = model_rules_pattern(&r, &m, model_pattern(&m), e) || pretokenizer_open(&w, &r, INVALID_ERROR, &sink, e) ||
                     pretokenize_text(&w, text->p, text->len, TEXT_DOC, &where, e) < 0
                 ? -1
                 : 0;
    pretokenizer_close(&w);
    rules_free(&r);
    model_free(&m);
    return rc;
}

static int print_models(void)
{
    struct err e;
    char *line = NULL;
    size_t cap = 0;
    struct buf text = {0};
    while (getline(&line, &cap, stdin) > 0) {
        char *space = strchr(line, ' ');
        if (!space)
            return EX_USAGE;
        *space = '\0';
        read_hex(&text, space + 1, &e);
        if (print_by_model(line, &text, &e))
            printf("- %s", e.msg);
        putchar('\n');
        fflush(stdout);
    }
    buf_free(&text);
    free(line);
    return 0;
}

static int usage(void)
{
    fputs("usage: pretok PATTERN | -e REGEX... | --lines | --models | --regexes | --variants | --classes\n", stderr);
    return EX_USAGE;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct scanner *s = NULL;
    if (argc == 2 && strcmp(argv[1], "--lines") == 0)
        return print_lines();
    if (argc == 2 && strcmp(argv[1], "--models") == 0)
        return print_models();
    if (argc == 2 && strcmp(argv[1], "--regexes") == 0)
        return print_regexes();
    if (argc == 2 && strcmp(argv[1], "--variants") == 0)
        return print_variants();
    if (argc == 2 && strcmp(argv[1], "--classes") == 0)
        return print_classes();
    if (argc == 2 && pattern_find(str_of(argv[1]))) {
        s = scanner_open(pattern_find(str_of(argv[1])), NULL, 0, &e);
    } else if (argc >= 3 && argc - 2 <= REGEXES_MAX && strcmp(argv[1], "-e") == 0) {
        struct str regex[REGEXES_MAX];
        for (int i = 2; i < argc; i++)
            regex[i - 2] = str_of(argv[i]);
        s = scanner_open(NULL, regex, (size_t)argc - 2, &e);
    } else {
        return usage();
    }
    if (!s || print_pretokens(s, &e) < 0)
        fprintf(stderr, "pretok: %s\n", e.msg);
    scanner_close(s);
    return e.code;
}
