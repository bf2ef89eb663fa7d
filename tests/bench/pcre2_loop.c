/* pcre2_loop.c - measures the time of PCRE2 for matching only: the bound for scanners.
 *
 *     pcre2_loop REGEX FILE
 *
 * Reads the file (valid UTF-8) into memory and runs the regex (UTF, UCP, JIT) over each document, which ends at
 * <|endoftext|>. Matches are only counted. Prints bytes, matches, and the CPU seconds of the loop only.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char eot[] = "<|endoftext|>";

static void die(const char *what)
{
    fprintf(stderr, "pcre2_loop: %s\n", what);
    exit(1);
}

static unsigned char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("cannot open the file");
    long size = ftell(f);
    unsigned char *p = size < 0 ? NULL : malloc((size_t)size + 1);
    rewind(f);
    if (!p || fread(p, 1, (size_t)size, f) != (size_t)size)
        die("cannot read the file");
    fclose(f);
    *len = (size_t)size;
    return p;
}

/* Matches a document from start to end; returns the number of matches. */
static size_t match_all(const pcre2_code *code, pcre2_match_data *data, const unsigned char *p, size_t len)
{
    const PCRE2_SIZE *found = pcre2_get_ovector_pointer(data);
    size_t n = 0, at = 0;
    while (at < len && pcre2_jit_match(code, p, len, at, PCRE2_NO_UTF_CHECK, data, NULL) > 0 && found[1] > at) {
        at = found[1];
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: pcre2_loop REGEX FILE");
    int code_error;
    PCRE2_SIZE where;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)argv[1], PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK, &code_error, &where, NULL);
    if (!code || pcre2_jit_compile(code, PCRE2_JIT_COMPLETE))
        die("the regex does not compile");
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(code, NULL);
    size_t len, n = 0;
    unsigned char *text = slurp(argv[2], &len);

    clock_t start = clock();
    for (const unsigned char *p = text, *end = text + len; p < end;) {
        const unsigned char *stop = memmem(p, (size_t)(end - p), eot, sizeof eot - 1);
        n += match_all(code, data, p, (size_t)((stop ? stop : end) - p));
        p = stop ? stop + sizeof eot - 1 : end;
    }
    printf("%zu bytes %zu matches %.4f seconds\n", len, n, (double)(clock() - start) / CLOCKS_PER_SEC);

    free(text);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    return 0;
}
