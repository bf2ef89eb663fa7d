/* train_test.c - common/train/trainer.h: cases worked out by hand, and random corpora compared with the slow trainer of
 * tests/oracle/learn_plain.h.
 *
 *   SEED=N  random seed (printed)
 */
#include "train/trainer.h"

#include "../oracle/learn_plain.h"
#include "base/sys/hash.h"
#include "base/sys/simd.h"
#include "random.h"

#include <inttypes.h>
#include <sys/time.h>

static const char *const tie_name[] = {[TRAIN_HF] = "hf",
                                       [TRAIN_LEX] = "lex",
                                       [TRAIN_ID] = "id",
                                       [TRAIN_SMALLEST] = "smallest",
                                       [TRAIN_GREATEST] = "greatest",
                                       [TRAIN_LEAST] = "least"};

/* ---- by hand ---- */

struct hand {
    const char *name;
    enum train_tie tie;
    uint32_t more; /* vocab_size minus 256 */
    uint64_t min_frequency, max_token_len;
    const char *special; /* separated by spaces */
    const char *words;   /* WORD:COUNT ..., '_' stands for a space */
    const char *want;    /* LEFT+RIGHT:COUNT ... */
};

/* Each with count_once. */
static const struct hand once_hands[] = {
    {"once: aaa contains the pair once", TRAIN_LEAST, 9, 0, 0, "", "aaa:1", "a+a:1 aa+a:1"},
    {"once: baa contains it once", TRAIN_LEAST, 9, 0, 0, "", "baa:2 ba:1", "b+a:3 ba+a:2"},
    {"once: aaaa contains it twice, and aaaaa", TRAIN_LEAST, 2, 0, 0, "", "aaaa:1 aaaaa:2", "a+a:6 aa+aa:3"},
    {"once: a pair that is less frequent than it seems", TRAIN_LEAST, 2, 0, 0, "", "aaa:3 bc:5 bd:4", "b+c:5 b+d:4"},
    {"once: it comes after those of its true count", TRAIN_LEAST, 9, 0, 0, "", "aaa:2 Xb:2 zz:2",
     "X+b:2 a+a:2 aa+a:2 z+z:2"},
    {"once: a row that becomes shorter keeps its count", TRAIN_LEAST, 2, 0, 0, "", "aaab:3 ab:1", "a+b:4 a+a:3"},
    {"once: the row of a new token", TRAIN_LEAST, 3, 0, 0, "", "ababab:5 cd:6", "a+b:15 c+d:6 ab+ab:5"},
    {"once: min_frequency means the true count", TRAIN_LEAST, 9, 3, 0, "", "aaa:2 bc:3", "b+c:3"},
    {"ties, least: a space and capital letters come first", TRAIN_LEAST, 9, 0, 0, "", "ab:1 _b:1 Ab:1",
     "_+b:1 A+b:1 a+b:1"},
    {"ties, least: bytes by value", TRAIN_LEAST, 9, 0, 0, "", "\303b:1 zb:1", "z+b:1 \\xc3+b:1"},
};

struct limited_hand {
    bool utf8_boundaries;
    const char *veto; /* separated by spaces */
    struct hand h;
};

