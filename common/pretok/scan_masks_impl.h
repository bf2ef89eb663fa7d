/* scan_masks_impl.h - scans gpt2, cl100k and the patterns derived from it, o200k, deepseek and superbpe 64 bytes at a
 * time: the code that all instruction sets share. scan_neon.c, scan_sse2.c, scan_avx2.c and scan_avx512.c include it
 * after defining
 *
 *     vec, load   64 bytes                          lower      with 0x20 set in each byte
 *     set, bits   a subset of them, and its mask    either     the union of two sets
 *     in_range    the bytes in [low, low + n)       equal      the bytes equal to c
 *     put_ends    writes the positions of a mask's bits
 *
 * The idea (as in gigatoken, and before it in simdjson): bit i of a mask tells whether byte i is of a class. Shifts by
 * one show where the class changes, and so where pretokens start: about twenty operations for 64 bytes, without a
 * branch that depends on the text. Rare cases are then corrected one by one: contractions, multi-byte white space, long
 * numbers. Rare cases that would need many masks are left to the plain scanner, which resumes at the end of the last
 * known pretoken; a scan may begin there, as the regexes do not look back. All bytes of a multi-byte character have its
 * class.
 *
 * A block's starts depend on the blocks before it (struct before) and on the one after it (whether white space
 * continues), so the masks are made one block ahead. At the end of the document, white space is assumed to follow, so
 * that no white space is the last before something else. If the document continues, a letter is assumed (TEXT_LETTER),
 * or the last starts are not returned because they may depend on what follows (TEXT_MORE).
 */
#ifndef BPE_PRETOK_SCAN_MASKS_IMPL_H
#define BPE_PRETOK_SCAN_MASKS_IMPL_H

#include "pretok/scan_internal.h"
#include "unicode/ucat.h"
#include "unicode/uclass.h"

#include <stdbool.h>

enum {
    BLOCK = 64,
    PLAIN = 4,     /* pretokens left to the plain scanner each time masks are not enough */
    LOOKAHEAD = 8, /* maximum bytes after a pretoken's start that it depends on (except for white space, see
                    * after_last_newline) */
};

/* The classes of 64 bytes; a byte in none of the first three is "other". */
struct block {
    uint64_t letter, number, white;
    uint64_t space;   /* 0x20 */
    uint64_t newline; /* CR and LF */
    uint64_t quote;   /* apostrophes */
    uint64_t tail;    /* all but the first byte of each character */
    /* Only for o200k, tekken and kimi, where letters include marks: */
    uint64_t upper, lower; /* letters of one case only */
    uint64_t mark;         /* first bytes of marks */
    uint64_t slash;
    uint64_t rare; /* only for kimi: first bytes of Han characters that are not letters */
    /* Only for deepseek, where letters include marks, too; characters in no class are "rest": */
    uint64_t punct;
    uint64_t cjk;   /* those of the second regex; in kimi: Han letters, which are in none of the first three */
    uint64_t ascii; /* ASCII letters */
    uint64_t high;  /* bytes that are not ASCII */
};

/* Which of these masks a pattern needs. */
enum classes { CLASSES, CLASSES_DIGITS, CLASSES_QWEN35, CLASSES_O200K, CLASSES_KIMI, CLASSES_DEEPSEEK };

/* What is known of the text before a block: the masks of the previous block (only the last bits are used), and the
 * state passed from block to block. A scan starts at the start of a pretoken, with all masks 0, as if nothing came
 * before. */
struct before {
    struct block block;
    uint64_t other;      /* its bytes in no class */
    uint64_t set, clear; /* starts to add and to remove in the next block, because of a contraction */
    uint64_t lone;       /* cl100k: first characters of runs of others */
    uint64_t rest;       /* cl100k: white space that is in no run of others */
    unsigned digits;     /* cl100k: numbers since the last start, if the block ends with one */
    bool absorbing;      /* cl100k: a run of others has taken a newline, and takes the next one too */
    uint64_t low;        /* o200k: lower case, and letters of both cases after it */
    bool naming;         /* deepseek: ASCII letters after punctuation continue */
    uint64_t matched;    /* superbpe: several others, and the newlines that belong to them */
};

/* The text around a block, for what masks cannot show. */
struct place {
    const unsigned char *text;
    size_t at, len; /* the block's offset; the window's end */
    enum window_end end;
    size_t limit; /* starts from here on are not known yet; may be lowered */
    bool stuck;   /* o200k, deepseek, superbpe: masks cannot find the starts from limit on */
};

/* A mask with each bit moved to the next byte, or to the previous one. */
INLINE uint64_t shift_up(uint64_t mask, uint64_t before)
{
    return mask << 1 | before >> 63;
}

INLINE uint64_t shift_down(uint64_t mask, uint64_t next)
{
    return mask >> 1 | next << 63;
}

