/* cut_test.c - the cuts that are found in text, compared with the cuts from a scan of the whole text for special
 * tokens. */
#include "input/cut.h"
#include "random.h"
#include "unicode/uclass.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 9000, MAX_TOKENS = 4, MAX_TOKEN = 4 };

static size_t random_text(unsigned char *p, size_t n, const char *alphabet, size_t fill)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(rnd(fill) ? ' ' : alphabet[rnd(strlen(alphabet))]);
    return n;
}

/* Marks all cuts, by scanning the whole text. */
static void mark_cuts(const struct cutter *c, const unsigned char *p, size_t n, bool *is_cut)
{
    struct special_place place = {0};
    struct special_match m;
    enum special_hit hit = SPECIAL_FOUND;
    memset(is_cut, 0, n + 1);
    for (size_t from = 0; hit == SPECIAL_FOUND; from = m.end) {
        hit = special_next(c->special, p, n, TEXT_DOC, &place, &m);
        for (size_t at = from ? from : 1; at < m.begin; at++)
            is_cut[at] |= c->inside && p[at - 1] == '\n' && uclass_letter_at(p + at, n - at);
        if (hit == SPECIAL_FOUND)
            is_cut[m.end] = true;
    }
    for (size_t at = 1; at < n && c->form->documents; at++)
        is_cut[at] = p[at - 1] == '\n';
    is_cut[n] = false;
}

static size_t wrong_last, wrong_first, wrong_window, n_found, n_local;

static void try_text(const struct cutter *c, const unsigned char *p, size_t n)
{
    static bool is_cut[MAX_TEXT + 1];
    mark_cuts(c, p, n, is_cut);
    size_t lo = rnd(n), hi = lo + rnd(n - lo + 1), want = 0;
    for (size_t at = lo + 1; at <= hi; at++)
        want = is_cut[at] ? at : want;
    size_t got = cut_last(c, p, n, lo, hi, true);
    wrong_last += got != want;
    n_found += got != 0;
    /* A window that is followed by more text: cuts far enough from its end are found, and none near it is
     * guessed. */
    size_t margin = c->special->after, end = 1 + rnd(n);
    unsigned char *window = malloc(end);
    if (!window)
        abort();
    memcpy(window, p, end);
    got = cut_last(c, window, end, 0, end, false);
    wrong_window += got && !is_cut[got];
    for (size_t at = got + 1; at + margin < end; at++)
        wrong_window += is_cut[at];
    free(window);
    if (!cut_is_local(c))
        return;
    n_local++;
    size_t begin = rnd(n), from = begin ? begin + c->special->before : 1;
    if (from >= n)
        return;
    for (want = from; want < n && !is_cut[want]; want++)
        ;
    got = cut_first(c, p + begin, n - begin, from - begin, true);
    wrong_first += (got ? begin + got : n) != want;
    end = from + rnd(n - from);
    got = cut_first(c, p + begin, end - begin, from - begin, false);
    wrong_window += got ? begin + got != want : want + margin < end;
}

/* The last_cut of an input format that can be cut only after bars. */
static size_t last_bar(const unsigned char *p, size_t n, size_t lo, size_t hi)
{
    (void)n;
    const unsigned char *bar = memrchr(p + lo, '|', hi - lo);
    return bar ? (size_t)(bar - p) + 1 : 0;
}

static void try_last_cut(void)
{
    static const unsigned char text[] = "a|b\n|c|";
    static const struct input_form form = {.documents = true, .end = -1, .last_cut = last_bar};
    const size_t n = sizeof text - 1;
    struct special_set none;
    struct cutter c;
    struct err e;
    if (special_init(&none, NULL, 0, &e))
        abort();
    cutter_init(&c, &form, true, &none);
    tap_ok(!cut_is_local(&c) && cut_first(&c, text, n, 1, true) == 0,
           "last_cut: the text around a cut is not enough to find it");
    tap_ok(cut_last(&c, text, n, 0, n, true) == 5 && cut_last(&c, text, n, 2, 4, true) == 0 &&
               cut_last(&c, text, n, 1, 2, false) == 2,
           "last_cut: the last cut within the limits, never the end of the text");
    special_free(&none);
}

int main(void)
{
    random_seed(1);
    static const char *const alphabets[] = {"ab\n", "a\n", "<|>\na", "a", "xyz<>\n", "\n\n1"};
    static unsigned char text[MAX_TEXT];
    unsigned char bytes[MAX_TOKENS][MAX_TOKEN];
    struct err e;
    for (int i = 0; i < 40000; i++) {
        struct special_token token[MAX_TOKENS] = {0};
        struct special_set set;
        struct cutter c;
        const char *alphabet = alphabets[rnd(6)];
        size_t n_tokens = rnd(MAX_TOKENS + 1);
        for (size_t k = 0; k < n_tokens; k++)
            token[k].text =
                (struct str){.p = bytes[k], .len = random_text(bytes[k], 1 + rnd(rnd(2) ? 1 : MAX_TOKEN), alphabet, 1)};
        if (special_init(&set, token, n_tokens, &e))
            abort();
        uint64_t kind = rnd(5);
        cutter_init(&c, kind == 0 ? &input_form_jsonl : &input_form_text, kind > 1, &set);
        bool is_long = rnd(20) == 0;
        size_t n = 1 + rnd(is_long ? MAX_TEXT : 60);
        random_text(text, n, alphabet, is_long ? 1 + rnd(2000) : 1 + rnd(4));
        try_text(&c, text, n);
        special_free(&set);
    }
    tap_ok(n_found > 10000 && n_local > 10000, "%zu cuts in 40000 texts; in %zu texts, cuts are local", n_found,
           n_local);
    tap_ok(wrong_last == 0, "cut_last finds the last cut");
    tap_ok(wrong_first == 0, "cut_first finds the first cut");
    tap_ok(wrong_window == 0, "a window has the same cuts, except near its end");
    try_last_cut();
    return tap_done();
}
