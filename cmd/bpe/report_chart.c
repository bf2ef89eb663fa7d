/* report_chart.c - see report_chart.h. */
#include "bpe/report_chart.h"

#include <math.h>
#include <stdio.h>

/* In units of the SVG. */
enum { WIDTH = 420, HEIGHT = 260, LEFT = 54, RIGHT = 14, TOP = 10, BOTTOM = 44 };

struct axis {
    bool log;
    double from, to;   /* values, or their logarithms */
    double begin, end; /* places */
};

static double value(const struct axis *a, double v)
{
    return a->log ? log10(v) : v;
}

static double place(const struct axis *a, double v)
{
    return a->begin + (value(a, v) - a->from) / (a->to - a->from) * (a->end - a->begin);
}

/* A step of 1, 2 or 5 times a power of ten, so that there are at most `most` of them. */
static double step_of(double range, double most)
{
    const double power = pow(10, floor(log10(range / most)));
    const double times = range / most / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void span(struct axis *a, const struct chart *c, bool x)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->line[i].curve.n; k++) {
            const double v = x ? c->line[i].curve.at[k].x : c->line[i].curve.at[k].y;
            least = fmin(least, value(a, v));
            most = fmax(most, value(a, v));
        }
    if (!a->log) {
        least = x ? least : 0;
        most = most > least ? most : least + 1;
        const double step = step_of(most - least, 5);
        most = x ? most : step * ceil(most / step - 1e-9);
    }
    if (!(most > least)) {
        least -= 0.5;
        most += 0.5;
    }
    a->from = x && c->bars ? least - 0.5 : least;
    a->to = x && c->bars ? most + 0.5 : most;
}

/* A number as a label: 0.5, 20, 10k, 1M. */
static const char *label(double v, char text[32])
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    while (fabs(v) >= 1000 && units[unit + 1]) {
        v /= 1000;
        unit++;
    }
    const int n = snprintf(text, 30, "%.4g", v);
    if (unit) {
        text[n] = units[unit];
        text[n + 1] = 0;
    }
    return text;
}

static void put_tick(struct html *h, const struct axis *a, bool x, double v)
{
    char text[32];
    const double at = place(a, v);
    if (x)
        html_printf(h, "<line class=tick x1=%.1f x2=%.1f y1=%d y2=%d /><text x=%.1f y=%d text-anchor=middle>%s</text>",
                    at, at, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 4, at, HEIGHT - BOTTOM + 17, label(v, text));
    else
        html_printf(h, "<line class=grid x1=%d x2=%d y1=%.1f y2=%.1f /><text x=%d y=%.1f text-anchor=end>%s</text>",
                    LEFT, WIDTH - RIGHT, at, at, LEFT - 6, at + 4, label(v, text));
}

/* Powers of ten or, if there are fewer than two, also 2 and 5 times these. */
static void put_log_ticks(struct html *h, const struct axis *a, bool x)
{
    static const double times[] = {1, 2, 5};
    const double first = ceil(a->from - 1e-9), last = floor(a->to + 1e-9);
    const bool few = last - first < 1;
    const double step = ceil((last - first + 1) / 6);
    for (double p = few ? floor(a->from) : first; p <= a->to + 1e-9; p += few ? 1 : step)
        for (size_t i = 0; i < (few ? 3 : 1); i++) {
            const double v = pow(10, p) * times[i];
            if (log10(v) >= a->from - 1e-9 && log10(v) <= a->to + 1e-9)
                put_tick(h, a, x, v);
        }
}

static void put_ticks(struct html *h, const struct axis *a, bool x)
{
    if (a->log) {
        put_log_ticks(h, a, x);
        return;
    }
    const double step = step_of(a->to - a->from, 5);
    for (double i = ceil(a->from / step - 1e-9); i * step <= a->to + step * 1e-9; i++)
        put_tick(h, a, x, i * step + 0.0); /* not -0 */
}

/* Every other bar, from the second on, and the last, which stands for larger ones, too. */
static void put_bar_ticks(struct html *h, const struct axis *a)
{
    for (double v = 2; v < a->to - 1; v += 2)
        put_tick(h, a, true, v);
    html_printf(h, "<text x=%.1f y=%d text-anchor=middle>%.0f+</text>", place(a, a->to - 0.5), HEIGHT - BOTTOM + 17,
                a->to - 0.5);
}

static void put_axes(struct html *h, const struct chart *c, const struct axis *x, const struct axis *y)
{
    put_ticks(h, y, false);
    if (c->bars)
        put_bar_ticks(h, x);
    else
        put_ticks(h, x, true);
    html_printf(h, "<line class=axis x1=%d x2=%d y1=%d y2=%d />", LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM,
                HEIGHT - BOTTOM);
    html_printf(h, "<text class=name x=%d y=%d text-anchor=middle>%s</text>", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6,
                c->x);
    html_printf(h, "<text class=name transform=\"translate(13 %d) rotate(-90)\" text-anchor=middle>%s</text>",
                (TOP + HEIGHT - BOTTOM) / 2, c->y);
}