INLINE unsigned lowest(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}

/* Spreads the bits at a class's first bytes (and ASCII) to the other bytes of each character. before: the class in the
 * previous block. */
INLINE uint64_t spread(uint64_t mask, uint64_t tail, uint64_t before)
{
    mask |= shift_up(mask, before) & tail;
    mask |= mask << 1 & tail;
    return mask | (mask << 1 & tail);
}

INLINE struct raw raw_masks(const unsigned char *p)
{
    vec v = load(p);
    set space = equal(v, ' ');
    struct raw r;
    r.letter = bits(in_range(lower(v), 'a', 26));
    r.number = bits(in_range(v, '0', 10));
    r.space = bits(space);
    r.white = bits(either(in_range(v, '\t', 5), space));
    r.newline = bits(either(equal(v, '\n'), equal(v, '\r')));
    r.quote = bits(equal(v, '\''));
    r.high = bits(in_range(v, 0x80, 0x80));
    r.tail = bits(in_range(v, 0x80, 0x40));
    r.upper = bits(in_range(v, 'A', 26));
    r.slash = bits(equal(v, '/'));
    r.punct = bits(in_range(v, '!', 94)) & ~r.letter & ~r.number;
    return r;
}

/* Lead bytes that begin only letters. */
INLINE uint64_t lead_masks(const unsigned char *p)
{
    vec v = load(p);
    set two = either(in_range(v, LETTERS_C4, LETTERS_C4_N), in_range(v, LETTERS_D0, LETTERS_D0_N));
    set three = either(in_range(v, LETTERS_E5, LETTERS_E5_N), in_range(v, LETTERS_EB, LETTERS_EB_N));
    return bits(either(two, three)) | (bits(equal(v, 0xE4)) & bits(in_range(v, 0xB8, 8)) >> 1);
}

/* Adds the characters that are not ASCII. */
INLINE void add_high(struct block *b, const struct block *before, const struct raw *r, const unsigned char *p,
                     enum classes kind)
{
    uint64_t letters = lead_masks(p), low = 0, high = 0;
    for (uint64_t left = r->high & ~r->tail & ~letters; left; left &= left - 1) {
        unsigned i = lowest(left);
        size_t n;
        uint64_t class = kind == CLASSES_QWEN35 ? uclass_with_marks(ucat_at(p + i, &n)) : uclass_at(p + i, &n);
        if (kind == CLASSES_DIGITS && is_new_number(p + i))
            class = UCLASS_NUMBER;
        low |= (class & 1) << i;
        high |= class >> 1 << i;
    }
    letters |= low & ~high;
    b->letter = spread(r->letter | letters, r->tail, before->letter);
    b->number = spread(r->number | (high & ~low), r->tail, before->number);
    b->white = spread(r->white | (low & high), r->tail, before->white);
}

/* The same with ucat.h, for o200k. Most letters with case that occur are recognized by their two bytes: Latin from
 * U+00C0 to U+00FF, Cyrillic from U+0400 to U+045F. For kimi, Han from U+4E00 to U+9FFF is recognized by one byte or
 * two. */
INLINE void add_high_cats(struct block *b, const struct block *before, const struct raw *r, const unsigned char *p,
                          enum classes kind)
{
    vec v = load(p);
    uint64_t c3 = bits(equal(v, 0xC3)), d0 = bits(equal(v, 0xD0)), d1 = bits(equal(v, 0xD1));
    uint64_t below_a0 = bits(in_range(v, 0x80, 0x20)) >> 1, from_a0 = bits(in_range(v, 0xA0, 0x20)) >> 1;
    uint64_t below_b0 = bits(in_range(v, 0x80, 0x30)) >> 1, from_b0 = bits(in_range(v, 0xB0, 0x10)) >> 1;
    uint64_t not_c3 = bits(either(equal(v, 0x9F), either(equal(v, 0x97), equal(v, 0xB7)))) >> 1;
    uint64_t upper = (c3 & below_a0 & ~not_c3) | (d0 & below_b0);
    uint64_t lower = (c3 & from_a0 & ~not_c3) | (d0 & from_b0) | (d1 & below_a0);
    uint64_t both = lead_masks(p) & ~(bits(in_range(v, 0xC4, LETTERS_C4_N)) | d0 | d1);
    uint64_t one = 0, two = 0, four = 0, han = 0;
    if (kind == CLASSES_KIMI) {
        han = bits(in_range(v, LETTERS_E5, LETTERS_E5_N)) | (bits(equal(v, 0xE4)) & bits(in_range(v, 0xB8, 8)) >> 1);
        both &= ~han;
    }
    for (uint64_t left = r->high & ~r->tail & ~(upper | lower | both | han); left; left &= left - 1) {
        unsigned i = lowest(left);
        size_t n;
        uint64_t cat = ucat_at(p + i, &n);
        if (kind == CLASSES_KIMI && ucat_is_han(p + i)) {
            bool letter = (cat & 7) == UCAT_LETTER, number = cat == UCAT_NUMBER;
            han |= (uint64_t)letter << i;
            b->rare |= (uint64_t)!letter << i;
            cat = number ? UCAT_NUMBER : UCAT_REST;
        }
        one |= (cat & 1) << i;
        two |= (cat >> 1 & 1) << i;
        four |= (cat >> 2 & 1) << i;
    }
    _Static_assert(UCAT_MARK == 2 && UCAT_NUMBER == 3 && UCAT_SPACE == 4 && UCAT_UPPER == 5 && UCAT_LOWER == 6 &&
                       UCAT_LETTER == 7,
                   "by bits");
    b->mark = two & ~one & ~four;
    upper |= one & ~two & four;
    lower |= two & ~one & four;
    both |= (one & two & four) | b->mark;
    b->number = spread(r->number | (one & two & ~four), r->tail, before->number);
    b->white = spread(r->white | (four & ~one & ~two), r->tail, before->white);
    b->upper = spread(r->upper | upper, r->tail, before->upper);
    b->lower = spread((r->letter & ~r->upper) | lower, r->tail, before->lower);
    b->letter = spread(both, r->tail, before->letter & ~(before->upper | before->lower)) | b->upper | b->lower;
    if (kind == CLASSES_KIMI)
        b->cjk = spread(han, r->tail, before->cjk);
}

