/* trainer.c - see trainer.h: chooses the next pair to merge and the number of the new symbol. train_corpus.c carries
 * out the merges.
 *
 * Symbols are numbered so that the tie rule can prefer the smallest pair of numbers. They are Hugging Face's ids
 * (special tokens, bytes by their code point, merges) or rustbpe's (bytes, merges), plus 1. If bytes decide ties, the
 * numbers do not matter.
 *
 * Only one merge makes a given string, and the same one wherever the string occurs. Take a part of a pretoken that
 * becomes one token in the end, so that no token ever crossed one of its edges. Then all merges inside it happened as
 * if it stood alone: a merge replaces all occurrences of its pair; and when equal symbols in a row are replaced from
 * the left, an odd number of them before or after the part would have made a token cross its edge. So the merges inside
 * the part follow from its bytes, and so does the merge that completes it. Therefore symbol numbers and strings
 * correspond one to one, even when a merge takes the number of a special token with the same text, and a pair that was
 * merged never reappears.
 *
 * All of this also holds when a model is extended, because encoding, too, merges the inside of such a part as if it
 * stood alone. The merges may then make tokens of the model, but none that the text has held before. The symbol of a
 * token is its id plus 1, and extension.h decides which token a merge makes.
 */
#include "train/trainer.h"

#include "base/sys/buf.h"
#include "base/sys/bytes.h"
#include "pretok/byte_level.h"
#include "train/extension.h"
#include "train/parity.h"
#include "train/train_corpus.h"
#include "train/train_pretokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { PROGRESS_EVERY = 256 }; /* merges */

/* A special token of the vocabulary, by its text. */
struct reserved {
    uint32_t symbol;
    bool made; /* whether a merge has made it */
    UT_hash_handle hh;
};

struct trainer {
    struct train_opts o;
    bool balances;
    struct parity parity;       /* if balances */
    bool extends, units;        /* units: by superwords, from tokens that are one slot each */
    struct extension extension; /* if extends */
    struct buf symbols;         /* working memory */
    uint64_t *barred;           /* the same: the pairs that may not be merged */
    size_t n_barred, barred_cap;
    struct train_pretokens pretokens;
    struct train_limits *limits; /* owned; NULL: none */
    struct corpus corpus;
    uint32_t byte[256];  /* the symbol of each byte */
    uint32_t n_symbols;  /* numbers assigned so far */
    uint64_t n_vocab;    /* tokens so far, as counted under the tie rule */
    uint64_t n_first;    /* the same before the first merge */
    uint32_t *public_id; /* by symbol: the number that the caller gets, as in model/model.h */
    uint32_t *len;       /* by symbol: its number of bytes */
    size_t public_cap, len_cap;
    struct reserved *reserved, *reserved_room; /* TRAIN_HF: a hash table by text, and the array of its items */
    size_t reserved_len;                       /* length of the longest text */
    bool *reserved_chars; /* [0 .. reserved_len]: a text has this many characters, and so may spell this many bytes */
    unsigned char *text;  /* buffer for a token in byte-to-unicode form: 2 * reserved_len */
    struct merge *merges;
    struct train_step *steps; /* of the merges */
    size_t n, cap, steps_cap;
    size_t turn; /* the rivals that were next so far */
    bool full;
};

/* ---- numbers of symbols ---- */

static size_t n_chars(const struct str *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->len; i++)
        n += (s->p[i] & 0xc0) != 0x80;
    return n;
}

/* Numbers the special tokens, which come first; equal ones share a number. */
static int number_special(struct trainer *l, struct err *e)
{
    l->reserved_room = calloc(l->o.n_special ? l->o.n_special : 1, sizeof *l->reserved_room);
    if (!l->reserved_room)
        return err_mem(e, "the special tokens", l->o.n_special * sizeof *l->reserved_room);
    for (size_t i = 0; i < l->o.n_special; i++) {
        const struct str *s = &l->o.special[i].text;
        struct reserved *r;
        HASH_FIND(hh, l->reserved, s->p, s->len, r);
        if (r)
            continue;
        r = &l->reserved_room[i];
        r->symbol = ++l->n_symbols;
        HASH_ADD_KEYPTR(hh, l->reserved, s->p, s->len, r);
        if (!r->hh.tbl)
            return err_mem(e, "the special tokens", sizeof(UT_hash_table));
        if (s->len > l->reserved_len)
            l->reserved_len = s->len;
    }
    l->text = malloc(2 * l->reserved_len + 2);
    l->reserved_chars = calloc(l->reserved_len + 1, sizeof *l->reserved_chars);
    if (!l->text || !l->reserved_chars)
        return err_mem(e, "the special tokens", 3 * l->reserved_len + 3);
    for (size_t i = 0; i < l->o.n_special; i++)
        l->reserved_chars[n_chars(&l->o.special[i].text)] = true;
    return 0;
}

