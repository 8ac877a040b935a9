#include "fills.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "gen/inputs/fill.h"

float *fills_draw(struct fill fill, int64_t count)
{
    static const struct tensor tensors[] = {{"x", DTYPE_F32, TENSOR_INPUT, "[n]"}, {0}};
    static const struct problem problem = {.name = "kinds", .tensors = tensors};
    struct instance instance = {.tensor = {{.rank = 1, .dim = {count}, .fill = fill}}};
    float *out = malloc((size_t)count * sizeof *out);
    ck_assert_ptr_nonnull(out);
    fill_host(&problem, &instance, 0, 42, 0, out);
    return out;
}

struct fills_moments fills_measure(const float *x, int64_t count)
{
    struct fills_moments m = {0, 0, INFINITY, -INFINITY, 0};
    double square = 0;
    for (int64_t i = 0; i < count; i++) {
        m.mean += x[i] / (double)count;
        square += (double)x[i] * x[i] / (double)count;
        m.low = fmin(m.low, x[i]);
        m.high = fmax(m.high, x[i]);
        m.zeros += x[i] == 0;
    }
    m.deviation = sqrt(square - m.mean * m.mean);
    m.zeros /= (double)count;
    return m;
}