static const struct hand hands[] = {
    {"no pretokens", TRAIN_HF, 9, 0, 0, "", "", ""},
    {"pretokens without a pair", TRAIN_HF, 9, 0, 0, "", "a:7 b:1", ""},
    {"no merge if the vocabulary is full", TRAIN_HF, 0, 0, 0, "", "ab:1", ""},
    {"no merge if special tokens fill the vocabulary", TRAIN_LEX, 1, 0, 0, "<s>", "ab:1", ""},
    {"stops when no pair is left", TRAIN_HF, 99, 0, 0, "", "ab:1", "a+b:1"},
    {"stops at the vocabulary size", TRAIN_HF, 1, 0, 0, "", "ab:2 cd:1", "a+b:2"},
    {"aaa contains the pair twice", TRAIN_HF, 9, 0, 0, "", "aaa:1", "a+a:2 aa+a:1"},
    {"aaaa becomes two tokens", TRAIN_HF, 9, 0, 0, "", "aaaa:1", "a+a:3 aa+aa:1"},
    {"aaaaa is replaced from the left", TRAIN_HF, 9, 0, 0, "", "aaaaa:1", "a+a:4 aa+a:1 aa+aaa:1"},
    {"aaaaa, ties by bytes", TRAIN_LEX, 9, 0, 0, "", "aaaaa:1", "a+a:4 aa+aa:1 aaaa+a:1"},
    {"abab: touching occurrences give one new pair", TRAIN_HF, 9, 0, 0, "", "abab:3", "a+b:6 ab+ab:3"},
    {"ababab, and repetitions of the new token", TRAIN_HF, 9, 0, 0, "", "ababab:2", "a+b:6 ab+ab:4 abab+ab:2"},
    {"babab: the pair between occurrences disappears", TRAIN_HF, 9, 0, 0, "", "babab:1 ab:2", "a+b:4 b+ab:1 bab+ab:1"},
    {"ties, hf: the smallest ids", TRAIN_HF, 9, 0, 0, "", "cd:1 ab:1 cb:1", "a+b:1 c+b:1 c+d:1"},
    {"ties, lex: the greatest bytes", TRAIN_LEX, 9, 0, 0, "", "cb:1 ab:1 cd:1", "c+d:1 c+b:1 a+b:1"},
    {"ties, lex: longer is greater", TRAIN_LEX, 9, 0, 0, "", "xab:3 ab:3 ax:1 abx:1", "a+b:7 x+ab:3 ab+x:1 a+x:1"},
    {"ties, lex: equal in the first eight bytes", TRAIN_LEX, 99, 0, 0, "",
     "aaaaaaaabx:8 aaaaaaaacx:8 aaaaaaaab:1 aaaaaaaac:1",
     "a+a:126 aa+aa:54 aaaa+aaaa:18 aaaaaaaa+c:9 aaaaaaaa+b:9 aaaaaaaac+x:8 aaaaaaaab+x:8"},
    {"ties, smallest: equal in the first eight bytes", TRAIN_SMALLEST, 99, 0, 0, "",
     "aaaaaaaa_x:8 aaaaaaaacx:8 aaaaaaaa_:1 aaaaaaaac:1",
     "a+a:126 aa+aa:54 aaaa+aaaa:18 aaaaaaaa+c:9 aaaaaaaa+_:9 aaaaaaaac+x:8 aaaaaaaa_+x:8"},
    {"ties, hf: a space comes after letters", TRAIN_HF, 9, 0, 0, "", "_b:1 ab:1", "a+b:1 _+b:1"},
    {"ties, id: a space comes before letters", TRAIN_ID, 9, 0, 0, "", "_b:1 ab:1", "_+b:1 a+b:1"},
    {"ties, hf: bytes of Latin-1 letters come before the space", TRAIN_HF, 9, 0, 0, "", "_b:1 \303b:1",
     "\\xc3+b:1 _+b:1"},
    {"ties: merges come after bytes", TRAIN_ID, 9, 0, 0, "", "ab:5 abz:2 \377z:2", "a+b:7 \\xff+z:2 ab+z:2"},
    {"the order of ids is the order of merges", TRAIN_HF, 9, 0, 0, "", "xy:9 ab:8 xyz:1 abz:1",
     "x+y:10 a+b:9 xy+z:1 ab+z:1"},
    {"a special token that is a byte shares its id", TRAIN_HF, 1, 0, 0, "c", "ab:5 ca:5", "c+a:5"},
    {"the same, with other ties: it has its own id", TRAIN_ID, 1, 0, 0, "c", "ab:5 ca:5", ""},
    {"special tokens given twice count once", TRAIN_HF, 2, 0, 0, "<s> <s>", "ab:5", "a+b:5"},
    {"a merge spelled like a special token needs no new id", TRAIN_HF, 2, 0, 0, "ab", "ab:5 cd:4 ef:3", "a+b:5 c+d:4"},
    {"the same, with other ties: it needs one", TRAIN_ID, 2, 0, 0, "ab", "ab:5 cd:4 ef:3", "a+b:5"},
    {"a special token spelled with a space", TRAIN_HF, 4, 0, 0, "\304\240the", "_the:9 xy:1",
     "h+e:9 t+he:9 _+the:9 x+y:1"},
    {"a merge spelled like a special token has its id", TRAIN_HF, 9, 0, 0, "cd", "ab:9 abz:2 cd:8 cdz:2",
     "a+b:11 c+d:10 cd+z:2 ab+z:2"},
    {"max_token_len is strict", TRAIN_HF, 9, 0, 3, "", "abc:1", "a+b:1"},
    {"max_token_len allows shorter tokens", TRAIN_HF, 9, 0, 4, "", "abc:1", "a+b:1 ab+c:1"},
    {"max_token_len exempts pairs of two bytes", TRAIN_HF, 9, 0, 1, "", "aaa:1", "a+a:2"},
    {"max_token_len and a frequent long pretoken", TRAIN_HF, 2, 0, 3, "", "abc:9 de:1", "a+b:9 d+e:1"},
    {"min_frequency is the lowest count that merges", TRAIN_HF, 9, 3, 0, "", "ab:3 cd:2", "a+b:3"},
    {"a pretoken added twice", TRAIN_HF, 2, 0, 0, "", "ab:9 ab:9 cd:3 ef:2", "a+b:18 c+d:3"},
    {"counts up to 2^64-1", TRAIN_HF, 9, 0, 0, "", "ab:18446744073709551615", "a+b:18446744073709551615"},
    {"counts above 2^63 in a repetition", TRAIN_HF, 9, 0, 0, "", "aaa:9223372036854775807",
     "a+a:18446744073709551614 aa+a:9223372036854775807"},
};

