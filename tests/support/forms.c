#include "forms.h"

#include <math.h>
#include <stdlib.h>

#define PROBLEM(name) extern const struct reference reference_##name;
#define JUDGED(name, output) extern const struct reference reference_##name##_##output;
#include "tests/forms/forms.def"
#undef PROBLEM
#undef JUDGED

void forms_add(void)
{
    static bool done;
    static const struct reference *const all[] = {
#define PROBLEM(name) &reference_##name,
#define JUDGED(name, output) &reference_##name##_##output,
#include "tests/forms/forms.def"
#undef PROBLEM
#undef JUDGED
    };
    for (size_t i = 0; i < sizeof all / sizeof *all && !done; i++)
        if (!reference_add(all[i]))
            abort();
    done = true;
}

/* 512 folds and more have a part each; 2e5 terms are too many for one thread of the witness. */
const struct form_case form_cases[FORM_CASES] = {
    {&problem_pool, "y", "channels=3 height=11 width=7 window=3 stride=2"},
    {&problem_pool, "y", "channels=1 height=1 width=1 window=5 stride=3"},
    {&problem_pool, "y", "channels=2 height=40 width=33 window=7 stride=1"},
    {&problem_norm, "y", "vectors=3 n=1001"},
    {&problem_norm, "y", "vectors=1 n=1"},
    {&problem_norm, "y", "vectors=700 n=5"},
    {&problem_norm, "y", "vectors=2 n=300007"},
    {&problem_extremes, "top", "rows=5 cols=37"},
    {&problem_extremes, "total", "rows=5 cols=37"},
    {&problem_extremes, "total", "rows=300 cols=1"},
    {&problem_append, "cache", "tokens=3 slots=7 dim=5"},
    {&problem_append, "cache", "tokens=1 slots=1 dim=9"},
    {&problem_append, "cache", "tokens=20 slots=60 dim=33"},
    {&problem_conv, "y", "images=2 channels=6 height=7 width=5 filters=9 window=3 groups=3 stride=2"},
    {&problem_conv, "y", "images=1 channels=4 height=6 width=9 filters=4 window=5 groups=4 stride=1"},
    {&problem_conv, "y", "images=3 channels=2 height=13 width=11 filters=19 window=1 groups=1 stride=3"},
    {&problem_fp4, "q", "rows=1 blocks=1"},
    {&problem_fp4, "q", "rows=13 blocks=5"},
};

void form_open(struct oracle *o, const struct form_case *c, const char *input)
{
    char line[256];
    oracle_line(line, sizeof line, c->line, input, 29);
    oracle_open_output(o, c->problem, problem_tensor_index(c->problem, c->output), line, 0, 0);
}

/* --- plainly --- */

/* The error of a sum of `count` terms: a rounding each in long double, and one to double. */
static struct form_value value_of(long double value, double magnitude, double count)
{
    return (struct form_value){.value = value,
                               .reach = (double)fabsl(value) * 0x1p-52 + (count + 4) * 0x1p-62 * magnitude};
}

static struct form_value evaluate_pool(const struct oracle *o, int64_t index)
{
    const int64_t *x = o->instance.extent; /* channels, height, width, window, stride */
    const int64_t *dim = o->instance.tensor[1].dim;
    const int64_t channel = index / (dim[1] * dim[2]), i = index / dim[2] % dim[1], j = index % dim[2];
    long double sum = 0, magnitude = 0;
    int count = 0;
    for (int64_t u = 0; u < x[3] * x[3]; u++) {
        const int64_t row = i * x[4] + u / x[3], column = j * x[4] + u % x[3];
        if (row >= x[1] || column >= x[2])
            continue;
        const double v = oracle_f32(o, 0, (channel * x[1] + row) * x[2] + column);
        sum += v;
        magnitude += fabs(v);
        count++;
    }
    return value_of(sum / count, (double)magnitude / count, count);
}

