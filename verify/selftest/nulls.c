#include "nulls.h"

#include <math.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "problems/format.h"

const char *null_name(enum null_kind kind)
{
    static const char *const name[NULL_KINDS] = {
        [NULL_ZEROS] = "all zeros",
        [NULL_ONES] = "all ones",
        [NULL_NAN] = "NaN",
        [NULL_INPUT] = "the input copied",
        [NULL_MEAN] = "the mean of the output",
        [NULL_MIDDLE] = "a constant fitted to the output",
        [NULL_FIRST_ROW] = "the first row repeated",
        [NULL_FIRST_TILE] = "the first tile repeated",
        [NULL_RANDOM] = "random, right mean and spread",
        [NULL_NOISE] = "expected, noise of half the tolerance",
        [NULL_HALF] = "half of the work",
        [NULL_SMALLER] = "output of a smaller shape",
        [NULL_PREVIOUS] = "the previous call's output",
        [NULL_BF16] = "operands rounded to bf16",
    };
    return name[kind];
}

/* --- formats --- */

float null_value(enum dtype dtype, const void *from, int64_t at)
{
    uint32_t bits;
    return (float)dtype_load(dtype, from, at, &bits);
}

void null_decode(enum dtype dtype, const struct instance_tensor *shape, const void *from, float *to)
{
    const int64_t count = instance_tensor_count(shape);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        to[i] = null_value(dtype, from, instance_tensor_place(shape, i));
}

void null_encode(enum dtype dtype, const struct instance_tensor *shape, const float *from, void *to)
{
    const int64_t count = instance_tensor_count(shape);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        fill_store(dtype, to, instance_tensor_place(shape, i), from[i]);
}

/* --- statistics of an output --- */

struct moments {
    double mean, deviation, least, greatest;
};

/* Computed over the finite elements. */
static struct moments measure(const float *x, int64_t count)
{
    double sum = 0, square = 0, least = INFINITY, greatest = -INFINITY, finite = 0;
#pragma omp parallel for reduction(+ : sum, square, finite) reduction(min : least) reduction(max : greatest)
    for (int64_t i = 0; i < count; i++)
        if (isfinite(x[i])) {
            sum += x[i];
            square += (double)x[i] * x[i];
            finite++;
            least = x[i] < least ? x[i] : least;
            greatest = x[i] > greatest ? x[i] : greatest;
        }
    if (finite == 0)
        return (struct moments){0, 0, 0, 0};
    const double mean = sum / finite, variance = square / finite - mean * mean;
    return (struct moments){mean, variance > 0 ? sqrt(variance) : 0, least, greatest};
}

static void repeat(float *out, int64_t count, const float *from, int64_t period)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        out[i] = period > 0 ? from[i % period] : 0;
}

static void constant(float *out, int64_t count, float value)
{
    repeat(out, count, &value, 1);
}

/* Sum of uniforms: close to a normal distribution. */
static double draw(struct philox_key key, int64_t i)
{
    uint32_t w[4];
    double sum = -2;
    philox_words(key, (uint64_t)i, 1, w);
    for (int j = 0; j < 4; j++)
        sum += w[j] * 0x1p-32;
    return sum * sqrt(3);
}

static void random_values(const struct null_source *s, float *out)
{
    const struct moments m = measure(s->expected, s->count);
    const struct philox_key key = {s->seed, 0x6e756c6c};
#pragma omp parallel for
    for (int64_t i = 0; i < s->count; i++)
        out[i] = (float)(m.mean + m.deviation * draw(key, i));
}

static void noisy(const struct null_source *s, float *out)
{
    const double atol = s->problem->published_atol, rtol = s->problem->published_rtol;
    const struct philox_key key = {s->seed, 0x6e6f6973};
#pragma omp parallel for
    for (int64_t i = 0; i < s->count; i++) {
        const double sign = draw(key, i) < 0 ? -0.5 : 0.5;
        out[i] = (float)(s->expected[i] + sign * (atol + rtol * fabs((double)s->expected[i])));
    }
}

static void first_tile(const struct null_source *s, float *out)
{
    const int64_t width = instance_tensor_width(s->shape);
    const int64_t rows = s->count / width, high = rows < 16 ? rows : 16, wide = width < 16 ? width : 16;
#pragma omp parallel for
    for (int64_t i = 0; i < s->count; i++)
        out[i] = s->expected[i / width % high * width + i % width % wide];
}

void null_make(enum null_kind kind, const struct null_source *s, float *out)
{
    const struct moments m = measure(s->expected, s->count);
    switch (kind) {
    case NULL_ZEROS: constant(out, s->count, 0); break;
    case NULL_ONES: constant(out, s->count, 1); break;
    case NULL_NAN: constant(out, s->count, NAN); break;
    case NULL_INPUT: repeat(out, s->count, s->input, s->inputs); break;
    case NULL_MEAN: constant(out, s->count, (float)m.mean); break;
    case NULL_MIDDLE: constant(out, s->count, (float)((m.least + m.greatest) / 2)); break;
    case NULL_FIRST_ROW: repeat(out, s->count, s->expected, instance_tensor_width(s->shape)); break;
    case NULL_FIRST_TILE: first_tile(s, out); break;
    case NULL_RANDOM: random_values(s, out); break;
    case NULL_NOISE: noisy(s, out); break;
    case NULL_HALF:
    case NULL_SMALLER:
    case NULL_PREVIOUS:
    case NULL_BF16: repeat(out, s->count, s->other, s->others); break;
    case NULL_KINDS: break;
    }
}

/* --- inputs of null kernels with less work --- */

static void halve_axis(const struct instance_tensor *tensor, enum dtype dtype, const struct halving *half,
                       void *data)
{
    int64_t inner = 1;
    for (int d = half->axis + 1; d < tensor->rank; d++)
        inner *= tensor->dim[d];
    const int64_t length = tensor->dim[half->axis], count = instance_tensor_count(tensor);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        if (i / inner % length >= (length + 1) / 2)
            fill_store(dtype, data, instance_tensor_place(tensor, i), half->value);
}

static void halve_integers(const struct instance_tensor *tensor, int32_t *value)
{
    const int64_t count = instance_tensor_count(tensor);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        int32_t *at = &value[instance_tensor_place(tensor, i)];
        *at = *at > 1 ? *at / 2 : 1;
    }
}

static void round_to_bf16(const struct instance_tensor *tensor, float *value)
{
    const int64_t count = instance_tensor_count(tensor);
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++) {
        float *at = &value[instance_tensor_place(tensor, i)];
        *at = single_from_bf16(bf16_from_single(*at));
    }
}

void null_change(enum null_kind kind, const struct problem *problem, const struct instance_tensor *shape,
                 enum dtype dtype, void *data)
{
    if (kind == NULL_BF16)
        round_to_bf16(shape, data);
    else if (dtype == DTYPE_I32)
        halve_integers(shape, data);
    else
        halve_axis(shape, dtype, &problem->half, data);
}
