/* plan_fit.c - the law by which distinct pretokens grow, for bpe plan.
 *
 * Heaps' law: text of n bytes has V(n) = K n^b distinct pretokens, a line on logarithmic axes. Real text's lines bend,
 * mostly down. So a parabola is fitted to all sizes of the sample by least squares, and b is its slope at the end, K
 * such that the line goes through the last point: beyond the sample, nothing bends any more. How far that can be
 * trusted is measured: the line through the sizes up to a tenth of the sample is held against the whole sample. Its
 * error, for one factor of ten, is the unit of the range: on the side on which it was wrong it is taken to add up as
 * bending does (1, 3, 6, 10 ... times for 1, 2, 3, 4 factors of ten), on the other once for each factor of ten, 2 % at
 * least. To that come 5 % for what chance does in a sample.
 */
#include "bpe/plan.h"

#include <math.h>

#define ERROR_MIN 0.02  /* error for a factor of ten */
#define CHANCE 0.05     /* in a sample */
enum { FEW_SIZES = 3 }; /* that a line has to be held against the whole sample */

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

/* The slope at the last of some points of a parabola through all of them: what it adds to their line there. It is the
 * line through what is left of x^2, and of y, when their own lines are taken away. */
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

/* What the line through the sizes up to a tenth expects of the whole sample; it is put through the last of them. */
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

/* ln V at n bytes, as it is expected. */
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

/* How far ln V may be off on the side on which the line was wrong, and on the other. */
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
