/* report_chart.h - a picture of curves, as SVG, with its figures in a table behind it. */
#ifndef BPE_CMD_REPORT_CHART_H
#define BPE_CMD_REPORT_CHART_H

#include "bpe/html.h"
#include "bpe/report.h"

#include <stdbool.h>
#include <stddef.h>

struct chart_line {
    struct str name; /* borrowed */
    struct report_curve curve;
    size_t style; /* 0 to REPORT_MODELS - 1: color and dashes */
};

struct chart {
    struct str title;
    const char *x, *y; /* what the axes show */
    bool log_x, log_y;
    bool bars;    /* x: 1, 2, 3 and so on; the last one stands for larger ones, too */
    int decimals; /* of y in the table */
    struct chart_line line[REPORT_MODELS];
    size_t n;
};

/* Appends the picture as a figure; nothing if no line has a point. */
void chart_put(struct html *h, const struct chart *c);

/* The sample of a line, for a legend. */
void chart_put_sample(struct html *h, size_t style);

#endif