/* Numbers the bytes next, by their code point in the byte-to-unicode map, except those that are special tokens. */
static void number_bytes_hf(struct trainer *l)
{
    unsigned char order[256];
    byte_level_order(order);
    for (size_t i = 0; i < 256; i++) {
        struct reserved *r;
        unsigned char text[2];
        size_t len = byte_level_char(text, order[i]);
        HASH_FIND(hh, l->reserved, text, len, r);
        l->byte[order[i]] = r ? r->symbol : ++l->n_symbols;
    }
    l->n_vocab = l->n_symbols;
}

static void number_bytes_by_value(struct trainer *l)
{
    for (unsigned byte = 0; byte < 256; byte++)
        l->byte[byte] = ++l->n_symbols;
    l->n_vocab = l->n_symbols + l->o.n_special;
}

static int name_symbol(struct trainer *l, uint32_t symbol, size_t id, uint32_t len, struct err *e)
{
    if (array_grow(&l->public_id, &l->public_cap, (size_t)symbol + 1, sizeof *l->public_id, "the vocabulary", e) ||
        array_grow(&l->len, &l->len_cap, (size_t)symbol + 1, sizeof *l->len, "the vocabulary", e))
        return -1;
    l->public_id[symbol] = (uint32_t)id;
    l->len[symbol] = len;
    return 0;
}

/* Numbers the special tokens and the bytes, as the tie rule requires. */
static int number_symbols(struct trainer *l, struct err *e)
{
    if (l->o.tie == TRAIN_HF) {
        if (number_special(l, e))
            return -1;
        number_bytes_hf(l);
    } else {
        number_bytes_by_value(l);
    }
    for (uint32_t i = 0; i < 256; i++)
        if (name_symbol(l, l->byte[i], i, 1, e))
            return -1;
    return 0;
}

/* ---- merges ---- */

/* Byte i of a symbol. */
static unsigned char byte_at(const struct trainer *l, uint32_t symbol, uint32_t i)
{
    while (l->public_id[symbol] >= 256) {
        const struct merge *m = &l->merges[l->public_id[symbol] - 256];
        uint32_t left = l->len[m->left];
        symbol = i < left ? m->left : m->right;
        i -= i < left ? 0 : left;
    }
    return (unsigned char)l->public_id[symbol];
}

/* The special token whose text is that of the merged pair, or NULL. */
static struct reserved *find_reserved(const struct trainer *l, uint32_t left, uint32_t right)
{
    uint32_t len_left = l->len[left];
    uint64_t len = (uint64_t)len_left + l->len[right];
    if (len > l->reserved_len || !l->reserved_chars[len])
        return NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < len; i++)
        n += byte_level_char(l->text + n, i < len_left ? byte_at(l, left, i) : byte_at(l, right, i - len_left));
    struct reserved *r;
    HASH_FIND(hh, l->reserved, l->text, n, r);
    return r;
}

/* The symbol that a merge makes: a new one, unless its text is that of a special token. */
static uint32_t merged_symbol(struct trainer *l, uint64_t key)
{
    struct reserved *r = find_reserved(l, pair_left(key), pair_right(key));
    if (!r) {
        l->n_vocab++;
        return ++l->n_symbols;
    }
    assert(!r->made);
    r->made = true;
    return r->symbol;
}

/* An upper bound on the number of merges: one for each free id and each special token, and at most one for each
 * pair. */
static uint64_t merges_at_most(const struct trainer *l)
{
    uint64_t n = l->o.vocab_size - l->n_vocab + HASH_COUNT(l->reserved);
    return n < l->pretokens.pairs ? n : l->pretokens.pairs;
}