static void put_line(struct html *h, const struct chart_line *l, const struct axis *x, const struct axis *y)
{
    const struct report_curve *c = &l->curve;
    if (!c->n)
        return;
    html_printf(h, "<polyline class=s%zu points=\"", l->style);
    for (size_t i = 0; i < c->n; i++)
        html_printf(h, "%.1f,%.1f ", place(x, c->at[i].x), place(y, c->at[i].y));
    html_put(h, "\"/>");
    const struct report_point *end = &c->at[c->at[0].x < c->at[c->n - 1].x ? c->n - 1 : 0];
    html_printf(h, "<circle class=s%zu r=3 cx=%.1f cy=%.1f />", l->style, place(x, end->x), place(y, end->y));
}

/* The bars of the ith of n models. */
static void put_bars(struct html *h, const struct chart_line *l, size_t i, size_t n, const struct axis *x,
                     const struct axis *y)
{
    const double wide = 0.8 / (double)n;
    for (size_t k = 0; k < l->curve.n; k++) {
        const double from = l->curve.at[k].x - 0.4 + (double)i * wide, top = place(y, l->curve.at[k].y);
        html_printf(h, "<rect class=s%zu x=%.1f y=%.1f width=%.1f height=%.1f />", l->style, place(x, from), top,
                    place(x, from + wide) - place(x, from), y->begin - top);
    }
}

/* What the picture shows, for those who do not see it. */
static void put_words(struct html *h, const struct chart *c)
{
    html_put(h, "<title>");
    html_text(h, c->title);
    html_printf(h, "</title><desc>%s against %s.", c->y, c->x);
    for (size_t i = 0; i < c->n; i++) {
        const struct report_curve *curve = &c->line[i].curve;
        if (!curve->n)
            continue;
        const bool up = curve->at[0].x < curve->at[curve->n - 1].x;
        const struct report_point *a = &curve->at[up ? 0 : curve->n - 1], *b = &curve->at[up ? curve->n - 1 : 0];
        html_put(h, " ");
        html_text(h, c->line[i].name);
        html_put(h, ": from ");
        html_number(h, a->y, c->decimals);
        html_put(h, " at ");
        html_number(h, a->x, 0);
        html_put(h, " to ");
        html_number(h, b->y, c->decimals);
        html_put(h, " at ");
        html_number(h, b->x, 0);
        html_put(h, ".");
    }
    html_put(h, "</desc>");
}

static void put_table(struct html *h, const struct chart *c)
{
    size_t most = 0;
    html_put(h, "<details><summary>Figures</summary><div class=wide tabindex=0><table><thead><tr>");
    for (size_t i = 0; i < c->n; i++) {
        html_put(h, "<th scope=colgroup colspan=2>");
        html_text(h, c->line[i].name);
        most = c->line[i].curve.n > most ? c->line[i].curve.n : most;
    }
    html_put(h, "<tr>");
    for (size_t i = 0; i < c->n; i++)
        html_printf(h, "<th scope=col>%s<th scope=col>%s", c->x, c->y);
    html_put(h, "<tbody>");
    for (size_t k = 0; k < most; k++) {
        html_put(h, "<tr>");
        for (size_t i = 0; i < c->n; i++) {
            const struct report_curve *curve = &c->line[i].curve;
            html_put(h, "<td>");
            html_number(h, k < curve->n ? curve->at[k].x : NAN, 0);
            html_put(h, "<td>");
            html_number(h, k < curve->n ? curve->at[k].y : NAN, c->decimals);
        }
    }
    html_put(h, "</table></div></details>");
}

void chart_put(struct html *h, const struct chart *c)
{
    struct axis x = {.log = c->log_x, .begin = LEFT, .end = WIDTH - RIGHT};
    struct axis y = {.log = c->log_y, .begin = HEIGHT - BOTTOM, .end = TOP};
    size_t points = 0;
    for (size_t i = 0; i < c->n; i++)
        points += c->line[i].curve.n;
    if (!points)
        return;
    span(&x, c, true);
    span(&y, c, false);
    html_put(h, "<figure><figcaption>");
    html_text(h, c->title);
    html_printf(h, "</figcaption><svg role=img viewBox=\"0 0 %d %d\">", WIDTH, HEIGHT);
    put_words(h, c);
    put_axes(h, c, &x, &y);
    for (size_t i = c->n; i--;) {
        if (c->bars)
            put_bars(h, &c->line[i], i, c->n, &x, &y);
        else
            put_line(h, &c->line[i], &x, &y);
    }
    html_put(h, "</svg>");
    put_table(h, c);
    html_put(h, "</figure>");
}

void chart_put_sample(struct html *h, size_t style)
{
    html_printf(
        h,
        "<svg class=sample aria-hidden=true viewBox=\"0 0 30 10\"><line class=s%zu x1=0 x2=24 y1=5 y2=5 /><circle "
        "class=s%zu r=3 cx=26 cy=5 /></svg>",
        style, style);
}
