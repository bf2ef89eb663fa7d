/* ratio_test.c - ratios, compared with the same arithmetic in 128 bits, and numbers at the limits of 64 bits.
 *
 *   SEED=N  random seed (printed)
 */
#include "base/sys/ratio.h"
#include "random.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

static wide divisor_of(wide a, wide b)
{
    return b ? divisor_of(b, a % b) : a;
}

/* A random number that often shares divisors with others, or nearly fills 64 bits. */
static uint64_t some_number(void)
{
    switch (rnd(4)) {
    case 0:
        return 1 + rnd(60);
    case 1:
        return UINT64_MAX - rnd(60);
    default:
        return 1 + (next_random() >> rnd(64)) / 2;
    }
}

static struct ratio some_ratio(void)
{
    uint64_t num = some_number(), den = some_number();
    uint64_t divisor = (uint64_t)divisor_of(num, den);
    return (struct ratio){num / divisor, den / divisor};
}

static bool multiplies(void)
{
    struct ratio a = some_ratio(), b = some_ratio(), got = {0};
    wide num = (wide)a.num * b.num, den = (wide)a.den * b.den, divisor = divisor_of(num, den);
    bool fits = num / divisor <= UINT64_MAX && den / divisor <= UINT64_MAX;
    if (ratio_multiply(a, b, &got) != fits)
        return false;
    return !fits || (got.num == num / divisor && got.den == den / divisor && ratio_is_reduced(got.num, got.den));
}

static bool finds_multiple(void)
{
    uint64_t a = some_number(), b = some_number(), got = 0;
    wide want = (wide)a * b / divisor_of(a, b);
    return ratio_common(a, b, &got) == (want <= UINT64_MAX) && (want > UINT64_MAX || got == want);
}

static bool scales(void)
{
    struct ratio by = some_ratio();
    uint64_t n = rnd(2) ? some_number() : some_number() / by.den * by.den, got = 0;
    wide product = (wide)n * by.num;
    enum ratio_scaled want = product % by.den                ? RATIO_NOT_WHOLE
                             : product / by.den > UINT64_MAX ? RATIO_TOO_LARGE
                                                             : RATIO_SCALED;
    return ratio_scale(n, by, &got) == want && (want != RATIO_SCALED || got == product / by.den);
}

static bool reads_back(void)
{
    struct ratio v = some_ratio(), back = {0};
    char text[RATIO_TEXT];
    struct err e;
    return ratio_parse(ratio_text(v, text), &back, "-w", &e) == 0 && ratio_equal(v, back);
}

static void test_random(void)
{
    size_t wrong[4] = {0};
    for (size_t i = 0; i < TRIES(200000); i++) {
        wrong[0] += !multiplies();
        wrong[1] += !finds_multiple();
        wrong[2] += !scales();
        wrong[3] += !reads_back();
    }
    tap_ok(!wrong[0], "products are exact, or refused");
    tap_ok(!wrong[1], "common multiples are the least, or refused");
    tap_ok(!wrong[2], "scaled counts are exact, or refused");
    tap_ok(!wrong[3], "a ratio as text is read back");
}

static void test_text(void)
{
    static const struct {
        const char *text;
        struct ratio want;
    } numbers[] = {{"2", {2, 1}},
                   {"6/4", {3, 2}},
                   {"0.3", {3, 10}},
                   {"0.50", {1, 2}},
                   {"1e3", {1000, 1}},
                   {"25E-2", {1, 4}},
                   {"1.5e+1", {15, 1}},
                   {"007", {7, 1}},
                   {"18446744073709551615", {UINT64_MAX, 1}},
                   {"1/18446744073709551615", {1, UINT64_MAX}},
                   {"20000000000000000000e-1", {0}},
                   {"0.10000000000000000000000000", {1, 10}},
                   {"1e-19", {1, 10000000000000000000u}}};
    static const char *const not_numbers[] = {"",      " 2",
                                              "2 ",    "+2",
                                              "-2",    "1/",
                                              "/2",    "1/-2",
                                              "1.",    ".5",
                                              "1.5/2", "1/2/3",
                                              "1e",    "1e+",
                                              "e2",    "0x2",
                                              "inf",   "nan",
                                              "1,5",   "0",
                                              "0/3",   "3/0",
                                              "0.00",  "1e20",
                                              "1e-20", "1e99999999999999999999"};
    struct ratio v;
    struct err e;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bool fits = numbers[i].want.den, good = ratio_parse(numbers[i].text, &v, "-w", &e) == 0;
        tap_ok(good == fits && (!fits || (v.num == numbers[i].want.num && v.den == numbers[i].want.den)), "%s",
               numbers[i].text);
    }
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++)
        tap_ok(ratio_parse(not_numbers[i], &v, "-w", &e) == -1 && e.code == EX_USAGE && strstr(e.msg, "-w "),
               "\"%s\" is refused", not_numbers[i]);
}

static void test_none(void)
{
    const struct ratio none = {0}, one = {1, 1}, two = {2, 1};
    struct ratio v;
    tap_ok(ratio_is_one(none) && ratio_is_one(one) && !ratio_is_one(two), "a zeroed ratio is 1");
    tap_ok(ratio_equal(none, one) && !ratio_equal(none, two), "  and equal to 1");
    tap_ok(ratio_multiply(none, two, &v) && ratio_equal(v, two), "  and as a factor changes nothing");
    tap_ok(!ratio_is_reduced(0, 1) && !ratio_is_reduced(1, 0) && !ratio_is_reduced(2, 4) && ratio_is_reduced(1, 1),
           "lowest terms are recognized");
}

int main(void)
{
    random_seed(1);
    test_random();
    test_text();
    test_none();
    return tap_done();
}
