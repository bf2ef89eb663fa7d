/* token_index_test.c - the index of tokens by bytes, compared with a search of all tokens. */
#include "base/sys/hash_index.h"
#include "model/token_index.h"
#include "random.h"
#include "tap.h"

#include <string.h>

enum { MOST = 3000, LONGEST = 40 };

static unsigned char bytes[MOST][LONGEST + MODEL_PAD];
static struct model_token token[MOST];
static size_t n;

static uint32_t plain_find(const unsigned char *p, size_t len, bool vocab)
{
    for (uint32_t i = 0; i < n; i++)
        if (token[i].len == len && token[i].vocab == vocab && !memcmp(token[i].p, p, len))
            return i;
    return MODEL_NO_ID;
}

/* A token of few letters, so that many tokens are equal or have common prefixes; random bytes follow it. */
static size_t random_token(unsigned char *p)
{
    size_t len = rnd(4) ? rnd(5) : rnd(LONGEST + 1);
    for (size_t i = 0; i < LONGEST + MODEL_PAD; i++)
        p[i] = (unsigned char)(i < len ? rnd(3) : rnd(256));
    return len;
}

static void test_random(void)
{
    struct token_index x = {0};
    struct err e;
    size_t wrong = 0, lost = 0;
    for (size_t round = 0; round < 2 * MOST && n < MOST; round++) {
        unsigned char p[LONGEST + MODEL_PAD];
        size_t len = random_token(p);
        bool vocab = rnd(2);
        if (token_index_grow(&x, n + 1, &e))
            break;
        uint32_t hash = token_hash(&x, p, len, vocab), want = plain_find(p, len, vocab);
        struct hash_slot *s = token_slot(&x, token, p, len, vocab, hash);
        wrong += s->n1 - 1 != want;
        if (s->n1)
            continue;
        memcpy(bytes[n], p, sizeof p);
        token[n] = (struct model_token){bytes[n], (uint32_t)len, vocab};
        *s = (struct hash_slot){hash, (uint32_t)++n};
    }
    for (size_t i = 0; i < n; i++)
        lost += token_find(&x, token, token[i].p, token[i].len, token[i].vocab) != i;
    tap_ok(!wrong, "a token is found by its bytes and kind, or is not in the index");
    tap_ok(!lost && n > 500, "%zu tokens are still found after the table has grown to %zu slots", n, x.slots.n);
    token_index_free(&x);
}

/* An attacker does not know the key, but two tokens with the same hash must still be told apart. */
static void test_same_hash(void)
{
    static const unsigned char a[1 + MODEL_PAD] = "a", b[1 + MODEL_PAD] = "b";
    const struct model_token two[] = {{a, 1, true}, {b, 1, true}};
    struct token_index x = {0};
    struct err e;
    if (token_index_grow(&x, 2, &e))
        return;
    for (uint32_t i = 0; i < 2; i++)
        *token_slot(&x, two, two[i].p, 1, true, 7) = (struct hash_slot){7, i + 1};
    tap_ok(token_slot(&x, two, b, 1, true, 7)->n1 == 2 && token_slot(&x, two, a, 1, true, 7)->n1 == 1,
           "tokens with the same hash are distinguished");
    tap_ok(!token_slot(&x, two, a, 1, false, 7)->n1, "so are tokens outside of the vocabulary");
    token_index_free(&x);
}

static void test_too_many(void)
{
    struct hash_index t = {0};
    struct err e = {0};
    tap_ok(hash_index_grow(&t, (size_t)1 << 31, "a table", &e) == -1 && e.code == EX_OSERR && !t.n,
           "a table for 2^31 numbers is refused");
    hash_index_free(&t);
}

int main(void)
{
    random_seed(20240702);
    test_random();
    test_same_hash();
    test_too_many();
    return tap_done();
}