static bool ties_by_bytes(enum train_tie tie)
{
    return tie == TRAIN_LEX || tie == TRAIN_SMALLEST || tie == TRAIN_GREATEST || tie == TRAIN_LEAST;
}

/* Sets the order of bytes by which strings are compared, for the tie rules that do so. Returns whether there is one.
 * spelled: tokens are spelled as bytes are in tokenizer.json, and not as characters, whose order is that of UTF-8. */
static bool byte_ranks(enum train_tie tie, bool spelled, unsigned char rank[256])
{
    unsigned char order[256];
    byte_level_order(order);
    for (unsigned i = 0; i < 256; i++)
        rank[spelled && (tie == TRAIN_SMALLEST || tie == TRAIN_GREATEST) ? order[i] : i] = (unsigned char)i;
    return ties_by_bytes(tie);
}

static bool has_limits(const struct train_opts *o)
{
    return o->utf8_boundaries || o->n_veto;
}

static int make_limits(struct trainer *l, uint64_t n_symbols, struct err *e)
{
    const struct train_opts *o = &l->o;
    const bool superwords = l->units && !l->extension.joins;
    if (!has_limits(o) && !superwords)
        return 0;
    l->limits = train_limits_new(o->utf8_boundaries, superwords, o->veto, o->n_veto, (uint32_t)n_symbols, e);
    return l->limits ? 0 : -1;
}

/* Sets the options that the user chose. rank: room for the order of bytes. */
static void set_opts(const struct trainer *l, struct corpus_opts *co, unsigned char rank[256])
{
    const bool spelled = !l->extends || !model_of_characters(l->extension.base);
    co->limits = l->limits;
    co->max_len = l->o.max_token_len;
    co->window = l->o.window;
    co->order = byte_ranks(l->o.tie, spelled, rank) ? rank : NULL;
    co->greatest = l->o.tie == TRAIN_LEX || l->o.tie == TRAIN_GREATEST;
    co->once = l->o.count_once;
}

static int lay_out(struct trainer *l, struct corpus_opts *co, struct err *e)
{
    unsigned char rank[256];
    set_opts(l, co, rank);
    return corpus_init(&l->corpus, &l->pretokens, co, e);
}

/* Lays out the pretokens. This needs an upper bound on the number of merges. */
static int prepare(struct trainer *l, struct err *e)
{
    uint64_t at_most = merges_at_most(l), floor;
    uint64_t n_symbols = l->n_symbols + at_most < UINT32_MAX - 1 ? l->n_symbols + at_most : UINT32_MAX - 1;
    train_pretokens_classify(&l->pretokens);
    if (make_limits(l, n_symbols, e) ||
        train_pretokens_bound(&l->pretokens, at_most, l->o.max_token_len, l->limits, &floor, e))
        return -1;
    struct corpus_opts co = {
        .n_symbols = (uint32_t)n_symbols,
        .byte = l->byte,
        .floor = l->o.min_frequency > floor ? l->o.min_frequency : floor,
    };
    return lay_out(l, &co, e);
}

/* Adds a merge, after its token; corpus_merge sets its `replaced`. */
static int add_merge(struct trainer *l, struct merge m, uint64_t count, struct err *e)
{
    if (array_grow(&l->merges, &l->cap, l->n + 1, sizeof *l->merges, "the merges", e) ||
        array_grow(&l->steps, &l->steps_cap, l->n + 1, sizeof *l->steps, "the merges", e))
        return -1;
    l->steps[l->n] = (struct train_step){.count = count, .n_vocab = (uint32_t)l->n_vocab};
    l->merges[l->n++] = m;
    return 0;
}

/* Gives a merge its symbol *z, and adds it. */
static int new_merge(struct trainer *l, const struct pair *top, uint32_t *z, struct err *e)
{
    const uint32_t left = pair_left(top->key), right = pair_right(top->key);
    *z = merged_symbol(l, top->key);
    if (name_symbol(l, *z, 256 + l->n, l->len[left] + l->len[right], e))
        return -1;
    return add_merge(l, (struct merge){left, right, 256 + (uint32_t)l->n}, top->count, e);
}

