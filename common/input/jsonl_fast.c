/* jsonl_fast.c - see jsonl_fast.h: code that the versions share, and the portable version, eight bytes at a time. */
#include "input/jsonl_fast.h"

#include "base/sys/swar.h"
#include "json/json_escape.h"

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

/* ---- Eight bytes at a time ---- */

enum { WIDTH = 8 };

static inline size_t first_stop(const unsigned char *p)
{
    uint64_t x = swar_load(p);
    uint64_t stops = swar_equal(x, '"') | swar_equal(x, '\\') | swar_less_or_equal(x, 0x1F);
    return stops ? swar_first(stops) : WIDTH;
}

static inline void copy_block(unsigned char *to, const unsigned char *p)
{
    memcpy(to, p, WIDTH);
}

#include "input/jsonl_fast_impl.h"

jsonl_walk_fn *const jsonl_walk_plain = walk_line;