static const struct limited_hand limited_hands[] = {
    {true,
     "",
     {"characters: a space and the first bytes of letters do not merge", TRAIN_HF, 9, 0, 0, "",
      "_\303\251:9 _\303\250:9", "\\xc3+\\xa8:9 \\xc3+\\xa9:9 _+\\xc3\\xa8:9 _+\\xc3\\xa9:9"}},
    {true,
     "",
     {"characters: the last bytes of a character merge first", TRAIN_HF, 2, 0, 0, "",
      "\342\202\254:3 \342\202\255:1 \342\204\254:1", "\\xe2+\\x82:4 \\xe2\\x82+\\xac:3"}},
    {true,
     "",
     {"characters: any three later bytes are a part, four are not", TRAIN_HF, 9, 0, 0, "",
      "\200\200\200:9 \200\200\200\200\200:1", "\\x80+\\x80:22 \\x80\\x80+\\x80:10"}},
    {true,
     "",
     {"characters: bytes and pairs of bytes that are in no character", TRAIN_HF, 9, 0, 0, "",
      "\377\377:9 \300\200:9 \340\200:9 \355\240:9 \303\303:9 \200\303:9 ab:1", "a+b:1"}},
    {true, "", {"characters: these do not raise the floor", TRAIN_HF, 1, 0, 0, "", "\377\377:9 ab:1", "a+b:1"}},
    {false, "bc", {"veto: across the border of two tokens", TRAIN_HF, 9, 0, 0, "", "abcd:9", "a+b:9 c+d:9"}},
    {false, "abcd abx", {"veto: longer than the pair", TRAIN_HF, 9, 0, 0, "", "abcd:9", "a+b:9 c+d:9"}},
    {false, "aaa", {"veto: a string that overlaps itself", TRAIN_HF, 9, 0, 0, "", "aaaaa:1", "a+a:4"}},
    {false,
     "xabz xa xabcx",
     {"veto: the beginning of one ends in another", TRAIN_HF, 9, 0, 0, "", "xabcy:9", "a+b:9 c+y:9 ab+cy:9"}},
    {false, "b", {"veto: a byte remains a token", TRAIN_HF, 9, 0, 0, "", "abc:2 de:1", "d+e:1"}},
    {false, "ab ab", {"veto: several equal ones", TRAIN_HF, 9, 0, 0, "", "abc:2", "b+c:2"}},
    {false,
     "bc",
     {"veto: a pretoken with one does not raise the floor", TRAIN_HF, 2, 0, 0, "", "abc:9 de:1", "a+b:9 d+e:1"}},
};

static char *print_token(char *out, const struct merge *m, uint32_t t)
{
    if (t >= 256)
        return print_token(print_token(out, m, m[t - 256].left), m, m[t - 256].right);
    if (t > 0x7e)
        return out + sprintf(out, "\\x%02x", (unsigned)t);
    *out = t == ' ' ? '_' : (char)t;
    return out + 1;
}

static int by_hand(const struct hand *h, bool once, bool utf8_boundaries, const char *vetoed, char *got)
{
    char words[256], special[64], vetoes[64], *save;
    struct special_token sp[8] = {0};
    struct str veto[8];
    struct train_opts o = {.tie = h->tie,
                           .vocab_size = 256 + h->more,
                           .min_frequency = h->min_frequency,
                           .max_token_len = h->max_token_len,
                           .count_once = once,
                           .utf8_boundaries = utf8_boundaries,
                           .veto = veto,
                           .special = sp};
    struct err e = {0};
    struct merge *m = NULL;
    size_t n = 0;
    strcpy(vetoes, vetoed);
    for (char *s = strtok_r(vetoes, " ", &save); s; s = strtok_r(NULL, " ", &save))
        veto[o.n_veto++] = str_of(s);
    strcpy(special, h->special);
    for (char *s = strtok_r(special, " ", &save); s; s = strtok_r(NULL, " ", &save))
        sp[o.n_special++].text = str_of(s);
    struct trainer *l = trainer_new(&e);
    strcpy(words, h->words);
    for (char *s = strtok_r(words, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        size_t len = strcspn(s, ":");
        for (size_t i = 0; i < len; i++)
            if (s[i] == '_')
                s[i] = ' ';
        trainer_add(l, (unsigned char *)s, len, strtoull(s + len + 1, NULL, 10), &e);
    }
    trainer_run(l, &o, &m, &n, &e);
    char *out = got;
    for (size_t i = 0; i < n; i++) {
        out += sprintf(out, "%s", i ? " " : "");
        out = print_token(out, m, m[i].left);
        *out++ = '+';
        out = print_token(out, m, m[i].right);
        out += sprintf(out, ":%" PRIu64, trainer_steps(l)[i].count);
    }
    *out = 0;
    free(m);
    trainer_free(l);
    return !e.code && !strcmp(got, h->want);
}

static void test_by_hand(void)
{
    char got[1000];
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++)
        if (!tap_ok(by_hand(&hands[i], false, false, "", got), "%s", hands[i].name))
            tap_note("got '%s', want '%s'", got, hands[i].want);
    for (size_t i = 0; i < sizeof once_hands / sizeof *once_hands; i++)
        if (!tap_ok(by_hand(&once_hands[i], true, false, "", got), "%s", once_hands[i].name))
            tap_note("got '%s', want '%s'", got, once_hands[i].want);
    for (size_t i = 0; i < sizeof limited_hands / sizeof *limited_hands; i++) {
        const struct limited_hand *l = &limited_hands[i];
        if (!tap_ok(by_hand(&l->h, false, l->utf8_boundaries, l->veto, got), "%s", l->h.name))
            tap_note("got '%s', want '%s'", got, l->h.want);
    }
}

