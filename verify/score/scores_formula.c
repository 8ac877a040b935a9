/* The published formulas, as functions of numbers. */
#include <math.h>

#include "scores.h"

double scores_points(bool compiled, bool correct, double speedup)
{
    if (!compiled || !correct)
        return compiled ? 20 : 0;
    return 120 + (speedup > 0 ? 100 * speedup : 0);
}

double scores_bounded(bool correct, double speedup)
{
    return correct && speedup > 0 ? fmax(0, 1 - 1.05 / speedup) : 0;
}

double scores_fast(const double *speedup, int count, int total, double p)
{
    int faster = 0;
    for (int i = 0; i < count; i++)
        faster += speedup[i] > p;
    return total > 0 ? (double)faster / total : 0;
}

double scores_peak_fraction(const double *fraction, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += log(fmax(fraction[i], 1e-9));
    return exp(sum / count);
}

double scores_sol(double kernel_ms, double baseline_ms, double sol_ms)
{
    const double gap = baseline_ms - sol_ms;
    if (gap <= 0)
        return kernel_ms <= sol_ms ? 1 : 0;
    return 1 / (1 + (kernel_ms - sol_ms) / gap);
}
