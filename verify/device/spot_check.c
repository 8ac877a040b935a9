#include "spot_check.h"

#include <math.h>

const double spot_slower = 0.10, spot_faster = 0.05;

double spot_speed(const struct figures *kept, const struct figures *seen, enum figure figure)
{
    const double was = kept->value[figure], is = seen->value[figure];
    if (!(was > 0) || !(is > 0))
        return 1;
    return figure_is_time(figure) ? was / is : is / was;
}

/* Beside other processes all cores are rarely free at once. So the bound for all cores is the best window of
 * one core, times their number. A calibration above even that bound does not fit this machine's state. */
static struct figures doubtless(const struct figures *seen, int processors)
{
    struct figures most = *seen;
    most.value[FIGURE_COPY] = fmax(seen->value[FIGURE_COPY], processors * seen->value[FIGURE_COPY_CORE]);
    return most;
}

/* The figure that is slowest relative to its stored value. */
static double slowest(const struct figures *kept, const struct figures *seen, int processors,
                      enum figure *which)
{
    const struct figures most = doubtless(seen, processors);
    double least = INFINITY;
    for (int f = 0; f < FIGURE_COUNT; f++) {
        const double speed = spot_speed(kept, &most, (enum figure)f);
        if (speed < least) {
            least = speed;
            *which = (enum figure)f;
        }
    }
    return least;
}

static void fold(struct figures *best, const struct figures *one)
{
    for (int f = 0; f < FIGURE_COUNT; f++)
        figures_round(best, (enum figure)f, one->value[f]);
}

/* One measurement may be an artifact of a clock, so the smaller of two counts. */
static void raise_kept(const struct figures *kept, const struct spot_hooks *hooks, struct spot *out)
{
    struct figures again = {0};
    bool candidate = false;
    for (int f = 0; f < FIGURE_COUNT; f++)
        candidate = candidate || spot_speed(kept, &out->seen, (enum figure)f) > 1 + spot_faster;
    if (!candidate || !hooks->measure(hooks->data, &again))
        return;
    out->attempts++;
    for (int f = 0; f < FIGURE_COUNT; f++) {
        const bool first = spot_speed(kept, &out->seen, (enum figure)f) > 1 + spot_faster;
        const bool second = spot_speed(kept, &again, (enum figure)f) > 1 + spot_faster;
        if (!first || !second)
            continue;
        const double a = out->seen.value[f], b = again.value[f];
        out->figures.value[f] = figure_is_time((enum figure)f) ? fmax(a, b) : fmin(a, b);
        out->raised = true;
    }
}

void spot_check(const struct figures *kept, int processors, const struct spot_hooks *hooks, struct spot *out)
{
    static const double pause[SPOT_ATTEMPTS] = {0.1, 0.2, 0.4, 0.8, 0};
    *out = (struct spot){.figures = *kept, .ratio = 1};
    for (int i = 0; i < SPOT_ATTEMPTS; i++) {
        struct figures one = {0};
        if (!hooks->measure(hooks->data, &one))
            break;
        out->attempts++;
        fold(&out->seen, &one);
        out->ratio = slowest(kept, &out->seen, processors, &out->which);
        out->slow = out->ratio < 1 - spot_slower;
        if (!out->slow)
            break;
        if (i + 1 < SPOT_ATTEMPTS)
            hooks->pause(hooks->data, pause[i]);
    }
    if (!out->slow)
        raise_kept(kept, hooks, out);
}
