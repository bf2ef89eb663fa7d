/* report_page_words.c - frequent words, and the tokens that each model makes of them: a section of the page. */
#include "bpe/report_page.h"

enum { WORDS = 12 };

/* Encodes a word, and returns the number of its tokens; 0: it is not known how the model splits text. */
static size_t encode_word(struct page *p, size_t k, struct str word)
{
    const struct report_vocabulary *v = &p->r->vocabulary[k];
    if (!v->worker || p->h.failed)
        return 0;
    p->h.failed = report_encode(v, word, p->h.e);
    return v->worker->ids.n;
}

static struct str word_at(const struct report_source *s, size_t i)
{
    return (struct str){s->words.at[i].p, s->words.at[i].len};
}

/* How many tokens a word costs: with several models, how many more the worst makes than the best. */
static uint64_t cost_of(struct page *p, const struct report_source *s, size_t i)
{
    size_t most = 0, least = SIZE_MAX;
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        const size_t n = encode_word(p, k, word_at(s, i));
        most = n > most ? n : most;
        least = n && n < least ? n : least;
    }
    least = p->r->d.n_models == 1 ? 1 : least;
    return most > least ? (most - least) * s->words.at[i].count : 0;
}

static void put_word(struct page *p, const struct report_source *s, size_t i)
{
    html_put(&p->h, "<tr><th scope=row>");
    html_token(&p->h, word_at(s, i));
    html_put(&p->h, "<td>");
    html_number(&p->h, (double)s->words.at[i].count, 0);
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        const struct report_vocabulary *v = &p->r->vocabulary[k];
        const size_t n = encode_word(p, k, word_at(s, i));
        html_put(&p->h, "<td class=t>");
        if (n)
            html_printf(&p->h, "%zu: ", n);
        for (size_t t = 0; t < n && !p->h.failed; t++) {
            const uint32_t id = ids_get(v->worker->ids.p + t * ids_width(true), true);
            html_token(&p->h, report_token_text(v, id));
        }
    }
}

/* The words that cost most. */
static void put_words_of(struct page *p, const struct report_source *s)
{
    uint64_t cost[DESCRIBE_WORDS] = {0};
    bool shown[DESCRIBE_WORDS] = {false};
    for (size_t i = 0; i < s->words.n; i++)
        cost[i] = cost_of(p, s, i);
    html_put(&p->h, "<h3>");
    html_text(&p->h, s->name);
    html_put(&p->h, "</h3><div class=wide tabindex=0><table><thead><tr><th class=t scope=col>word<th scope=col>occurs");
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        html_put(&p->h, "<th class=t scope=col>tokens of ");
        page_model(p, k);
    }
    html_put(&p->h, "<tbody>");
    for (size_t n = 0; n < WORDS && n < s->words.n; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < s->words.n; i++)
            best = !shown[i] && (best == SIZE_MAX || cost[i] > cost[best]) ? i : best;
        shown[best] = true;
        put_word(p, s, best);
    }
    html_put(&p->h, "</table></div>\n");
}

void page_words(struct page *p)
{
    const struct report *r = p->r;
    bool some = false;
    for (size_t i = 0; i < r->n_sources; i++)
        some = some || r->source[i].words.n;
    if (some)
        html_put(&p->h,
                 "<h2 id=words>Frequent words</h2><p>Of the 64 most frequent words with two letters or more, those "
                 "whose tokens differ most between the models (or, of one model, cost most), and then the most "
                 "frequent: how often each occurs, how many tokens it has, and which. \\xNN is a byte of a character, "
                 "· a space.</p>");
    for (size_t i = 0; i < r->n_sources && i < REPORT_SHOWN; i++)
        if (r->source[i].words.n)
            put_words_of(p, &r->source[i]);
}