/* The same for deepseek, with the table of o200k. Two bytes show letters from U+00C0 to U+00FF, and U+9000 to U+9F7F,
 * which are CJK; one byte shows CJK from U+5000 to U+8FFF. */
INLINE void add_high_pieces(struct block *b, const struct block *before, const struct raw *r, const unsigned char *p)
{
    vec v = load(p);
    uint64_t e9 = bits(equal(v, 0xE9)), sure_e9 = e9 & bits(in_range(v, 0x80, 0x3E)) >> 1;
    uint64_t sure_c3 = bits(equal(v, 0xC3)) & bits(in_range(v, 0x80, 0x40)) >> 1 &
                       ~(bits(either(equal(v, 0x97), equal(v, 0xB7))) >> 1);
    uint64_t cjk = sure_e9 | bits(in_range(v, 0xE5, 4)) | (bits(equal(v, 0xE4)) & bits(in_range(v, 0xB8, 8)) >> 1);
    uint64_t letters = (lead_masks(p) & ~e9) | sure_e9 | sure_c3;
    uint64_t one = 0, two = 0, four = 0;
    for (uint64_t left = r->high & ~r->tail & ~letters; left; left &= left - 1) {
        unsigned i = lowest(left);
        size_t n;
        uint64_t cat = ucat_at(p + i, &n);
        one |= (cat & 1) << i;
        two |= (cat >> 1 & 1) << i;
        four |= (cat >> 2 & 1) << i;
        cjk |= (cat >> 3 & 1) << i;
    }
    letters |= (two & ~one & ~four) | (four & (one | two));
    b->letter = spread(r->letter | letters, r->tail, before->letter);
    b->number = spread(r->number | (one & two & ~four), r->tail, before->number);
    b->white = spread(r->white | (four & ~one & ~two), r->tail, before->white);
    b->punct = spread(r->punct | (one & ~two & ~four), r->tail, before->punct);
    b->cjk = spread(cjk, r->tail, before->cjk);
}

/* The classes of the block at text[p]; before: the block before it. */
INLINE struct block classes(const unsigned char *text, size_t p, size_t len, enum window_end end,
                            const struct block *before, enum classes kind)
{
    struct block b = {0};
    uint64_t valid = 0;
    if (p < len) {
        struct raw r = raw_masks(text + p);
        valid = len - p >= BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << (len - p)) - 1;
        b = (struct block){.letter = r.letter,
                           .number = r.number,
                           .white = r.white,
                           .space = r.space,
                           .newline = r.newline,
                           .quote = r.quote,
                           .tail = r.tail,
                           .upper = r.upper,
                           .lower = r.letter & ~r.upper,
                           .slash = r.slash,
                           .punct = r.punct,
                           .ascii = r.letter,
                           .high = r.high};
        if (valid != ~(uint64_t)0) {
            r.high &= valid;
            r.tail &= valid;
        }
        if (r.high && (kind == CLASSES_O200K || kind == CLASSES_KIMI))
            add_high_cats(&b, before, &r, text + p, kind);
        else if (r.high && kind == CLASSES_DEEPSEEK)
            add_high_pieces(&b, before, &r, text + p);
        else if (r.high)
            add_high(&b, before, &r, text + p, kind);
    }
    if (valid != ~(uint64_t)0) {
        b.letter &= valid;
        b.number &= valid;
        b.white &= valid;
        b.space &= valid;
        b.newline &= valid;
        b.quote &= valid;
        b.tail &= valid;
        b.upper &= valid;
        b.lower &= valid;
        b.mark &= valid;
        b.slash &= valid;
        b.rare &= valid;
        b.punct &= valid;
        b.cjk &= valid;
        b.ascii &= valid;
        b.high &= valid;
        if (end == TEXT_DOC)
            b.white |= ~valid;
        else
            b.letter |= ~valid;
    }
    return b;
}