/* ---- errors ---- */

static void test_errors(void)
{
    struct train_opts o = {.tie = TRAIN_HF, .vocab_size = 300};
    struct merge *m = NULL;
    size_t n;
    struct err e = {0};
    struct trainer *l = trainer_new(&e);
    int first = trainer_add(l, (const unsigned char *)"ab", 2, UINT64_MAX, &e);
    int second = trainer_add(l, (const unsigned char *)"c", 1, 1, &e);
    tap_ok(!first && second == -1 && e.code == EX_DATAERR, "a sum of counts above 2^64-1 is refused");
    trainer_free(l);

    e = (struct err){0};
    l = trainer_new(&e);
    trainer_add(l, (const unsigned char *)"aaa", 3, (uint64_t)1 << 63, &e);
    tap_ok(!e.code && trainer_run(l, &o, &m, &n, &e) == -1 && e.code == EX_DATAERR,
           "a pair that counts more than 2^64-1 is refused");
    trainer_free(l);

    e = (struct err){0};
    l = trainer_new(&e);
    tap_ok(trainer_add(l, (const unsigned char *)"ab", UINT32_MAX, 1, &e) == -1 && e.code == EX_DATAERR,
           "a pretoken of more bytes than a position can represent is refused");
    trainer_free(l);
    trainer_free(NULL);
}

/* ---- random corpora ---- */

struct corpus_words {
    unsigned char (*bytes)[64];
    size_t *len;
    uint64_t *count;
    size_t n;
};

/* Bytes, or characters of one to four bytes, some of which are not valid. */
static const struct str alphabets[2][8] = {
    {{(const void *)"a", 1},
     {(const void *)"b", 1},
     {(const void *)" ", 1},
     {(const void *)"", 1},
     {(const void *)"\xc3", 1},
     {(const void *)"\n", 1},
     {(const void *)"z", 1},
     {(const void *)"\xff", 1}},
    {{(const void *)"\xe4\xb8\xad", 3},
     {(const void *)"a", 1},
     {(const void *)"\xc3\xa9", 2},
     {(const void *)"\xf0\x9f\x98\x80", 4},
     {(const void *)"\xe4\xb8\x80", 3},
     {(const void *)"\xc3\xa8", 2},
     {(const void *)"\xed\xa0\x80", 3},
     {(const void *)"\x98", 1}},
};

/* Few letters, repetitions and equal counts, which give many ties. */
static void random_words(struct corpus_words *w)
{
    const struct str *alphabet = alphabets[rnd(2)];
    size_t n_letters = 1 + rnd(rnd(4) ? 3 : 8), first = rnd(8), max_len = 1 + rnd(rnd(4) ? 8 : 63);
    uint64_t max_count = (uint64_t[]){1, 3, 20, 1000000, (uint64_t)1 << 52}[rnd(5)];
    w->n = rnd(rnd(3) ? 12 : 60);
    w->bytes = must(calloc(w->n + 1, sizeof *w->bytes));
    w->len = must(calloc(w->n + 1, sizeof *w->len));
    w->count = must(calloc(w->n + 1, sizeof *w->count));
    for (size_t i = 0; i < w->n; i++) {
        struct str letter = {NULL, 0};
        size_t len = rnd(max_len + 1);
        w->count[i] = 1 + rnd(max_count);
        while (w->len[i] < len) {
            letter = letter.p && rnd(3) == 0 ? letter : alphabet[(first + rnd(n_letters)) % 8];
            size_t left = 64 - w->len[i], n = letter.len < left ? letter.len : left;
            memcpy(w->bytes[i] + w->len[i], letter.p, n);
            w->len[i] += n;
        }
    }
}

static void shuffle(struct corpus_words *w)
{
    for (size_t i = w->n; i > 1; i--) {
        size_t j = rnd(i), k = i - 1, len = w->len[j];
        uint64_t count = w->count[j];
        unsigned char bytes[64];
        memcpy(bytes, w->bytes[j], 64);
        memcpy(w->bytes[j], w->bytes[k], 64);
        memcpy(w->bytes[k], bytes, 64);
        w->len[j] = w->len[k];
        w->len[k] = len;
        w->count[j] = w->count[k];
        w->count[k] = count;
    }
}

static void free_words(struct corpus_words *w)
{
    free(w->bytes);
    free(w->len);
    free(w->count);
}

/* A special token that a merge might spell: part of a word, in byte-to-unicode form. */
static struct bytes random_special(const struct plain *spelled, const struct corpus_words *w)
{
    struct bytes s = {must(malloc(128)), 0};
    size_t i = rnd(w->n + 1), len = i < w->n ? w->len[i] : 0, from = rnd(len + 1), to = from + rnd(5);
    for (size_t j = from; j < to && j < len; j++) {
        struct bytes text = spelled->token[w->bytes[i][j]].text;
        memcpy(s.p + s.len, text.p, text.len);
        s.len += text.len;
    }
    if (s.len == 0)
        s.len = (size_t)sprintf((char *)s.p, "<%d>", (int)rnd(3));
    return s;
}