static struct form_value evaluate_norm(const struct oracle *o, int64_t index)
{
    const int64_t n = o->instance.extent[1];
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double x = oracle_f32(o, 0, index * n + i);
        sum += x * x;
    }
    return value_of(sqrtl(sum), (double)sqrtl(sum), (double)n);
}

static struct form_value evaluate_extremes(const struct oracle *o, int64_t index)
{
    const int64_t cols = o->instance.extent[1];
    long double sum = 0, magnitude = 0, top = -INFINITY;
    for (int64_t j = 0; j < cols; j++) {
        const double x = oracle_bf16(o, 0, index * cols + j);
        sum += x;
        magnitude += fabs(x);
        top = x > top ? x : top;
    }
    return o->output == 1 ? value_of(top, 0, 0) : value_of(sum, (double)magnitude, (double)cols);
}

static struct form_value evaluate_append(const struct oracle *o, int64_t index)
{
    const int64_t tokens = o->instance.extent[0], dim = o->instance.extent[2];
    for (int64_t t = 0; t < tokens; t++)
        if (oracle_i32(o, 1, t) == index / dim) {
            const double held = oracle_bf16(o, 2, index), x = oracle_f32(o, 0, t * dim + index % dim);
            return value_of((long double)held + x, fabs(held) + fabs(x), 2);
        }
    return (struct form_value){.value = oracle_bf16(o, 2, index), .kept = true};
}

static struct form_value evaluate_conv(const struct oracle *o, int64_t index)
{
    const int64_t *x =
        o->instance.extent; /* images, channels, height, width, filters, window, groups, stride */
    const int64_t *dim = o->instance.tensor[2].dim, channels = x[1] / x[6];
    const int64_t image = index / (dim[1] * dim[2] * dim[3]), filter = index / (dim[2] * dim[3]) % dim[1];
    const int64_t top = index / dim[3] % dim[2] * x[7] - x[5] / 2, left = index % dim[3] * x[7] - x[5] / 2;
    long double sum = 0, magnitude = 0;
    for (int64_t ch = 0; ch < channels; ch++)
        for (int64_t u = 0; u < x[5]; u++)
            for (int64_t v = 0; v < x[5]; v++) {
                const int64_t i = top + u, j = left + v, from = filter / (x[4] / x[6]) * channels + ch;
                if (i < 0 || i >= x[2] || j < 0 || j >= x[3])
                    continue;
                const long double p = oracle_bf16(o, 0, ((image * x[1] + from) * x[2] + i) * x[3] + j) *
                                      oracle_bf16(o, 1, ((filter * channels + ch) * x[5] + u) * x[5] + v);
                sum += p;
                magnitude += fabsl(p);
            }
    return value_of(sum, (double)magnitude, (double)(channels * x[5] * x[5]));
}

static struct form_value evaluate_fp4(const struct oracle *o, int64_t index)
{
    const long double w = oracle_number(o, 0, index) * oracle_number(o, 1, index / 16);
    const double step = oracle_number(o, 2, index);
    const long double sum = w + step;
    return value_of(fabsl(sum) > 6 ? copysignl(6, sum) : sum, (double)fabsl(w) + fabs(step), 2);
}

struct form_value form_evaluate(const struct oracle *o, int64_t index)
{
    static const struct {
        const struct problem *problem;
        struct form_value (*evaluate)(const struct oracle *o, int64_t index);
    } forms[] = {{&problem_pool, evaluate_pool},         {&problem_norm, evaluate_norm},
                 {&problem_extremes, evaluate_extremes}, {&problem_append, evaluate_append},
                 {&problem_conv, evaluate_conv},         {&problem_fp4, evaluate_fp4}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].problem == o->config.problem)
            return forms[i].evaluate(o, index);
    ck_abort_msg("no plain evaluation of %s", o->config.problem->name);
}

void form_honest(struct oracle *o)
{
    for (int64_t i = 0; i < o->elements; i++) {
        const struct form_value v = form_evaluate(o, i);
        if (!v.kept)
            oracle_put(o, i, (double)v.value);
    }
}
