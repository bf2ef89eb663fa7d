/* packed_key_test.c - the keys of a batch: each version that this processor supports gives the keys of key12_of, their
 * hashes, and the marks, for batches of any size and pretokens of any length; and it does not read too far.
 *
 *   SEED=N       random seed (printed)
 */
#include "base/sys/simd.h"
#include "pretok/packed_key.h"
#include "random.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    TEXT = 1 << 16, /* bytes */
    AHEAD = 16,     /* bytes that may be read after the last pretoken */
    N_BATCHES = 20000,
};

/* Maps n zero bytes that end where readable memory ends. */
static void *map_to_end(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), len = (n + page - 1) / page * page;
    unsigned char *p =
        mmap(NULL, len + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED || mprotect(p + len, page, PROT_NONE) < 0 ? NULL : p + len - n;
}

/* Whether a version gives what the header specifies for these pretokens; prints the first difference. */
static bool right(pack_keys_fn *pack_keys, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                  const struct key12_slots *slots)
{
    static struct key_batch b;
    memset(&b, 0xA5, sizeof b);
    pack_keys(&b, text, start, ends, n, slots);
    for (size_t i = 0; i < n; start = ends[i++]) {
        size_t len = ends[i] - start, slot = slots->spare;
        bool longer = len > KEY12_MAX, is_longer = b.longer[i / 64] >> i % 64 & 1;
        struct key12 key = {0};
        if (!longer) {
            key = key12_of(text + start, len);
            slot = table_slot(key12_hash(slots->secret, key.head, key.tail), slots->shift);
        }
        if (b.head[i] != key.head || b.tail[i] != key.tail || b.slot[i] != slot || is_longer != longer) {
            tap_note("pretoken %zu of %zu, %zu bytes: key %llx %x, slot %llx%s; should be %llx %x, slot %zx", i, n, len,
                     (unsigned long long)b.head[i], b.tail[i], (unsigned long long)b.slot[i],
                     is_longer ? ", longer" : "", (unsigned long long)key.head, key.tail, slot);
            return false;
        }
    }
    if (b.n == n && (n % 64 == 0 || b.longer[n / 64] >> n % 64 == 0))
        return true;
    tap_note("%zu pretokens: the count is %zu, or a bit after the last is set", n, b.n);
    return false;
}

static void test_batches(const char *name, pack_keys_fn *pack_keys)
{
    unsigned char *text = map_to_end(TEXT + AHEAD);
    uint32_t *all_ends = map_to_end(KEY_BATCH * sizeof *all_ends);
    bool ok = text && all_ends;
    for (int k = 0; ok && k < N_BATCHES; k++) {
        uint64_t secret[3] = {next_random() | 1, next_random() | 1, next_random() | 1};
        struct key12_slots slots = {secret, (unsigned)(1 + rnd(63)), rnd(2) ? 0 : (size_t)next_random()};
        size_t n = 1 + rnd(rnd(4) ? KEY_BATCH : 9), max = 1 + rnd(rnd(8) ? 30 : TEXT / KEY_BATCH - 1);
        uint32_t *ends = all_ends + KEY_BATCH - n, at = TEXT;
        for (size_t i = n; i--; at -= 1 + (uint32_t)rnd(max))
            ends[i] = at;
        for (int i = 0; i < 64; i++)
            text[at + rnd(TEXT + AHEAD - at)] = (unsigned char)next_random();
        ok = right(pack_keys, text, at, ends, n, &slots);
    }
    tap_ok(ok, "%s: the keys of batches", name);
}

/* Pretokens whose lengths have the same low bits as short ones. */
static void test_long(const char *name, pack_keys_fn *pack_keys)
{
    unsigned char *text = map_to_end(((size_t)1 << 32) + AHEAD);
    bool ok = text;
    for (unsigned bits = 4; ok && bits < 32; bits++) {
        for (uint32_t low = 0; ok && low < 16; low++) {
            uint64_t secret[3] = {1, 3, 5};
            struct key12_slots slots = {secret, 40, 7};
            uint32_t ends[] = {1, 1 + ((uint32_t)1 << bits | low)};
            ok = right(pack_keys, text, 0, ends, 2, &slots);
        }
    }
    tap_ok(ok, "%s: long pretokens", name);
}

int main(void)
{
    static const struct {
        enum simd level;
        pack_keys_fn *const *pack_keys;
    } versions[] = {
        {SIMD_NONE, &pack_keys_plain}, {SIMD_NEON, &pack_keys_neon},     {SIMD_SSE2, &pack_keys_sse2},
        {SIMD_AVX2, &pack_keys_avx2},  {SIMD_AVX512, &pack_keys_avx512},
    };
    random_seed(7);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *name = simd_name(versions[i].level);
        if (!*versions[i].pack_keys || !simd_has(versions[i].level)) {
            tap_ok(1, "%s # SKIP not supported by this processor or compiler", name);
            continue;
        }
        test_batches(name, *versions[i].pack_keys);
        test_long(name, *versions[i].pack_keys);
    }
    return tap_done();
}