/* Vetoed strings are parts of words, some followed by another byte, so that a token may end with the first bytes. */
static void random_limits(struct args *a, const struct corpus_words *w)
{
    a->utf8_boundaries = rnd(3) == 0;
    a->n_veto = rnd(2) ? 0 : rnd(rnd(2) ? 3 : 20);
    a->veto = must(calloc(a->n_veto + 1, sizeof *a->veto));
    for (size_t i = 0; i < a->n_veto; i++) {
        struct bytes *v = &a->veto[i];
        size_t k = rnd(w->n + 1), len = k < w->n ? w->len[k] : 0, from = rnd(len + 1), n = rnd(rnd(2) ? 4 : 9);
        v->p = must(malloc(n + 1));
        for (size_t j = from; j < from + n && j < len; j++)
            v->p[v->len++] = w->bytes[k][j];
        if (v->len == 0 || rnd(4) == 0)
            v->p[v->len++] = (unsigned char)"ab \303\251"[rnd(5)];
    }
}

static void random_args(struct args *a, enum train_tie tie, const struct corpus_words *w)
{
    struct args plain_args = {.tie = "id"};
    struct plain spelled;
    plain_init(&spelled, &plain_args);
    *a = (struct args){.tie = tie_name[tie], .n_special = rnd(3) ? 0 : rnd(5)};
    a->special = must(calloc(a->n_special + 1, sizeof *a->special));
    for (size_t i = 0; i < a->n_special; i++)
        a->special[i] = random_special(&spelled, w);
    a->vocab_size = 256 + a->n_special + rnd(rnd(2) ? 8 : 60);
    a->min_frequency = rnd(3) ? 0 : rnd(30);
    a->max_token_len = rnd(3) ? 0 : rnd(9);
    a->count_once = tie == TRAIN_LEAST || rnd(8) == 0;
    plain_free(&spelled);
    random_limits(a, w);
}

static int same_merge(const struct merge *m, const struct train_step *step, const struct plain_pair *want)
{
    return m->left == want->left && m->right == want->right && step->count == want->count &&
           step->replaced == want->replaced && step->n_vocab == want->n_vocab;
}

/* Whether the trainer gives the same result as the slow one. window: as in train_opts. */
static int same_as_plain(const struct args *a, enum train_tie tie, const struct corpus_words *w, const struct plain *t,
                         uint32_t window)
{
    struct special_token sp[8] = {0};
    for (size_t i = 0; i < a->n_special; i++)
        sp[i].text = (struct str){a->special[i].p, a->special[i].len};
    struct str *veto = must(calloc(a->n_veto + 1, sizeof *veto));
    for (size_t i = 0; i < a->n_veto; i++)
        veto[i] = (struct str){a->veto[i].p, a->veto[i].len};
    struct train_opts o = {.tie = tie,
                           .vocab_size = (uint32_t)a->vocab_size,
                           .min_frequency = a->min_frequency,
                           .max_token_len = a->max_token_len,
                           .count_once = a->count_once,
                           .utf8_boundaries = a->utf8_boundaries,
                           .veto = veto,
                           .n_veto = a->n_veto,
                           .special = sp,
                           .n_special = a->n_special,
                           .window = window};
    struct err e = {0};
    struct merge *m = NULL;
    size_t n = 0;
    struct trainer *l = trainer_new(&e);
    for (size_t i = 0; i < w->n; i++)
        trainer_add(l, w->bytes[i], w->len[i], w->count[i], &e);
    int same = !e.code && !trainer_run(l, &o, &m, &n, &e) && n == t->n_merge;
    for (size_t i = 0; same && i < n; i++)
        same = same_merge(&m[i], &trainer_steps(l)[i], &t->merge[i]);
    free(m);
    trainer_free(l);
    free(veto);
    return same;
}

/* A window that fits the longest pretoken, but not all pretokens: as with more than 2^32 slots, an item of a list does
 * not identify its slot without its window. */
static uint32_t random_window(const struct corpus_words *w)
{
    size_t longest = 0, all = 0;
    for (size_t i = 0; i < w->n; i++) {
        longest = w->len[i] > longest ? w->len[i] : longest;
        all += w->len[i] + 1;
    }
    size_t part = all / (1 + rnd(4));
    return (uint32_t)((longest > part ? longest : part) + 1 + rnd(3));
}

static void test_random(enum train_tie tie, size_t n_corpora)
{
    size_t bad = 0, merges = 0;
    for (size_t i = 0; i < n_corpora; i++) {
        uint64_t start = random_state;
        struct corpus_words w;
        struct args a;
        struct plain t;
        random_words(&w);
        random_args(&a, tie, &w);
        plain_init(&t, &a);
        for (size_t j = 0; j < w.n; j++)
            plain_add_word(&t, w.bytes[j], w.len[j], w.count[j]);
        plain_run(&t);
        int same = same_as_plain(&a, tie, &w, &t, 0),
            windows = i % 4 || same_as_plain(&a, tie, &w, &t, random_window(&w));
        shuffle(&w);
        int shuffled = same_as_plain(&a, tie, &w, &t, 0);
        if ((!same || !windows || !shuffled) && bad++ < 5)
            tap_note("corpus %zu differs%s: try SEED=%" PRIu64, i,
                     !same      ? ""
                     : !windows ? " in small windows"
                                : " when shuffled",
                     start);
        merges += t.n_merge;
        plain_free(&t);
        free_args(&a);
        free_words(&w);
    }
    tap_ok(!bad,
           "%s: %zu random corpora, each in two orders, some in small windows, equal the slow trainer's (%zu "
           "merges)",
           tie_name[tie], n_corpora, merges);
}