/* The last characters of runs of white space, as a mask of their first bytes; something else follows each of them. Only
 * those whose last byte is in `mask`, or in next_mask of the next block. */
INLINE uint64_t last_of_runs(const struct block *b, const struct block *next, uint64_t mask, uint64_t next_mask)
{
    uint64_t last = mask & ~shift_down(b->white, next->white);
    if (((b->white & b->tail) | (next->white & next->tail)) == 0)
        return last;
    /* The first byte is one or two bytes back; the last byte may be in the next block. */
    uint64_t next_last = next_mask & next->white & ~(next->white >> 1);
    uint64_t moved = shift_down(last & b->tail, next_last & next->tail);
    uint64_t next_moved = (next_last & next->tail) >> 1;
    return (last & ~b->tail) | (moved & ~b->tail) | shift_down(moved & b->tail, next_moved & next->tail);
}

/* Adds a start after each contraction, and removes the one after its apostrophe. */
INLINE uint64_t contract(uint64_t starts, const struct block *b, struct before *before, const struct place *at,
                         size_t contraction(const unsigned char *p, size_t room))
{
    starts = (starts & ~before->clear) | before->set;
    before->clear = before->set = 0;
    for (uint64_t quotes = starts & b->quote; quotes; quotes &= quotes - 1) {
        unsigned i = lowest(quotes);
        unsigned n = (unsigned)contraction(at->text + at->at + i, at->len - at->at - i);
        if (n == 0)
            continue;
        if (i + 1 < BLOCK)
            starts &= ~((uint64_t)2 << i);
        else
            before->clear = 1;
        if (i + n < BLOCK)
            starts |= (uint64_t)1 << (i + n);
        else
            before->set |= (uint64_t)1 << (i + n - BLOCK);
    }
    return starts;
}

/* Where classes change in block b. */
INLINE uint64_t changes(const struct block *b, const struct block *was)
{
    return (b->letter ^ shift_up(b->letter, was->letter)) | (b->number ^ shift_up(b->number, was->number)) |
           (b->white ^ shift_up(b->white, was->white));
}

/* Where pretokens start in block b, by scan_gpt2.c's rules. */
INLINE uint64_t gpt2_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    const struct block *was = &before->block;
    uint64_t starts = changes(b, was) & ~(~b->white & shift_up(b->space, was->space));
    return contract(starts | last_of_runs(b, next, b->white, ~(uint64_t)0), b, before, at, gpt2_contraction);
}

/* The same for gpt2-digits: each number starts a pretoken, and white space before it keeps its last space. */
INLINE uint64_t gpt2_digits_starts(const struct block *b, const struct block *next, struct before *before,
                                   struct place *at)
{
    const struct block *was = &before->block;
    uint64_t starts = changes(b, was) & ~(~b->white & shift_up(b->space, was->space));
    starts |= b->number & ~b->tail;
    starts |= last_of_runs(b, next, b->white & ~shift_down(b->number, next->number), ~(next->number >> 1));
    return contract(starts, b, before, at, gpt2_contraction);
}

/* cl100k and derived patterns: every max-th number starts a pretoken, counted from the start of the run of numbers. */
INLINE uint64_t split_numbers(const struct block *b, struct before *before, unsigned max)
{
    if (max == 1)
        return b->number & ~b->tail;
    const struct block *was = &before->block;
    uint64_t second = b->number & shift_up(b->number, was->number);
    uint64_t was_second = was->number & was->number << 1; /* correct in the bits that are used */
    uint64_t over = second & (second << (max - 1) | was_second >> (BLOCK + 1 - max)), starts = 0;
    uint64_t left = b->number & ~b->tail;
    if (!over) { /* runs of at most max bytes */
        unsigned n = b->number >> 63 ? (unsigned)__builtin_clzll(~b->number) : 0;
        before->digits = n ? (unsigned)__builtin_popcountll(left >> (BLOCK - n)) : 0;
        return 0;
    }
    unsigned n = before->digits;
    for (; left; left &= left - 1) {
        uint64_t bit = left & -left;
        if (bit & ~second)
            n = 0;
        if (n == max) {
            starts |= bit;
            n = 0;
        }
        n++;
    }
    before->digits = b->number >> 63 ? n : 0;
    return starts;
}

