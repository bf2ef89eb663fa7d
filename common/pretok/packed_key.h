/* packed_key.h - short pretokens packed into integers: up to 11 bytes into a key of 12 bytes, up to 23 into one of 24.
 * The last byte of a key is the pretoken's length, so different pretokens have different keys, and no key is 0.
 *
 * Such keys are compared and hashed in a few instructions, and stored in the slots of hash tables without a pointer to
 * the text. In English, 97 of 100 pretokens fit the shorter key. The tables that count pretokens (count/table.h) and
 * remember their ids (encode/id_cache.h) use these keys; a longer pretoken has no key, and they store its bytes.
 */
#ifndef BPE_PRETOK_PACKED_KEY_H
#define BPE_PRETOK_PACKED_KEY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    KEY12_MAX = 11, /* longest pretoken that fits, in bytes */
    KEY24_MAX = 23,
    KEY_BATCH = 256, /* pretokens whose keys are made together */
};

/* The key of a pretoken of at most KEY12_MAX bytes. In memory: its bytes, zeros, and its length as the twelfth byte;
 * so no pretoken has a tail of 0, which marks free slots. */
struct key12 {
    uint64_t head;
    uint32_t tail;
};

/* The shift that moves a byte to the last position in memory of an integer of 4 or 8 bytes. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { LAST_OF_4 = 0, LAST_OF_8 = 0 };
#else
enum { LAST_OF_4 = 24, LAST_OF_8 = 56 };
#endif

/* A mask of 24 bytes, in one cache line: the first len are all ones, the others 0. len <= 24. */
static inline const unsigned char *keep_first(size_t len)
{
    static const _Alignas(64) unsigned char mask[48] = {
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    };
    return mask + 24 - len;
}

/* The key of p[0 .. len), len <= KEY12_MAX; 12 bytes are read. */
static inline struct key12 key12_of(const unsigned char *p, size_t len)
{
    assert(len <= KEY12_MAX);
    const unsigned char *keep = keep_first(len);
    struct key12 key, m;
    memcpy(&key.head, p, 8);
    memcpy(&key.tail, p + 8, 4);
    memcpy(&m.head, keep, 8);
    memcpy(&m.tail, keep + 8, 4);
    return (struct key12){key.head & m.head, (key.tail & m.tail) | (uint32_t)len << LAST_OF_4};
}

static inline size_t key12_len(uint32_t tail)
{
    return tail >> LAST_OF_4 & 0xFF;
}

/* Multiplicative hashing with an odd secret (Dietzfelbinger et al., 1997): the high bits are the good ones. The tail
 * is multiplied by another secret before it is added, so that nobody can choose colliding pretokens without knowing
 * the secrets. */
static inline uint64_t key12_hash(const uint64_t secret[3], uint64_t head, uint32_t tail)
{
    uint64_t x = (head ^ secret[0]) + tail * (secret[2] & UINT32_MAX);
    return (x ^ x >> 32) * secret[1];
}

/* The key of a pretoken of at most KEY24_MAX bytes. In memory: its bytes, zeros, and its length as the last byte. */
struct key24 {
    uint64_t k[3];
};

/* The key of p[0 .. len), len <= KEY24_MAX; 24 bytes are read. */
static inline struct key24 key24_of(const unsigned char *p, size_t len)
{
    struct key24 key, keep;
    memcpy(&key, p, 24);
    memcpy(&keep, keep_first(len), 24);
    for (int i = 0; i < 3; i++)
        key.k[i] &= keep.k[i];
    key.k[2] |= (uint64_t)len << LAST_OF_8;
    return key;
}

/* The two halves of a product of 128 bits, combined by XOR: the step of wyhash. */
static inline uint64_t multiply_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 u128;
    u128 m = (u128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t key24_hash(const uint64_t secret[3], const uint64_t k[3])
{
    return multiply_fold(multiply_fold(k[0] ^ secret[0], k[1] ^ secret[1]) ^ k[2], secret[2]);
}

static inline bool key24_equal(const uint64_t a[3], const uint64_t b[3])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) == 0; /* one branch rather than three */
}

/* A hash table has 2^(64 - shift) slots; the high bits of a hash are the number of the slot where a search begins. */
static inline size_t table_slots(unsigned shift)
{
    return (SIZE_MAX >> shift) + 1;
}

static inline size_t table_slot(uint64_t hash, unsigned shift)
{
    return (size_t)(hash >> shift);
}

static inline size_t table_next_slot(size_t at, unsigned shift)
{
    return (at + 1) & (SIZE_MAX >> shift);
}

/* The parameters that give the slot of a key in a table of 12-byte keys. */
struct key12_slots {
    const uint64_t *secret; /* [3], of key12_hash; borrowed */
    unsigned shift;
    size_t spare; /* the slot of pretokens without a key: a free one, unless the caller checks whether tail is 0 */
};

/* The keys of consecutive pretokens, and the slots where their searches begin. A pretoken longer than KEY12_MAX has its
 * bit in longer[] set, a key of 0, and the spare slot, so that a loop over all pretokens needs no branch on the length
 * and vectors are stored without gaps. Items from n on are undefined, except the bits of longer[] up to the end of
 * their word, which are 0. */
struct key_batch {
    size_t n;
    _Alignas(64) uint64_t head[KEY_BATCH];
    uint64_t slot[KEY_BATCH];
    uint32_t tail[KEY_BATCH];
    uint64_t longer[KEY_BATCH / 64]; /* bit i % 64 of item i / 64 */
};

/* Makes the keys of the n <= KEY_BATCH pretokens text[start .. ends[0]), text[ends[0] .. ends[1]) and so on; 16 bytes
 * after the last one must be readable. */
typedef void pack_keys_fn(struct key_batch *b, const unsigned char *text, size_t start, const uint32_t *ends, size_t n,
                          const struct key12_slots *slots);

/* The fastest version at the current simd_level(). */
pack_keys_fn *pack_keys_best(void);

/* The versions it chooses from; vector versions are NULL if the compiler does not support the instructions. */
extern pack_keys_fn *const pack_keys_plain, *const pack_keys_neon, *const pack_keys_sse2, *const pack_keys_avx2,
                                                                                              *const pack_keys_avx512;

/* ---- For the versions that make the keys of four pretokens at a time ---- */

/* The ends of the next four pretokens; n >= 1 are left. If n < 4, they are copied to `last` and followed by empty
 * pretokens, which end where the last one does. */
static inline const uint32_t *four_ends(const uint32_t *ends, size_t n, uint32_t last[4])
{
    if (n >= 4)
        return ends;
    for (size_t k = 0; k < 4; k++)
        last[k] = ends[k < n ? k : n - 1];
    return last;
}

/* Records which of the four pretokens from i on are longer than KEY12_MAX, one bit each; i is a multiple of four.
 * longer: what the call for the previous four returned; 0 at first. The bits are stored in b->longer when 64 of them,
 * or all n, are known. */
static inline uint64_t note_longer(struct key_batch *b, size_t i, size_t n, uint64_t longer, unsigned four)
{
    longer |= (uint64_t)four << i % 64;
    if (i % 64 != 60 && n - i > 4)
        return longer;
    b->longer[i / 64] = longer;
    return 0;
}

#endif
