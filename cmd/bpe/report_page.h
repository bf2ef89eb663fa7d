/* report_page.h - shared by the files that write the page of a report: its sections, and parts of them. */
#ifndef BPE_CMD_REPORT_PAGE_H
#define BPE_CMD_REPORT_PAGE_H

#include "bpe/html.h"
#include "bpe/report.h"
#include "bpe/report_chart.h"

#include <stddef.h>
#include <stdint.h>

struct page {
    struct html h;
    const struct report *r; /* borrowed */
    struct chart chart;     /* being made */
};

/* ---- Sections ---- */

void page_findings(struct page *p);    /* what stands out */
void page_limits(struct page *p);      /* nothing without --require */
void page_compression(struct page *p); /* bytes per token */
void page_measures(struct page *p);    /* all figures by name */
void page_curves(struct page *p);
void page_kinds(struct page *p);  /* scripts, white space, numbers... */
void page_words(struct page *p);  /* tokens of frequent words; nothing if none is known */
void page_tables(struct page *p); /* tokens of each model */

/* ---- Parts ---- */

/* The shortest name of a model that no other model has: the file's, or the whole path. Borrowed. */
struct str page_model_name(const struct report *r, size_t k);

void page_model(struct page *p, size_t k);
void page_source(struct page *p, size_t source); /* REPORT_ALL: "all sources" */
void page_heads(struct page *p);                 /* the models as heads of columns */

/* The models with samples of their lines; nothing if there is one. groups: models that split text in the same way share
 * a line. */
void page_legend(struct page *p, bool groups);

void page_percent(struct page *p, double v); /* v 0 to 1 */
void page_change(struct page *p, double v);  /* how much more (or, negative, less), as a share */

/* A bar under a figure. length: 0 to 1; style: 0 to REPORT_MODELS - 1. */
void page_bar(struct page *p, double length, size_t style);

static inline double share(uint64_t n, uint64_t of)
{
    return of ? (double)n / (double)of : 0;
}

#endif