/* ---- extending a model, in windows ---- */

enum { BASE_TOKENS = 256 + 30, BASE_MERGES = 40, ID_WORDS = 60, ID_WORD_MAX = 20, ID_LEN_MAX = 20 };

/* A model whose tokens are random pairs of others, some of them the result of several merges. */
struct random_base {
    struct model m;
    struct model_token token[BASE_TOKENS];
    struct merge merge[BASE_MERGES];
    unsigned char text[BASE_TOKENS][ID_LEN_MAX + MODEL_PAD];
};

static uint32_t random_id(const struct random_base *b)
{
    return b->m.n_ids == 256 || rnd(2) ? 'a' + (uint32_t)rnd(3) : 256 + (uint32_t)rnd(b->m.n_ids - 256);
}

/* Adds a merge of two random tokens, and its token if it is new. */
static void random_base_merge(struct random_base *b)
{
    const uint32_t left = random_id(b), right = random_id(b);
    const struct model_token *l = &b->token[left], *r = &b->token[right];
    unsigned char made[2 * ID_LEN_MAX];
    const uint32_t len = l->len + r->len;
    uint32_t id = 0;
    memcpy(made, l->p, l->len);
    memcpy(made + l->len, r->p, r->len);
    while (id < b->m.n_ids && !(b->token[id].len == len && !memcmp(b->token[id].p, made, len)))
        id++;
    for (size_t i = 0; i < b->m.n_merges; i++)
        if (b->merge[i].left == left && b->merge[i].right == right)
            return;
    if (len > ID_LEN_MAX || id == BASE_TOKENS)
        return;
    if (id == b->m.n_ids) {
        memcpy(b->text[id], made, len);
        b->token[b->m.n_ids++] = (struct model_token){b->text[id], len, true};
    }
    b->merge[b->m.n_merges++] = (struct merge){left, right, id};
}

static void random_base(struct random_base *b)
{
    *b = (struct random_base){.m = {.token = b->token, .merge = b->merge, .n_ids = 256}};
    for (unsigned i = 0; i < 256; i++) {
        b->text[i][0] = (unsigned char)i;
        b->token[i] = (struct model_token){b->text[i], 1, true};
        b->m.byte_id[i] = i;
    }
    for (size_t i = 0; i < 200 && b->m.n_merges < BASE_MERGES; i++)
        random_base_merge(b);
}

/* Merges what the model merges. Returns the new number of ids. */
static size_t encode_plainly(const struct random_base *b, uint32_t *id, size_t n)
{
    for (;;) {
        size_t best = b->m.n_merges, at = 0;
        for (size_t i = 0; i + 1 < n; i++)
            for (size_t k = 0; k < best; k++)
                if (b->merge[k].left == id[i] && b->merge[k].right == id[i + 1]) {
                    best = k;
                    at = i;
                }
        if (best == b->m.n_merges)
            return n;
        id[at] = b->merge[best].result;
        memmove(&id[at + 1], &id[at + 2], (n - at - 2) * sizeof *id);
        n--;
    }
}

/* The merges that extend the model, given random pretokens. Returns their number; -1: error. */
static long extend(const struct random_base *b, uint64_t start, enum train_tie tie, uint32_t window, size_t *slots,
                   struct merge **merges, uint64_t *counts)
{
    struct err e = {0};
    size_t n = 0;
    struct train_opts o = {.tie = tie, .vocab_size = b->m.n_ids + 20, .window = window};
    struct trainer *l = trainer_new(&e);
    int rc = trainer_extend(l, &b->m, false, &e);
    random_state = start;
    o.min_frequency = rnd(4) ? 0 : 3;
    o.max_token_len = rnd(4) ? 0 : 5;
    *slots = 0;
    for (size_t i = 0; i < ID_WORDS && !rc; i++) {
        uint32_t id[ID_WORD_MAX];
        size_t n_ids = 1 + rnd(ID_WORD_MAX);
        for (size_t k = 0; k < n_ids; k++)
            id[k] = 'a' + (uint32_t)rnd(3);
        *slots += n_ids + 1;
        n_ids = encode_plainly(b, id, n_ids);
        rc = trainer_add_ids(l, id, n_ids, 1 + rnd(9), &e);
    }
    rc = rc || trainer_run(l, &o, merges, &n, &e);
    for (size_t i = 0; i < n && !rc; i++)
        counts[i] = trainer_steps(l)[i].count;
    trainer_free(l);
    return rc ? -1 : (long)n;
}

