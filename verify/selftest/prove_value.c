#include <math.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "prove_internal.h"
#include "nulls.h"

double value_get(enum dtype dtype, const void *data, int64_t i)
{
    return dtype == DTYPE_F64 ? ((const double *)data)[i] : null_value(dtype, data, i);
}

void value_set(enum dtype dtype, void *data, int64_t i, double value)
{
    if (dtype == DTYPE_F64)
        ((double *)data)[i] = value;
    else
        fill_store(dtype, data, i, (float)value);
}

/* Steps to the adjacent value, up or down: a floating-point format is a sign and a magnitude whose bits count
 * up. */
static void step(enum dtype dtype, void *data, int64_t i, int direction)
{
    const int size = dtype_row(dtype)->bits;
    const uint64_t sign = UINT64_C(1) << (size - 1);
    uint64_t bits = dtype_word(size, data, i);
    if (dtype_is_whole(dtype)) {
        bits += (uint64_t)(int64_t)direction;
    } else {
        int64_t order = bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
        order += direction;
        bits = order < 0 ? (uint64_t)-order | sign : (uint64_t)order;
    }
    dtype_put_word(size, data, i, bits);
}

bool value_set_outside(enum dtype dtype, void *data, int64_t i, double from, double target)
{
    const int direction = target >= from ? 1 : -1;
    if (!isfinite(from) || !isfinite(target))
        return false;
    value_set(dtype, data, i, target);
    double value = value_get(dtype, data, i);
    while (isfinite(value) &&
           (fabs(value - from) < fabs(target - from) || value == from || (value > from) != (direction > 0))) {
        const double before = value;
        step(dtype, data, i, direction);
        value = value_get(dtype, data, i);
        if (direction > 0 ? value <= before : value >= before)
            return false; /* past the format's last number the bits begin again */
    }
    return isfinite(value);
}

bool value_set_inside(enum dtype dtype, void *data, int64_t i, double from, double target)
{
    const int direction = target >= from ? 1 : -1;
    if (!isfinite(from) || !isfinite(target))
        return false;
    value_set(dtype, data, i, target);
    double value = value_get(dtype, data, i);
    while (!(fabs(value - from) <= fabs(target - from)) && (value > from) == (direction > 0) &&
           value != from) {
        step(dtype, data, i, -direction);
        value = value_get(dtype, data, i);
    }
    return fabs(value - from) <= fabs(target - from);
}

void value_change(enum dtype dtype, void *data, int64_t i)
{
    const double value = value_get(dtype, data, i);
    step(dtype, data, i, value > 0 ? -1 : 1);
}
