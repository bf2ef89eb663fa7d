/* report_page_parts.c - parts of the page of a report that several of its sections need: see report_page.h. */
#include "bpe/report_page.h"

#include <string.h>

/* The last part of a path, unless it is empty. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

struct str page_model_name(const struct report *r, size_t k)
{
    const char *path = r->d.model[k].name, *name = file_name(path);
    for (size_t i = 0; i < r->d.n_models; i++)
        if (i != k && !strcmp(file_name(r->d.model[i].name), name))
            name = path;
    return (struct str){(const unsigned char *)name, strlen(name)};
}

void page_model(struct page *p, size_t k)
{
    html_text(&p->h, page_model_name(p->r, k));
}

void page_source(struct page *p, size_t source)
{
    const struct str name = report_source_name(p->r, source);
    if (report_is_all(p->r, source))
        html_put(&p->h, "all sources");
    else
        html_text(&p->h, name);
}

void page_heads(struct page *p)
{
    for (size_t k = 0; k < p->r->d.n_models; k++) {
        html_put(&p->h, "<th scope=col>");
        page_model(p, k);
    }
}

void page_legend(struct page *p, bool groups)
{
    const struct report *r = p->r;
    const struct report_cell *last = r->source[r->n_sources - 1].cell;
    html_put(&p->h, "<div class=legend>");
    for (size_t k = 0; k < r->d.n_models && r->d.n_models > 1; k++) {
        if (groups && last[k].group != k)
            continue;
        html_put(&p->h, "<span>");
        chart_put_sample(&p->h, k);
        page_model(p, k);
        for (size_t i = k + 1; i < r->d.n_models && groups; i++)
            if (last[i].group == k) {
                html_put(&p->h, ", ");
                page_model(p, i);
            }
        html_put(&p->h, "</span>");
    }
    html_put(&p->h, "</div>\n");
}

void page_bar(struct page *p, double length, size_t style)
{
    html_printf(
        &p->h,
        "<svg class=bar aria-hidden=true viewBox=\"0 0 100 6\" preserveAspectRatio=none><rect class=s%zu width=%.2f "
        "height=6 /></svg>",
        style, 100 * length);
}

void page_percent(struct page *p, double v)
{
    html_number(&p->h, 100 * v, v > 0 && v < 0.01 ? 2 : v < 0.1 ? 1 : 0);
    html_put(&p->h, "&nbsp;%");
}

void page_change(struct page *p, double v)
{
    html_printf(&p->h, "<span class=dim>%s%.1f&nbsp;%%</span>", v < 0 ? "−" : "+", 100 * (v < 0 ? -v : v));
}