/* Windows change nothing. That the merges are right is tested in tests/oracle/extend.t. */
static void test_extended_windows(enum train_tie tie, size_t n_models)
{
    enum { MANY = 1000 };
    static struct random_base b;
    static uint64_t want_counts[MANY], counts[MANY];
    size_t bad = 0, n_merges = 0, again = 0;
    for (size_t i = 0; i < n_models; i++) {
        struct merge *want = NULL, *got = NULL;
        size_t slots;
        random_base(&b);
        const uint64_t start = random_state;
        long n_want = extend(&b, start, tie, 0, &slots, &want, want_counts);
        uint32_t window = (uint32_t)(ID_WORD_MAX + 2 + slots / (1 + rnd(4)));
        const uint64_t next = random_state;
        long n_got = extend(&b, start, tie, window, &slots, &got, counts);
        random_state = next;
        bool same = n_want >= 0 && n_want == n_got && n_want < MANY;
        for (long k = 0; k < n_want && same; k++) {
            same = !memcmp(&want[k], &got[k], sizeof *want) && want_counts[k] == counts[k];
            again += want[k].result < b.m.n_ids;
        }
        bad += !same;
        n_merges += (size_t)n_want;
        free(want);
        free(got);
    }
    tap_ok(!bad && again,
           "%s: %zu models are extended the same in small windows (%zu merges, %zu of them make old tokens)",
           tie_name[tie], n_models, n_merges, again);
}

/* ---- large ---- */

/* One pretoken of n bytes; more than 65,536 need wide slots. */
static void test_long_word(enum train_tie tie, size_t n, size_t letters, uint64_t min_frequency)
{
    const bool once = tie == TRAIN_LEAST;
    struct args a = {.tie = tie_name[tie], .vocab_size = 200000, .min_frequency = min_frequency, .count_once = once};
    struct train_opts o = {.tie = tie, .vocab_size = 200000, .min_frequency = min_frequency, .count_once = once};
    struct err e = {0};
    struct merge *m = NULL;
    struct plain t;
    size_t n_merges = 0;
    unsigned char *p = must(malloc(n));
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)('a' + rnd(letters));
    plain_init(&t, &a);
    plain_add_word(&t, p, n, 1);
    plain_run(&t);
    struct trainer *l = trainer_new(&e);
    trainer_add(l, p, n, 1, &e);
    int same = !trainer_run(l, &o, &m, &n_merges, &e) && n_merges == t.n_merge;
    for (size_t i = 0; same && i < n_merges; i++)
        same = same_merge(&m[i], &trainer_steps(l)[i], &t.merge[i]);
    tap_ok(same, "%s: a pretoken of %zu bytes, %zu letters (%zu merges)", tie_name[tie], n, letters, t.n_merge);
    free(m);
    trainer_free(l);
    plain_free(&t);
    free(p);
}

/* One pretoken of several megabytes, such as DNA, or a document counted as a whole. If each merge, or each byte, took
 * time linear in its length, this would take minutes of CPU time, and the timer would kill the test. */
static void test_long_in_time(const char *name, size_t letters, size_t period, uint32_t more, bool once)
{
    enum { N = 4000000 / LESS, SECONDS = 30 };
    struct train_opts o = {.tie = TRAIN_HF, .vocab_size = 256 + more, .count_once = once};
    struct err e = {0};
    struct merge *m = NULL;
    size_t n = 0;
    unsigned char *p = must(malloc(N));
    for (size_t i = 0; i < N; i++)
        p[i] = i < period ? (unsigned char)('a' + rnd(letters)) : p[i - period];
    struct trainer *l = trainer_new(&e);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
    trainer_add(l, p, N, 1, &e);
    int rc = trainer_run(l, &o, &m, &n, &e);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    tap_ok(!rc && (n == more || trainer_steps(l)[n - 1].count == 1), "a pretoken of %d bytes, %s%s: %zu merges in time",
           N, name, once ? ", counted once" : "", n);
    free(m);
    trainer_free(l);
    free(p);
}

/* So many special tokens that the symbols of bytes, or of some merges, need wide slots. No text spells them, so nothing
 * else may change. */
static void test_many_special(size_t n_special)
{
    enum { N = 70000 };
    static char text[N][8];
    static struct special_token special[N];
    struct err e = {0};
    struct merge *few = NULL, *many = NULL;
    struct train_opts o = {.tie = TRAIN_HF, .vocab_size = 256 + 500};
    struct train_opts o_many = {
        .tie = TRAIN_HF, .vocab_size = 256 + 500 + (uint32_t)n_special, .special = special, .n_special = n_special};
    size_t n_few = 0, n_many = 0;
    for (size_t i = 0; i < n_special; i++)
        special[i].text = (struct str){(unsigned char *)text[i], (size_t)sprintf(text[i], "<%zu>", i)};
    struct trainer *l = trainer_new(&e);
    struct trainer *l_many = trainer_new(&e);
    for (size_t i = 0; i < 500; i++) {
        unsigned char p[12];
        uint64_t count = 1 + rnd(9);
        for (size_t j = 0; j < sizeof p; j++)
            p[j] = (unsigned char)('a' + rnd(20));
        trainer_add(l, p, sizeof p, count, &e);
        trainer_add(l_many, p, sizeof p, count, &e);
    }
    int same =
        !trainer_run(l, &o, &few, &n_few, &e) && !trainer_run(l_many, &o_many, &many, &n_many, &e) && n_few == n_many;
    for (size_t i = 0; same && i < n_few; i++)
        same = few[i].left == many[i].left && few[i].right == many[i].right &&
               trainer_steps(l)[i].count == trainer_steps(l_many)[i].count;
    tap_ok(same && n_few == 500, "%zu special tokens that text does not spell change nothing", n_special);
    free(few);
    free(many);
    trainer_free(l);
    trainer_free(l_many);
}

