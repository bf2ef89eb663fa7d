/* plan_fit.c - the growth of distinct pretokens with the text, for bpe plan.
 *
 * Heaps' law: text of n bytes has V(n) = K n^b distinct pretokens, a straight line on logarithmic axes. For real text
 * the line bends, mostly down. So a parabola is fitted to all sizes of the sample by least squares; b is its slope at
 * the last point, and K puts the line through that point: beyond the sample, the line is taken to be straight. A
 * held-out test measures how far that can be trusted: the line through the sizes up to a tenth of the sample predicts
 * the whole sample. The error of this prediction, over one factor of ten, is the unit of the range, but at least 2 %.
 * On the side of the error, the range grows as bending does, by 1, 3, 6, 10 ... units for 1, 2, 3, 4 factors of ten; on
 * the other side, by one unit for each factor of ten. 5 % is added for the random variation of samples.
 */
#include "bpe/plan.h"

#include <math.h>

#define ERROR_MIN 0.02  /* least error for a factor of ten */
#define CHANCE 0.05     /* random variation of a sample */
enum { FEW_SIZES = 3 }; /* sizes needed to test a line on the whole sample */

struct plan_line plan_line_fit(const double *x, const double *y, const double *weight, size_t n)
{
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1;
        sw += w;
        sx += w * x[i];
        sy += w * y[i];
        sxx += w * x[i] * x[i];
        sxy += w * x[i] * y[i];
    }
    if (!(sw > 0))
        return (struct plan_line){0};
    double below = sw * sxx - sx * sx, slope = below > 0 || below < 0 ? (sw * sxy - sx * sy) / below : 0;
    return (struct plan_line){(sy - slope * sx) / sw, slope};
}

/* The slope at the last point of a parabola fitted to all points. Its quadratic coefficient is the slope of the
 * residuals of y over those of x^2, where both residuals are taken from lines fitted over x. */
static double end_slope(const double *x, const double *y, size_t n)
{
    double square[PLAN_PARTS] = {0}, left_x[PLAN_PARTS], left_y[PLAN_PARTS];
    for (size_t i = 0; i < n; i++)
        square[i] = x[i] * x[i];
    struct plan_line own = plan_line_fit(x, y, NULL, n), of_square = plan_line_fit(x, square, NULL, n);
    for (size_t i = 0; i < n; i++) {
        left_x[i] = square[i] - of_square.at0 - of_square.slope * x[i];
        left_y[i] = y[i] - own.at0 - own.slope * x[i];
    }
    double bend = n > 2 ? plan_line_fit(left_x, left_y, NULL, n).slope : 0;
    return own.slope + bend * (2 * x[n - 1] - of_square.slope);
}

/* Held-out test: what the line through the sizes up to a tenth predicts for the whole sample. The line is moved to go
 * through the last of these sizes. */
static void hold_out(struct plan_law *law)
{
    const double last = law->x[law->n - 1];
    size_t n = 0;
    while (n < law->n && law->x[n] <= last - log(10) + 0.2)
        n++;
    law->few_sizes = n < FEW_SIZES;
    law->expected = law->distinct;
    if (n > 0)
        law->expected = exp(law->y[n - 1] + plan_line_fit(law->x, law->y, NULL, n).slope * (last - law->x[n - 1]));
    law->error = log(law->expected / law->distinct);
    law->unit = fmax(fabs(law->error), ERROR_MIN);
}

void plan_law_fit(struct plan_law *law, const struct plan_facts *f)
{
    *law = (struct plan_law){
        .n = f->n, .bytes = f->point.bytes[f->n - 1], .distinct = fmax(f->point.distinct[f->n - 1], 1)};
    for (size_t i = 0; i < f->n; i++) {
        law->x[i] = log(f->point.bytes[i]);
        law->y[i] = log(fmax(f->point.distinct[i], 1));
    }
    hold_out(law);
    law->exponent = end_slope(law->x, law->y, law->n);
    law->ln_k = law->y[law->n - 1] - law->exponent * law->x[law->n - 1];
}

/* The expected ln V for a text of n bytes. */
static double ln_distinct(const struct plan_law *law, double bytes)
{
    double x = log(bytes);
    size_t i = law->n - 1;
    if (x >= law->x[i] || law->n == 1)
        return law->ln_k + law->exponent * x;
    while (i > 1 && law->x[i - 1] > x)
        i--;
    double part = (x - law->x[i - 1]) / (law->x[i] - law->x[i - 1]);
    return fmax(0, law->y[i - 1] + (law->y[i] - law->y[i - 1]) * part);
}

static double decades_beyond(double bytes, double sample)
{
    return fmax(0, log10(bytes / sample));
}

/* How far ln V may be off, on the side of the held-out error and on the other side. */
static double off_by_bending(const struct plan_law *law, double decades)
{
    return decades > 0 ? CHANCE + law->unit * decades * (decades + 1) / 2 : 0;
}

static double off_by_error(const struct plan_law *law, double decades)
{
    return decades > 0 ? CHANCE + law->unit * decades : 0;
}

double plan_distinct(const struct plan_law *law, double bytes, enum plan_way way)
{
    double decades = decades_beyond(bytes, law->bytes), ln = ln_distinct(law, bytes);
    double bending = off_by_bending(law, decades), other = off_by_error(law, decades);
    bool too_many = law->error >= 0;
    if (way == PLAN_FROM)
        ln -= too_many ? bending : other;
    else if (way == PLAN_TO)
        ln += too_many ? other : bending;
    return exp(decades > 0 ? fmax(ln, law->y[law->n - 1]) : ln);
}

double plan_spread(const struct plan_law *law, double bytes)
{
    double decades = decades_beyond(bytes, law->bytes);
    return exp(fmax(off_by_bending(law, decades), off_by_error(law, decades)));
}