static int one_merge(struct trainer *l, struct pair *top, struct err *e)
{
    uint32_t z;
    return new_merge(l, top, &z, e) || corpus_merge(&l->corpus, top, z, &l->steps[l->n - 1].replaced, e) ? -1 : 0;
}

/* As pairs_pop, with exact counts. */
static int pop_plain(struct trainer *l, struct pair *top, struct err *e)
{
    int popped, right = 0;
    while ((popped = pairs_pop(&l->corpus.pairs, top, e)) > 0 && (right = corpus_check_count(&l->corpus, top, e)) == 0)
        ;
    return right < 0 ? -1 : popped;
}

/* ---- parity ---- */

static int prepare_parity(struct trainer *l, uint64_t goal, struct err *e)
{
    const uint64_t n_symbols = l->n_symbols + goal + HASH_COUNT(l->reserved);
    struct corpus_opts co = {.n_symbols = n_symbols < UINT32_MAX - 1 ? (uint32_t)n_symbols : UINT32_MAX - 1,
                             .byte = l->byte,
                             .floor = l->o.min_frequency > 1 ? l->o.min_frequency : 1};
    unsigned char rank[256];
    if (make_limits(l, co.n_symbols, e))
        return -1;
    set_opts(l, &co, rank);
    return parity_lay_out(&l->parity, &co, goal, e);
}

static int one_balanced(struct trainer *l, struct pair *top, struct err *e)
{
    uint32_t z;
    return new_merge(l, top, &z, e) || parity_merge(&l->parity, top, z, &l->steps[l->n - 1].replaced, e) ? -1 : 0;
}

/* ---- extending a model ---- */

static bool is_barred(const struct trainer *l, uint64_t key)
{
    for (size_t i = 0; i < l->n_barred; i++)
        if (l->barred[i] == key)
            return true;
    return false;
}

/* As pairs_pop. The bound on counts is only an estimate, because merges need not make new tokens. So when no pair is
 * left above it, all pairs are counted again. */
static int pop_extension(struct trainer *l, struct pair *top, struct err *e)
{
    const uint64_t least = l->o.min_frequency > 1 ? l->o.min_frequency : 1;
    int popped = pop_plain(l, top, e);
    if (popped == 0 && l->corpus.pairs.floor > least)
        popped = corpus_recount(&l->corpus, least, e) ? -1 : pop_plain(l, top, e);
    return popped;
}

/* Merges a pair, unless it may not be merged. A merge that makes no new token also changes the text; it is listed
 * unless the model has it. */
static int one_extension(struct trainer *l, struct pair *top, struct err *e)
{
    const uint32_t left = pair_left(top->key) - 1, right = pair_right(top->key) - 1;
    uint32_t id;
    int kind = is_barred(l, top->key) ? EXTENSION_BARRED : extension_merge(&l->extension, left, right, &id, e);
    if (kind < 0)
        return -1;
    if (kind == EXTENSION_BARRED) {
        corpus_skip(&l->corpus, top);
        if (array_grow(&l->barred, &l->barred_cap, l->n_barred + 1, sizeof *l->barred, "the pairs", e))
            return -1;
        l->barred[l->n_barred++] = top->key;
        return 0;
    }
    uint64_t replaced;
    l->n_vocab += kind == EXTENSION_NEW;
    if (corpus_holds(&l->corpus, id + 1)) /* see above */
        return err_set(e, EX_DATAERR, "the sum was not counted by this model, or is damaged");
    if (l->extension.joins)
        corpus_name(&l->corpus, id + 1, l->extension.token[id].p, l->extension.token[id].len);
    if ((kind != EXTENSION_KNOWN && add_merge(l, (struct merge){left, right, id}, top->count, e)) ||
        corpus_merge(&l->corpus, top, id + 1, &replaced, e))
        return -1;
    l->steps[l->n - 1].replaced += replaced; /* a merge of the model can act again only after a new one */
    return 0;
}