/* cl100k: `begins` has the positions after a newline where other white space begins, in a run of white space that does
 * not belong to others. Returns those with no newline later in the run. */
INLINE uint64_t after_last_newline(uint64_t begins, const struct block *b, const struct block *next, struct place *at)
{
    uint64_t starts = 0;
    for (; begins; begins &= begins - 1) {
        unsigned i = lowest(begins);
        uint64_t ends = ~(b->white & ~b->newline) >> i, next_ends = ~(next->white & ~next->newline);
        size_t p; /* the end of the other white space */
        if (ends)
            p = at->at + i + lowest(ends);
        else if (next_ends)
            p = at->at + BLOCK + lowest(next_ends);
        else
            p = at->at + 2 * BLOCK;
        size_t n = 0;
        if (!ends && !next_ends) {
            while (p < at->len && (at->text[p] & 0xC0) == 0x80) /* the rest of a character that began earlier */
                p++;
            while (p < at->len && uclass_at(at->text + p, &n) == UCLASS_SPACE && at->text[p] != '\n' &&
                   at->text[p] != '\r')
                p += n;
        }
        if (p >= at->len && at->end == TEXT_MORE) {
            if (at->limit > at->at + i)
                at->limit = at->at + i;
            return starts;
        }
        if (p >= at->len || (at->text[p] != '\n' && at->text[p] != '\r'))
            starts |= (uint64_t)1 << i;
    }
    return starts;
}

/* cl100k and deepseek: where pretokens of white space start, except the one that begins at the last space of a run.
 * Newlines right after others (the bits in after_others) belong to those: *taken. *white: the rest of the white
 * space. */
INLINE uint64_t white_starts(uint64_t after_others, const struct block *b, const struct block *next,
                             const struct before *before, struct place *at, uint64_t *taken, uint64_t *white)
{
    uint64_t first = (after_others | before->absorbing) & b->newline;
    *taken = b->newline & ~(b->newline + first); /* adding a bit to a run of bits clears it */
    *white = b->white & ~*taken;
    uint64_t begins = *white & ~b->newline & shift_up(*white & b->newline, before->rest & before->block.newline);
    uint64_t starts = *white & ~shift_up(*white, before->rest);
    return begins ? starts | after_last_newline(begins, b, next, at) : starts;
}

/* Where pretokens start in block b, ignoring contractions, by scan_cl100k.c's rules, with up to `numbers` numbers in
 * each. taken_newlines: the newlines that belong to others. */
INLINE uint64_t cl100k_runs(const struct block *b, const struct block *next, struct before *before, struct place *at,
                            unsigned numbers, uint64_t *taken_newlines)
{
    const struct block *was = &before->block;
    uint64_t other = ~(b->letter | b->number | b->white | b->cjk), other_before = shift_up(other, before->other);
    uint64_t space_before = shift_up(b->space, was->space);

    uint64_t taken, white, starts = white_starts(other_before, b, next, before, at, &taken, &white);
    uint64_t blank = white & ~b->newline;
    starts |= last_of_runs(b, next, blank, ~(uint64_t)0);

    /* Runs of others, and the first character of each, which belongs to letters that follow it. */
    uint64_t others = other & ~other_before & ~space_before;
    uint64_t lone = others;
    if (b->tail)
        lone = spread(others, b->tail, before->lone);
    starts |= others;

    uint64_t blank_before = shift_up(blank, before->rest & ~was->newline);
    starts |= b->letter & ~shift_up(b->letter, was->letter) & ~blank_before & ~shift_up(lone, before->lone);
    starts |= b->number & ~shift_up(b->number, was->number);
    starts |= split_numbers(b, before, numbers);

    before->other = other;
    before->lone = lone;
    before->rest = white;
    before->absorbing = taken >> 63;
    *taken_newlines = taken;
    return starts;
}

INLINE uint64_t cl100k_starts_by(const struct block *b, const struct block *next, struct before *before,
                                 struct place *at, unsigned numbers)
{
    uint64_t taken, starts = cl100k_runs(b, next, before, at, numbers, &taken);
    return contract(starts, b, before, at, cl100k_contraction);
}

INLINE uint64_t cl100k_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    return cl100k_starts_by(b, next, before, at, 3);
}

INLINE uint64_t nanochat_starts(const struct block *b, const struct block *next, struct before *before,
                                struct place *at)
{
    return cl100k_starts_by(b, next, before, at, 2);
}

INLINE uint64_t qwen2_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    return cl100k_starts_by(b, next, before, at, 1);
}

INLINE uint64_t qwen35_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    return cl100k_starts_by(b, next, before, at, 1);
}

