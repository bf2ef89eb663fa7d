/* learn_io.h - the input and output of learn_slow and learn_fast: arguments and pretokens, and merges. Included by
 * both.
 *
 *   usage: learn_slow|learn_fast hf|lex|id|smallest|greatest|least VOCAB_SIZE MIN_FREQUENCY MAX_TOKEN_LEN [utf8] [once]
 *          [veto=IN_HEX]... [SPECIAL_IN_HEX]...
 *   once: overlapping occurrences of a pair count once
 *   stdin: lines of COUNT TAB BYTES_IN_HEX
 *   stdout: lines of LEFT_IN_HEX RIGHT_IN_HEX COUNT REPLACED, one for each merge, in order
 */
#ifndef BPE_TESTS_ORACLE_LEARN_IO_H
#define BPE_TESTS_ORACLE_LEARN_IO_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char *p;
    size_t len;
};

struct args {
    const char *tie;
    uint64_t vocab_size, min_frequency, max_token_len;
    struct bytes *special, *veto;
    size_t n_special, n_veto;
    int utf8_boundaries;
    int count_once;
};

static void die(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(64);
}

static void *must(void *p)
{
    if (!p)
        die("out of memory");
    return p;
}

/* Reads bytes in hex, up to the first other character. */
__attribute__((unused)) static struct bytes from_hex(const char *s)
{
    size_t digits = strspn(s, "0123456789abcdef");
    struct bytes r = {must(malloc(digits / 2 + 1)), digits / 2};
    for (size_t i = 0; i < r.len; i++) {
        char two[3] = {s[2 * i], s[2 * i + 1], 0};
        r.p[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    return r;
}

__attribute__((unused)) static void put_hex(const unsigned char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", p[i]);
}

__attribute__((unused)) static void parse_args(int argc, char **argv, struct args *a)
{
    if (argc < 5)
        die("usage: hf|lex|id|smallest|greatest|least VOCAB_SIZE MIN_FREQUENCY MAX_TOKEN_LEN [utf8] [once] "
            "[veto=IN_HEX]... [SPECIAL_IN_HEX]...");
    *a = (struct args){.tie = argv[1],
                       .vocab_size = strtoull(argv[2], NULL, 10),
                       .min_frequency = strtoull(argv[3], NULL, 10),
                       .max_token_len = strtoull(argv[4], NULL, 10)};
    a->special = must(calloc((size_t)argc, sizeof *a->special));
    a->veto = must(calloc((size_t)argc, sizeof *a->veto));
    for (int i = 5; i < argc; i++) {
        if (!strcmp(argv[i], "utf8"))
            a->utf8_boundaries = 1;
        else if (!strcmp(argv[i], "once"))
            a->count_once = 1;
        else if (!strncmp(argv[i], "veto=", 5))
            a->veto[a->n_veto++] = from_hex(argv[i] + 5);
        else
            a->special[a->n_special++] = from_hex(argv[i]);
    }
}

__attribute__((unused)) static void free_args(struct args *a)
{
    for (size_t i = 0; i < a->n_special; i++)
        free(a->special[i].p);
    for (size_t i = 0; i < a->n_veto; i++)
        free(a->veto[i].p);
    free(a->special);
    free(a->veto);
}

/* Reads the next pretoken of stdin. Returns 1, or 0 at the end. word->p must be freed. */
__attribute__((unused)) static int read_word(struct bytes *word, uint64_t *count)
{
    static char *line;
    static size_t cap;
    char *hex;
    if (getline(&line, &cap, stdin) < 0)
        return 0;
    *count = strtoull(line, &hex, 10);
    if (*hex != '\t')
        die("not a line of COUNT TAB BYTES_IN_HEX");
    *word = from_hex(hex + 1);
    return 1;
}

#endif