static int prepare_extension(struct trainer *l, uint64_t goal, struct err *e)
{
    const uint64_t n_symbols = l->extension.n + goal;
    if (n_symbols > UINT32_MAX - 1)
        return err_set(e, EX_USAGE, "a vocabulary of %llu tokens is too large", (unsigned long long)n_symbols);
    const struct model *base = l->extension.base;
    struct corpus_opts co = {.n_symbols = (uint32_t)n_symbols, .token = l->extension.token, .units = l->units};
    for (unsigned i = 0; i < 256 && !model_of_characters(base); i++)
        l->byte[i] = base->byte_id[i] + 1;
    co.byte = model_of_characters(base) || l->units ? NULL : l->byte;
    train_pretokens_classify(&l->pretokens);
    if (make_limits(l, n_symbols, e) ||
        train_pretokens_bound(&l->pretokens, goal, l->o.max_token_len, NULL, &co.floor, e))
        return -1;
    co.floor = co.floor > l->o.min_frequency ? co.floor : l->o.min_frequency;
    return lay_out(l, &co, e);
}

/* ---- the interface ---- */

struct trainer *trainer_new(struct err *e)
{
    struct trainer *l = calloc(1, sizeof *l);
    if (!l)
        err_mem(e, "the trainer", sizeof *l);
    return l;
}

void trainer_free(struct trainer *l)
{
    if (!l)
        return;
    train_pretokens_free(&l->pretokens);
    corpus_free(&l->corpus);
    train_limits_free(l->limits);
    extension_free(&l->extension);
    buf_free(&l->symbols);
    free(l->barred);
    HASH_CLEAR(hh, l->reserved);
    free(l->reserved_room);
    free(l->text);
    free(l->reserved_chars);
    free(l->public_id);
    free(l->len);
    parity_free(&l->parity);
    free(l->merges);
    free(l->steps);
    free(l);
}

int trainer_add(struct trainer *l, const unsigned char *p, size_t len, uint64_t count, struct err *e)
{
    return train_pretokens_add(&l->pretokens, p, len, count, e);
}

int trainer_balance(struct trainer *l, size_t n_languages, const struct parity_opts *o, struct err *e)
{
    l->balances = true;
    return parity_init(&l->parity, n_languages, o, e);
}

int trainer_add_language(struct trainer *l, size_t language, bool dev, const unsigned char *p, size_t len,
                         uint64_t count, struct err *e)
{
    return parity_add(&l->parity, language, dev, p, len, count, e);
}

int trainer_scale(struct trainer *l, uint64_t by, struct err *e)
{
    return parity_scale(&l->parity, by, e);
}

uint64_t trainer_language_bytes(const struct trainer *l, size_t language)
{
    return l->parity.language[language].initial;
}

int trainer_extend(struct trainer *l, const struct model *base, enum train_extension by, struct err *e)
{
    l->extends = true;
    l->units = by != TRAIN_WORDS;
    if (extension_init(&l->extension, base, e))
        return -1;
    l->extension.joins = by == TRAIN_JOINS;
    l->extension.encoded = by == TRAIN_SUPERWORDS;
    return 0;
}

int trainer_add_ids(struct trainer *l, const uint32_t *id, size_t n, uint64_t count, struct err *e)
{
    const struct extension *x = &l->extension;
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t slots = 0;
        size_t len = 0;
        if (x->inert[id[i]]) {
            end = i + 1;
            continue;
        }
        l->symbols.len = 0;
        if (buf_reserve(&l->symbols, (n - i) * VARINT_MAX, e))
            return -1;
        for (end = i; end < n && !x->inert[id[end]]; end++) {
            len += varint_put(l->symbols.p + len, (uint64_t)id[end] + 1);
            slots += l->units ? 1 : x->token[id[end]].len;
        }
        if (train_pretokens_add_symbols(&l->pretokens, l->symbols.p, len, end - i, slots, count, e))
            return -1;
    }
    return 0;
}

/* The slots of the pretokens with a count of at least `min`. */
static uint64_t slots_of(const struct train_pretokens *all, uint64_t min)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < all->n_class; i++)
        slots += all->class[i].count >= min ? all->class[i].slots : 0;
    return slots;
}

static uint64_t greatest_count(const struct train_pretokens *all, uint64_t max)
{
    for (size_t i = 0; i < all->n_class; i++)
        max = all->class[i].count > max ? all->class[i].count : max;
    return max;
}