/* For SCANNER_AND_PLAIN: leaves the text from bit i of the block on to the plain scanner. */
INLINE void stick(struct place *at, unsigned i)
{
    if (at->limit > at->at + i) {
        at->limit = at->at + i;
        at->stuck = true;
    }
}

/* o200k: `begins` has the positions where upper case begins after a letter of both cases that is itself not after lower
 * case. Returns those where neither lower case nor a letter of both cases follows the upper case. */
INLINE uint64_t upper_after_both(uint64_t begins, const struct block *b, const struct block *next, struct place *at)
{
    uint64_t starts = 0;
    for (; begins; begins &= begins - 1) {
        unsigned i = lowest(begins);
        uint64_t ends = ~b->upper >> i, next_ends = ~next->upper, follows;
        size_t p; /* the end of the upper case */
        if (ends && i + lowest(ends) < BLOCK) {
            p = at->at + i + lowest(ends);
            follows = b->letter >> (i + lowest(ends));
        } else if (next_ends) {
            p = at->at + BLOCK + lowest(next_ends);
            follows = next->letter >> lowest(next_ends);
        } else {
            stick(at, i);
            return starts;
        }
        if (p >= at->len && at->end == TEXT_MORE) {
            if (at->limit > at->at + i)
                at->limit = at->at + i;
            return starts;
        }
        if (!(follows & 1))
            starts |= (uint64_t)1 << i;
    }
    return starts;
}

/* o200k: adds a start after each contraction that follows a word, and removes those in the contraction. */
INLINE uint64_t contract_words(uint64_t starts, const struct block *b, const struct block *next, struct before *before,
                               struct place *at)
{
    uint64_t done = before->set; /* the ends of contractions: another contraction there belongs to no word */
    starts = (starts & ~before->clear) | done;
    before->clear = before->set = 0;
    uint64_t quotes = b->quote & shift_up(b->letter, before->block.letter);
    uint64_t both = b->letter & ~(b->upper | b->lower), next_both = next->letter & ~(next->upper | next->lower);
    for (; quotes; quotes &= quotes - 1) {
        unsigned i = lowest(quotes);
        if (done >> i & 1)
            continue;
        unsigned n = (unsigned)cl100k_contraction(at->text + at->at + i, at->len - at->at - i), to = i + n;
        if (n == 0)
            continue;
        uint64_t class = to < BLOCK ? both >> to : next_both >> (to - BLOCK);
        if (class & 1) {
            stick(at, i);
            return starts;
        }
        uint64_t all = ((uint64_t)1 << n) - 1;
        starts &= ~(all << i);
        if (to < BLOCK) {
            starts |= (uint64_t)1 << to;
            done |= (uint64_t)1 << to;
        } else {
            before->clear = all >> (BLOCK - i);
            before->set = (uint64_t)1 << (to - BLOCK);
        }
    }
    return starts;
}

/* Where pretokens start in block b, ignoring contractions, by scan_o200k.c's rules: as in cl100k, and where a word ends
 * inside letters. If a mark follows others, or a slash follows newlines that belong to others, the previous character
 * is not enough to decide. This is left to the plain scanner, as are letters of both cases after a contraction, and
 * upper case longer than a block. */
INLINE uint64_t words_starts(const struct block *b, const struct block *next, struct before *before, struct place *at,
                             unsigned numbers, bool slash)
{
    uint64_t was_other = before->other, taken, was_taken = before->absorbing;
    uint64_t starts = cl100k_runs(b, next, before, at, numbers, &taken);
    uint64_t stuck = b->rare | (b->mark & shift_up(before->other, was_other));
    if (slash)
        stuck |= b->slash & (taken << 1 | was_taken);
    if (stuck)
        stick(at, lowest(stuck));

    /* Lower case, and the letters of both cases after it; upper case after these begins a word. */
    uint64_t both = b->letter & ~(b->upper | b->lower), low = b->lower;
    if (both) {
        low |= both & ~(both + (shift_up(low, before->low) & both));
        uint64_t was_both = before->block.letter & ~(before->block.upper | before->low);
        starts |= upper_after_both(b->upper & shift_up(both & ~low, was_both), b, next, at);
    } else if (b->upper & 1 & (before->block.letter & ~(before->block.upper | before->low)) >> 63) {
        starts |= upper_after_both(1, b, next, at);
    }
    starts |= b->upper & shift_up(low, before->low);
    before->low = low;
    return starts;
}

INLINE uint64_t o200k_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    return contract_words(words_starts(b, next, before, at, 3, true), b, next, before, at);
}

INLINE uint64_t tekken_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    return words_starts(b, next, before, at, 1, true);
}

/* Whether Han that is not a letter begins a run of Han depends on what comes before; it is rare, and left to the plain
 * scanner. All other Han is separate from the text around it. */
