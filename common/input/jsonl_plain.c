/* jsonl_plain.c - jsonl_blocks.h eight bytes at a time, for any machine. */
#include "base/sys/swar.h"

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

#include "input/jsonl_blocks.h"

jsonl_walk_fn *const jsonl_walk_plain = walk_line;