uint64_t trainer_memory(const struct trainer *l, const struct train_opts *o, uint64_t min)
{
    /* Symbols take two bytes per slot, listed positions four each, and there are tables. Measured in all: 6 to 7 bytes
     * per slot for 32,000 tokens, 9 for 128,000, with half a million to 10^8 distinct pretokens. Ties by bytes and
     * limits also need the text. */
    enum { MEMORY_MIN = 16 << 20, EXTENDED = 13, BALANCED = 14 /* bytes a slot, since more pairs have lists */ };
    const uint64_t text = (ties_by_bytes(o->tie) || has_limits(o)) && !l->units;
    uint64_t bytes = slots_of(&l->pretokens, min) * ((l->extends ? EXTENDED : 9) + text);
    for (size_t i = 0; i < l->parity.n_texts; i++)
        bytes += slots_of(&l->parity.pretokens[i], i < l->parity.n ? min : 0) * (BALANCED + text);
    return bytes + MEMORY_MIN;
}

uint64_t trainer_least_within(const struct trainer *l, const struct train_opts *o, uint64_t bytes)
{
    uint64_t min = 1, max = greatest_count(&l->pretokens, 0);
    for (size_t i = 0; i < l->parity.n; i++)
        max = greatest_count(&l->parity.pretokens[i], max);
    if (trainer_memory(l, o, max) > bytes)
        return 0;
    while (min < max) {
        uint64_t mid = min + (max - min) / 2;
        if (trainer_memory(l, o, mid) <= bytes)
            max = mid;
        else
            min = mid + 1;
    }
    return min;
}

/* Whether all places are taken before a superword of this count is next. */
static bool is_full(struct trainer *l, uint64_t count)
{
    const struct train_opts *o = &l->o;
    while (l->turn < o->n_rivals && o->rival[l->turn] >= count)
        l->turn++;
    l->full = o->rival && o->n_taken + l->n + l->turn >= o->n_rivals;
    return l->full;
}

bool trainer_is_full(const struct trainer *l)
{
    return l->full;
}

int trainer_run(struct trainer *l, const struct train_opts *o, struct merge **merges, size_t *n, struct err *e)
{
    struct pair top;
    assert(!o->count_once || !l->balances);
    l->o = *o;
    l->extension.special = o->special;
    l->extension.n_special = o->n_special;
    if (l->extends)
        l->n_vocab = model_n_tokens(l->extension.base) + o->n_special;
    else if (number_symbols(l, e))
        return -1;
    l->n_first = l->n_vocab;
    const uint64_t goal = o->vocab_size > l->n_first ? o->vocab_size - l->n_first : 0;
    if (goal > 0 && (l->extends    ? prepare_extension(l, goal, e)
                     : l->balances ? prepare_parity(l, goal, e)
                                   : prepare(l, e)))
        return -1;
    while (l->n_vocab < o->vocab_size) {
        if (o->progress && l->n % PROGRESS_EVERY == 0)
            o->progress(o->progress_ctx, l->n_vocab - l->n_first, goal);
        int popped = l->extends    ? pop_extension(l, &top, e)
                     : l->balances ? parity_pop(&l->parity, &top, e)
                                   : pop_plain(l, &top, e);
        if (popped == 0 || (popped > 0 && (top.count < o->min_frequency || is_full(l, top.count))))
            break;
        if (popped < 0 || (l->extends    ? one_extension(l, &top, e)
                           : l->balances ? one_balanced(l, &top, e)
                                         : one_merge(l, &top, e)))
            return -1;
    }
    for (size_t i = 0; i < l->n && !l->extends; i++) {
        l->merges[i].left = l->public_id[l->merges[i].left];
        l->merges[i].right = l->public_id[l->merges[i].right];
    }
    *merges = l->merges;
    *n = l->n;
    l->merges = NULL;
    train_limits_free(l->limits);
    l->limits = NULL;
    corpus_free(&l->corpus); /* early, because the model may be large */
    return 0;
}

size_t trainer_merges(const struct trainer *l, uint32_t vocab_size)
{
    size_t n = 0;
    for (uint64_t n_vocab = l->n_first; n < l->n && n_vocab < vocab_size; n++)
        n_vocab = l->steps[n].n_vocab;
    return n;
}

const struct train_step *trainer_steps(const struct trainer *l)
{
    return l->steps;
}