INLINE uint64_t kimi_starts(const struct block *b, const struct block *next, struct before *before, struct place *at)
{
    uint64_t starts = words_starts(b, next, before, at, 3, false);
    starts |= b->cjk & ~shift_up(b->cjk, before->block.cjk);
    return contract_words(starts, b, next, before, at);
}

/* Where pretokens start in block b, by scan_deepseek.c's rules. Characters in no class are handled only one at a time;
 * several in a row are left to the plain scanner. */
INLINE uint64_t deepseek_starts(const struct block *b, const struct block *next, struct before *before,
                                struct place *at)
{
    const struct block *was = &before->block;
    uint64_t border = b->cjk ^ shift_up(b->cjk, was->cjk);
    uint64_t punct_before = shift_up(b->punct, was->punct) & ~border;
    uint64_t rest = ~(b->letter | b->number | b->white | b->punct), rest_before = shift_up(rest, before->other);
    uint64_t stuck = rest & ~b->tail & rest_before;
    if (stuck)
        stick(at, lowest(stuck));

    /* White space as in cl100k, except that it keeps its last space before numbers and CJK. */
    uint64_t taken, white, starts = white_starts(punct_before, b, next, before, at, &taken, &white);
    uint64_t blank = white & ~b->newline;
    uint64_t stop = b->number | b->cjk, next_stop = next->number | next->cjk;
    starts |= last_of_runs(b, next, blank & ~shift_down(stop, next_stop), ~(next_stop >> 1));

    /* Punctuation. If it is a single ASCII character, the ASCII letters after it belong to it, but no other letters. */
    uint64_t first = b->punct & ~punct_before & ~shift_up(b->space, was->space);
    uint64_t lone = first & ~b->high, names = b->ascii & shift_up(lone, before->lone), sum;
    before->naming = __builtin_add_overflow(b->ascii, names | before->naming, &sum);
    starts |= first | (sum & ~b->ascii & b->letter);

    uint64_t blank_before = shift_up(blank, before->rest & ~was->newline);
    starts |= b->letter & ~shift_up(b->letter, was->letter) & ~blank_before & ~rest_before & ~names;
    starts |= border | (rest & ~rest_before) | (b->number & ~shift_up(b->number, was->number));
    starts |= split_numbers(b, before, 3);

    before->other = rest;
    before->lone = lone;
    before->rest = white;
    before->absorbing = taken >> 63;
    return starts;
}

/* Which of the `firsts`, first characters of runs of others, have a second one after them. other, tail: those of the
 * same block; next_lead: first bytes of others in the next one. */
INLINE uint64_t firsts_of_several(uint64_t firsts, uint64_t other, uint64_t tail, uint64_t next_lead,
                                  uint64_t next_tail)
{
    uint64_t lead = shift_down(other & ~tail, next_lead), more = shift_down(tail, next_tail), found = firsts & lead;
    for (uint64_t left = firsts & more, i = 1; left; i++) { /* a first character of several bytes */
        found |= left & (lead >> i | next_lead << (BLOCK - 1 - i));
        left &= more >> i | next_tail << (BLOCK - 1 - i);
    }
    return found;
}

/* Where pretokens start in block b, by scan_superbpe.c's rules. Slashes after newlines that belong to others are left
 * to the plain scanner. */
INLINE uint64_t superbpe_starts(const struct block *b, const struct block *next, struct before *before,
                                struct place *at)
{
    const struct block *was = &before->block;
    uint64_t other = ~(b->letter | b->number | b->white), next_other = ~(next->letter | next->number | next->white);
    uint64_t firsts = other & ~shift_up(other, before->other), next_first = next_other & ~(other >> 63) & 1;
    firsts = firsts_of_several(firsts, other, b->tail, next_other & ~next->tail, next->tail);
    next_first = firsts_of_several(next_first, next_other, next->tail, 0, 0);

    /* Several others, then newlines: adding a bit to a run of bits clears it. */
    uint64_t was_matched = before->matched >> 63, was_several = was_matched & ~(was->newline >> 63);
    uint64_t several = other & ~(other + (firsts | (was_several & other)));
    uint64_t taken = b->newline & ~(b->newline + (b->newline & (several << 1 | was_matched)));
    uint64_t matched = several | taken;
    uint64_t stuck = b->slash & shift_up(taken, was_matched ? was->newline : 0);
    if (stuck)
        stick(at, lowest(stuck));

    /* 0x20 before several others; other runs of 0x20. */
    uint64_t starts = (firsts & ~shift_up(b->space, was->space)) | (b->space & shift_down(firsts, next_first));
    uint64_t space_before = shift_up(b->space, was->space), white_after = shift_down(b->white, next->white);
    starts |= (b->space & (space_before ^ white_after)) | (b->white & ~b->space & space_before);

