/* jsonl_fast.c - see jsonl_fast.h. What the versions share. */
#include "input/jsonl_fast.h"

#include "base/sys/simd.h"
#include "json/json_escape.h"

jsonl_walk_fn *jsonl_walker(void)
{
    switch (simd_level()) {
#ifdef __x86_64__
    case SIMD_SSE2:
        return jsonl_walk_sse2;
    case SIMD_AVX2:
        return jsonl_walk_avx2;
    case SIMD_AVX512:
        return jsonl_walk_avx512;
#endif
    default:
        return jsonl_walk_plain;
    }
}

const unsigned char jsonl_escape[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};

const unsigned char jsonl_digit[256] = {
    ['0'] = 0x80, ['1'] = 0x81, ['2'] = 0x82, ['3'] = 0x83, ['4'] = 0x84, ['5'] = 0x85, ['6'] = 0x86, ['7'] = 0x87,
    ['8'] = 0x88, ['9'] = 0x89, ['a'] = 0x8A, ['b'] = 0x8B, ['c'] = 0x8C, ['d'] = 0x8D, ['e'] = 0x8E, ['f'] = 0x8F,
    ['A'] = 0x8A, ['B'] = 0x8B, ['C'] = 0x8C, ['D'] = 0x8D, ['E'] = 0x8E, ['F'] = 0x8F};

unsigned char *jsonl_unescape_u(unsigned char *to, const unsigned char **p)
{
    const char *what;
    size_t n, used = json_escape_one(to, &n, *p + 1, JSON_ESCAPE_LEN, false, &what);
    *p += 1 + used;
    return used ? to + n : NULL;
}

bool jsonl_key_means(struct str written, struct str name)
{
    size_t at = 0;
    const char *what;
    for (size_t i = 0; i < written.len;) {
        unsigned char c[4] = {written.p[i]};
        size_t n = 1, used = 0;
        if (c[0] == '\\') {
            used = json_escape_one(c, &n, written.p + i + 1, written.len - i - 1, false, &what);
            if (!used)
                return false;
        }
        if (n > name.len - at || memcmp(c, name.p + at, n) != 0)
            return false;
        at += n;
        i += 1 + used;
    }
    return at == name.len;
}
