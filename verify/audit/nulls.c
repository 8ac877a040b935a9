#include "nulls.h"

#include <math.h>
#include <string.h>

#include "gen/inputs/fill.h"
#include "problems/format.h"
#include "reference/judge.h"

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

void null_decode(enum dtype dtype, const void *from, int64_t count, float *to)
{
    const float *e4m3 = reference_e4m3();
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        switch (dtype) {
        case DTYPE_F32: to[i] = ((const float *)from)[i]; break;
        case DTYPE_BF16: to[i] = single_from_bf16(((const uint16_t *)from)[i]); break;
        case DTYPE_E4M3: to[i] = e4m3[((const uint8_t *)from)[i]]; break;
        case DTYPE_U8: to[i] = ((const uint8_t *)from)[i]; break;
        case DTYPE_I32: to[i] = (float)((const int32_t *)from)[i]; break;
        case DTYPE_I64: to[i] = (float)((const int64_t *)from)[i]; break;
        case DTYPE_F64: to[i] = (float)((const double *)from)[i]; break;
        case DTYPE_F16: to[i] = single_from_f16(((const uint16_t *)from)[i]); break;
        case DTYPE_E5M2: to[i] = single_from_e5m2(((const uint8_t *)from)[i]); break;
        case DTYPE_I8: to[i] = ((const int8_t *)from)[i]; break;
        case DTYPE_BOOL: to[i] = ((const uint8_t *)from)[i]; break;
        }
}

void null_encode(enum dtype dtype, const float *from, int64_t count, void *to)
{
#pragma omp parallel for
    for (int64_t i = 0; i < count; i++)
        fill_store(dtype, to, i, from[i]);
}

/* --- what they hold --- */

struct moments {
    double mean, deviation, least, greatest;
};

/* Of the finite elements. */
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

/* Sums of uniforms: near enough to normal. */
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
    const int64_t width = s->shape->dim[s->shape->rank - 1];
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
    case NULL_FIRST_ROW: repeat(out, s->count, s->expected, s->shape->dim[s->shape->rank - 1]); break;
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
