/* str.h - a string: a pointer to bytes and a length. */
#ifndef BPE_BASE_SYS_STR_H
#define BPE_BASE_SYS_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str { /* not NUL-terminated; borrowed unless stated otherwise */
    const unsigned char *p;
    size_t len;
};

static inline struct str str_of(const char *s)
{
    return (struct str){(const unsigned char *)s, strlen(s)};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Less than, equal to or greater than 0, by bytes (memcmp); a prefix of a string precedes it. */
static inline int str_compare(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* For C strings: whether s ends with `end`; whether it is one of several (NULL after the last). */
static inline bool str_ends(const char *s, const char *end)
{
    size_t n = strlen(s), len = strlen(end);
    return n >= len && strcmp(s + n - len, end) == 0;
}

static inline bool str_in(const char *s, const char *const *several)
{
    while (*several && strcmp(s, *several) != 0)
        several++;
    return *several != NULL;
}

/* Whether occurrences of the two in a text can overlap: one contains the other, or begins with a suffix of it. */
static inline bool str_may_overlap(struct str a, struct str b)
{
    struct str s = a.len < b.len ? a : b, l = a.len < b.len ? b : a;
    if (memmem(l.p, l.len, s.p, s.len))
        return true;
    for (size_t n = 1; n < s.len; n++) {
        if (!memcmp(l.p, s.p + s.len - n, n) || !memcmp(s.p, l.p + l.len - n, n))
            return true;
    }
    return false;
}

/* How often a byte occurs in a string. */
static inline size_t str_count(struct str s, int byte)
{
    size_t n = 0;
    const unsigned char *p = s.p, *end = p + s.len;
    for (; p != end && (p = memchr(p, byte, (size_t)(end - p))) != NULL; p++)
        n++;
    return n;
}

#endif