    starts |= (b->number ^ shift_up(b->number, was->number)) | split_numbers(b, before, 3);
    starts |= ~matched & shift_up(matched, before->matched);
    before->other = other;
    before->matched = matched;
    return starts;
}

typedef uint64_t starts_fn(const struct block *b, const struct block *next, struct before *before, struct place *at);

/* The loop over blocks. kind: the classes that starts_of needs; stuck, if not NULL: set if masks were not enough. */
INLINE size_t scan_blocks(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,
                          size_t max, starts_fn *starts_of, enum classes kind, bool *stuck)
{
    size_t from = *pos, n = 0, slack = end == TEXT_MORE ? LOOKAHEAD - 1 : 0;
    if (len - from <= slack || max == 0)
        return 0;
    struct place at = {.text = text, .at = from, .len = len, .end = end, .limit = len - slack};
    struct before before = {.set = 1};
    struct block b = classes(text, from, len, end, &before.block, kind);
    uint64_t known = ~(uint64_t)1; /* the first start is *pos itself, which is not an end */
    bool more;
    do {
        struct block next = classes(text, at.at + BLOCK, len, end, &b, kind);
        uint64_t starts = starts_of(&b, &next, &before, &at);
        starts &= known;
        known = ~(uint64_t)0;
        more = at.limit - at.at > BLOCK;
        if (at.limit - at.at < BLOCK)
            starts &= ((uint64_t)1 << (at.limit - at.at)) - 1;
        if (max - n >= BLOCK) {
            n += put_ends(ends + n, starts, (uint32_t)at.at);
        } else {
            for (; starts && n < max; starts &= starts - 1)
                ends[n++] = (uint32_t)(at.at + lowest(starts));
            more = more && !starts && n < max;
        }
        before.block = b;
        b = next;
        at.at += BLOCK;
    } while (more);
    if (stuck)
        *stuck = at.stuck;
    if (end != TEXT_MORE && at.at >= len && n < max && !at.stuck)
        ends[n++] = (uint32_t)len;
    if (n)
        *pos = ends[n - 1];
    return n;
}

#define SCANNER(name, kind)                                                                                            \
    static size_t name(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,        \
                       size_t max)                                                                                     \
    {                                                                                                                  \
        return scan_blocks(text, len, end, pos, ends, max, name##_starts, kind, NULL);                                 \
    }

SCANNER(gpt2, CLASSES)
SCANNER(gpt2_digits, CLASSES_DIGITS)
SCANNER(cl100k, CLASSES)
SCANNER(nanochat, CLASSES)
SCANNER(qwen2, CLASSES)
SCANNER(qwen35, CLASSES_QWEN35)

/* The same for patterns where masks may not be enough: then some pretokens are left to the plain scanner. */
#define SCANNER_AND_PLAIN(name, kind)                                                                                  \
    static size_t name(const unsigned char *text, size_t len, enum window_end end, size_t *pos, uint32_t *ends,        \
                       size_t max)                                                                                     \
    {                                                                                                                  \
        for (size_t n = 0;;) {                                                                                         \
            bool stuck = false;                                                                                        \
            n += scan_blocks(text, len, end, pos, ends + n, max - n, name##_starts, kind, &stuck);                     \
            if (!stuck || n == max)                                                                                    \
                return n;                                                                                              \
            size_t got = scan_##name(text, len, end, pos, ends + n, max - n < PLAIN ? max - n : PLAIN);                \
            if (got == 0)                                                                                              \
                return n;                                                                                              \
            n += got;                                                                                                  \
        }                                                                                                              \
    }

SCANNER_AND_PLAIN(o200k, CLASSES_O200K)
SCANNER_AND_PLAIN(tekken, CLASSES_O200K)
SCANNER_AND_PLAIN(kimi, CLASSES_KIMI)
SCANNER_AND_PLAIN(deepseek, CLASSES_DEEPSEEK)
SCANNER_AND_PLAIN(superbpe, CLASSES)

/* The table that an including file defines for scan_internal.h. */
#define SCANNERS                                                                                                       \
    {                                                                                                                  \
        [PATTERN_GPT2] = gpt2, [PATTERN_CL100K] = cl100k, [PATTERN_CL100K_TIKTOKEN] = cl100k,                          \
        [PATTERN_NANOCHAT] = nanochat, [PATTERN_QWEN2] = qwen2, [PATTERN_O200K] = o200k,                               \
        [PATTERN_DEEPSEEK_V3] = deepseek, [PATTERN_TEKKEN] = tekken, [PATTERN_QWEN35] = qwen35,                        \
        [PATTERN_KIMI_K2] = kimi, [PATTERN_GPT2_DIGITS] = gpt2_digits, [PATTERN_SUPERBPE] = superbpe,                  \
    }

#endif
