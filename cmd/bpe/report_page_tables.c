/* report_page_tables.c - the tokens of each model, in tables: which are used most and least, unreachable, numbers... */
#include "bpe/report_page.h"

#include <math.h>

static const char *const reach_words[] = {
    [REACH_SELF] = "itself",
    [REACH_SPECIAL] = "special",
    [REACH_UNDECODABLE] = "not whole characters",
    [REACH_SINGLE] = "unreachable: another token",
    [REACH_MULTI] = "unreachable: several tokens",
    [REACH_NOT_MADE] = "unreachable: no merge",
};

static void put_token(struct page *p, const struct report_vocabulary *v, uint32_t id, bool reach)
{
    const bool is_merged = v->split[id].left != MODEL_NO_ID || v->split[id].right != MODEL_NO_ID;
    html_printf(&p->h, "<tr><td>%u<th scope=row>", id);
    html_token(&p->h, report_token_text(v, id));
    html_put(&p->h, "<td>");
    html_number(&p->h, (double)v->count[id], 0);
    html_put(&p->h, "<td>");
    html_number(&p->h, is_merged ? (double)v->made[id] : NAN, 0);
    if (reach)
        html_printf(&p->h, "<td class=t>%s", reach_words[v->reach[id]]);
}

static void put_table(struct page *p, const struct report_vocabulary *v, const struct report_tokens *t)
{
    bool reach = false;
    for (size_t i = 0; i < t->n; i++)
        reach = reach || v->reach[t->id[i]] != REACH_SELF;
    html_put(&p->h, "<div class=wide tabindex=0><table><thead><tr><th scope=col>id<th class=t scope=col>token<th "
                    "scope=col>occurs<th scope=col>merged");
    if (reach)
        html_put(&p->h, "<th class=t scope=col>encoded again");
    html_put(&p->h, "<tbody>");
    for (size_t i = 0; i < t->n; i++)
        put_token(p, v, t->id[i], reach);
    html_put(&p->h, "</table></div>");
}

/* Tokens of which there is nothing to say but their ids. */
static void put_names(struct page *p, const struct report_vocabulary *v, const struct report_tokens *t)
{
    html_put(&p->h, "<ul class=names>");
    for (size_t i = 0; i < t->n; i++) {
        html_printf(&p->h, "<li>%u ", t->id[i]);
        html_token(&p->h, report_token_text(v, t->id[i]));
    }
    html_put(&p->h, "</ul>");
}

static void put_list(struct page *p, size_t k, enum report_list list)
{
    const struct report_vocabulary *v = &p->r->vocabulary[k];
    const struct report_list_of *l = &report_lists[list];
    struct report_tokens t;
    report_list_tokens(v, list, &t);
    html_printf(&p->h, "<details id=%s%zu%s><summary>%s: ", l->name, k, list == LIST_WASTE && t.n ? " open" : "",
                l->title);
    html_number(&p->h, (double)t.n, 0);
    if (t.n < t.n_all) {
        html_put(&p->h, " of ");
        html_number(&p->h, (double)t.n_all, 0);
    }
    html_put(&p->h, "</summary>");
    if (l->about[0])
        html_printf(&p->h, "<p class=dim>%s%s</p>", l->about,
                    list == LIST_WASTE && t.n < t.n_all ? " The JSON has all ids (waste_ids)." : "");
    if (t.n && list == LIST_WASTE)
        put_names(p, v, &t);
    else if (t.n)
        put_table(p, v, &t);
    html_put(&p->h, "</details>\n");
}

void page_tables(struct page *p)
{
    html_put(&p->h,
             "<h2 id=tokens>Tokens</h2><p>How often each token occurs in all sources, and how often the merge that "
             "makes it is applied, for itself or as a part of a longer token.</p>");
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        html_put(&p->h, "<h3>");
        html_text(&p->h, page_model_name(p->r, k));
        html_put(&p->h, "</h3>");
        for (enum report_list list = 0; list < REPORT_LISTS; list++)
            put_list(p, k, list);
    }
}