/* Each pretoken has a different count, so each block of equal counts contains one word. */
static void test_distinct_counts(void)
{
    enum { N = 3000 };
    struct args a = {.tie = "hf", .vocab_size = 256 + 60};
    struct corpus_words w = {must(calloc(N, 64)), must(calloc(N, sizeof(size_t))), must(calloc(N, sizeof(uint64_t))),
                             N};
    struct plain t;
    plain_init(&t, &a);
    for (size_t i = 0; i < N; i++) {
        w.len[i] = 2 + rnd(4);
        w.count[i] = i + 1;
        for (size_t j = 0; j < w.len[i]; j++)
            w.bytes[i][j] = (unsigned char)('a' + rnd(10));
        plain_add_word(&t, w.bytes[i], w.len[i], w.count[i]);
    }
    plain_run(&t);
    tap_ok(same_as_plain(&a, TRAIN_HF, &w, &t, 0), "%d pretokens, each with a different count", N);
    plain_free(&t);
    free_words(&w);
}

/* Some letters are common and most are rare, so some pairs of bytes are dense, and the lists of the others are made at
 * different times. */
static void test_rare_letters(enum train_tie tie)
{
    enum { N = 4000 / LESS };
    struct args a = {.tie = tie_name[tie], .vocab_size = 256 + 400};
    struct corpus_words w = {must(calloc(N, 64)), must(calloc(N, sizeof(size_t))), must(calloc(N, sizeof(uint64_t))),
                             N};
    struct plain t;
    plain_init(&t, &a);
    for (size_t i = 0; i < N; i++) {
        w.len[i] = 2 + rnd(10);
        w.count[i] = 1 + 1000 / (1 + rnd(1000));
        for (size_t j = 0; j < w.len[i]; j++)
            w.bytes[i][j] = (unsigned char)('a' + rnd(1 + rnd(1 + rnd(60))));
        plain_add_word(&t, w.bytes[i], w.len[i], w.count[i]);
    }
    plain_run(&t);
    const enum simd best = simd_level();
    for (int i = 0; i < 2; i++) {
        tap_ok(same_as_plain(&a, tie, &w, &t, 0) && same_as_plain(&a, tie, &w, &t, 1000),
               "%s, %s: %d pretokens, some letters common, most rare (%zu merges)", tie_name[tie],
               simd_name(simd_level()), N, t.n_merge);
        simd_use(SIMD_NONE);
    }
    simd_use(best);
    plain_free(&t);
    free_words(&w);
}

static void on_progress(void *ctx, uint64_t done, uint64_t goal)
{
    uint64_t *last = ctx;
    *last = done >= *last && done <= goal && goal == 1000 ? done : UINT64_MAX;
}

static void test_progress(void)
{
    uint64_t last = 0;
    struct train_opts o = {.tie = TRAIN_ID, .vocab_size = 1256, .progress = on_progress, .progress_ctx = &last};
    struct err e = {0};
    struct merge *m = NULL;
    unsigned char p[8];
    size_t n = 0;
    struct trainer *l = trainer_new(&e);
    for (size_t i = 0; i < 1000; i++) {
        for (size_t j = 0; j < sizeof p; j++)
            p[j] = (unsigned char)rnd(256);
        trainer_add(l, p, sizeof p, 1, &e);
    }
    tap_ok(!trainer_run(l, &o, &m, &n, &e) && n == 1000 && last > 0 && last <= 1000,
           "progress is reported, and increases");
    free(m);
    trainer_free(l);
}

int main(void)
{
    uint64_t seed;
    random_bytes(&seed, sizeof seed);
    random_seed(seed);
    test_by_hand();
    test_errors();
    for (enum train_tie tie = TRAIN_HF; tie <= TRAIN_LEAST; tie++) {
        test_random(tie, (tie <= TRAIN_ID ? 600u : tie == TRAIN_LEAST ? 400u : 200u) / LESS);
        test_extended_windows(tie, 100);
        if (tie == TRAIN_LEAST || tie <= TRAIN_ID)
            test_long_word(tie, 900, 3, 0);
        if (tie > TRAIN_ID)
            continue;
        test_rare_letters(tie);
        test_long_word(tie, 70000, 2, 200);
        test_long_word(tie, 100000, 1, 0);
    }
    test_long_in_time("four letters", 4, 4000000, 200000, false);
    for (int once = 0; once < 2; once++) {
        test_long_in_time("one letter", 1, 1, 20000, once);
        test_long_in_time("one page repeated", 50, 5000, 20000, once);
    }
    test_many_special(70000);
    test_many_special(65000);
    test_distinct_counts();
    test_progress();
    return tap_done();
}
