/* Every problem once more, in double with plain loops: the outputs of an honest program. */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void honest_gemm_fp8(struct oracle *o)
{
    const int64_t m = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += oracle_e4m3(o, 0, i * k + l) * oracle_e4m3(o, 1, j * k + l);
            oracle_put(o, i * n + j, sum * oracle_f32(o, 2, j));
        }
}

/* gemm_bf16 and gemm_f32; b is [k, n], or [n, k] where the fourth extent says so. */
static void honest_gemm(struct oracle *o)
{
    const int64_t m = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    const int64_t down = o->instance.extent[3] ? 1 : n, right = o->instance.extent[3] ? k : 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += oracle_number(o, 0, i * k + l) * oracle_number(o, 1, l * down + j * right);
            oracle_put(o, i * n + j, sum);
        }
}

static void honest_gemm_w4a16(struct oracle *o)
{
    const int64_t m = o->instance.extent[0], n = o->instance.extent[1], k = o->instance.extent[2];
    const int64_t group = o->instance.extent[3];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++) {
                const int64_t g = l / group * n + j;
                const double w = oracle_nibble(o, 1, l, j, n) - oracle_bf16(o, 3, g);
                sum += oracle_bf16(o, 0, i * k + l) * w * oracle_bf16(o, 2, g);
            }
            oracle_put(o, i * n + j, sum);
        }
}

static void honest_moe_up(struct oracle *o)
{
    const int64_t dim = o->instance.extent[1], inter = o->instance.extent[2];
    for (int64_t e = 0; e < o->instance.extent[3]; e++)
        for (int64_t r = oracle_i32(o, 1, e); r < oracle_i32(o, 1, e + 1); r++)
            for (int64_t j = 0; j < inter; j++) {
                double gate = 0, up = 0;
                for (int64_t h = 0; h < dim; h++) {
                    const double x = oracle_bf16(o, 0, r * dim + h);
                    gate += x * oracle_bf16(o, 2, (e * dim + h) * inter + j);
                    up += x * oracle_bf16(o, 3, (e * dim + h) * inter + j);
                }
                oracle_put(o, r * inter + j, gate / (1 + exp(-gate)) * up);
            }
}

static void honest_softmax(struct oracle *o)
{
    const int64_t rows = o->instance.extent[0], cols = o->instance.extent[1];
    for (int64_t r = 0; r < rows; r++) {
        double max = -INFINITY, sum = 0;
        for (int64_t c = 0; c < cols; c++)
            max = fmax(max, oracle_f32(o, 0, r * cols + c));
        for (int64_t c = 0; c < cols; c++) /* inf - inf and NaN spread to the row */
            sum += exp(oracle_f32(o, 0, r * cols + c) - max);
        for (int64_t c = 0; c < cols; c++)
            oracle_put(o, r * cols + c, exp(oracle_f32(o, 0, r * cols + c) - max) / sum);
    }
}

static void honest_attention(struct oracle *o)
{
    const int64_t *e = o->instance.extent, heads = e[1], dim = e[3];
    for (int64_t row = 0; row < e[0] * heads; row++) {
        const int64_t b = row / heads, h = row % heads, length = oracle_i32(o, 3, b);
        double *score = malloc((size_t)length * sizeof *score);
        double max = -INFINITY, total = 0;
        for (int64_t t = 0; t < length; t++) {
            score[t] = 0;
            for (int64_t d = 0; d < dim; d++)
                score[t] += oracle_bf16(o, 0, row * dim + d) * oracle_bf16(o, 1, oracle_key(o, b, h, t) + d) /
                            sqrt((double)dim);
            max = fmax(max, score[t]);
        }
        for (int64_t t = 0; t < length; t++)
            total += score[t] = exp(score[t] - max);
        for (int64_t d = 0; d < dim; d++) {
            double sum = 0;
            for (int64_t t = 0; t < length; t++)
                sum += score[t] * oracle_bf16(o, 1, oracle_key(o, b, h, t) + dim + d);
            oracle_put(o, row * dim + d, sum / total);
        }
        free(score);
    }
}

/* One token of one head: `at` is its place among [batch, t, heads]. state is [dk, dv]. */
static void honest_token(struct oracle *o, int64_t at, double *state)
{
    const int64_t dk = o->instance.extent[3], dv = o->instance.extent[4];
    double seen[192] = {0}, out[192] = {0};
    for (int64_t i = 0; i < dk; i++) {
        const double decay = exp(oracle_f32(o, 3, at * dk + i)), key = oracle_bf16(o, 1, at * dk + i);
        for (int64_t j = 0; j < dv; j++)
            seen[j] += key * (state[i * dv + j] *= decay);
    }
    for (int64_t i = 0; i < dk; i++) {
        const double key = oracle_bf16(o, 4, at) * oracle_bf16(o, 1, at * dk + i);
        const double query = oracle_bf16(o, 0, at * dk + i) / sqrt((double)dk);
        for (int64_t j = 0; j < dv; j++) {
            state[i * dv + j] += key * (oracle_bf16(o, 2, at * dv + j) - seen[j]);
            out[j] += query * state[i * dv + j];
        }
    }
    for (int64_t j = 0; j < dv; j++)
        oracle_put(o, at * dv + j, out[j]);
}

static void honest_kda(struct oracle *o)
{
    const int64_t batch = o->instance.extent[0], steps = o->instance.extent[1];
    const int64_t heads = o->instance.extent[2];
    double *state = malloc(192 * 192 * sizeof *state);
    ck_assert(o->instance.extent[3] <= 192 && o->instance.extent[4] <= 192 && state);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t h = 0; h < heads; h++) {
            memset(state, 0, 192 * 192 * sizeof *state);
            for (int64_t t = 0; t < steps; t++)
                honest_token(o, (b * steps + t) * heads + h, state);
        }
    free(state);
}

static const float *row_sorted; /* of qsort below */

static int by_value_descending(const void *a, const void *b)
{
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    if (row_sorted[i] != row_sorted[j])
        return row_sorted[i] < row_sorted[j] ? 1 : -1;
    return i < j ? -1 : 1;
}

static void honest_topk(struct oracle *o)
{
    const int64_t n = o->instance.extent[1], k = o->instance.extent[2];
    int64_t *place = malloc((size_t)n * sizeof *place);
    for (int64_t r = 0; r < o->instance.extent[0]; r++) {
        row_sorted = (const float *)o->tensor[0] + r * n;
        for (int64_t i = 0; i < n; i++)
            place[i] = i;
        qsort(place, (size_t)n, sizeof *place, by_value_descending);
        for (int64_t j = 0; j < k; j++) {
            ((float *)o->tensor[1])[r * k + j] = row_sorted[place[j]];
            ((int64_t *)o->tensor[2])[r * k + j] = place[j];
        }
    }
    free(place);
}

static const struct {
    const char *problem;
    void (*leave)(struct oracle *o);
} programs[] = {
    {"softmax", honest_softmax},
    {"gemm_fp8", honest_gemm_fp8},
    {"paged_attention", honest_attention},
    {"kda", honest_kda},
    {"topk", honest_topk},
    {"moe_up", honest_moe_up},
    {"gemm_w4a16", honest_gemm_w4a16},
    {"gemm_bf16", honest_gemm},
    {"gemm_f32", honest_gemm},
};

void oracle_honest(struct oracle *o)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].problem, o->reference->problem->name) == 0) {
            programs[i].leave(o);
            return;
        }
    ck_abort_msg("no honest program for %s", o->reference->problem->name);
}
