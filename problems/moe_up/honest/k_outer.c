// problem: moe_up
// verdict: general
// construction: k outermost: slabs of 32 rows of an expert's weights, gate beside up, update fp32
// sums [64, 2 inter_dim] of a tile of its rows; tiles in a list made before
#include "../../candidate.h"
#include <stdlib.h>

enum { ROWS = 64, DEPTH = 32 };

struct tile {
    int64_t expert, first, last;
};

/* Cuts every expert's rows into tiles of at most 64; list has room for tokens / 64 + experts. */
static int64_t list_tiles(const int32_t *offsets, int64_t experts, struct tile *list)
{
    int64_t count = 0;

    for (int64_t e = 0; e < experts; e++)
        for (int64_t r = offsets[e]; r < offsets[e + 1]; r += ROWS) {
            int64_t last = offsets[e + 1] - r < ROWS ? offsets[e + 1] : r + ROWS;
            list[count++] = (struct tile){e, r, last};
        }
    return count;
}

/* slab[p] = row k0 + p of the gate weights, then of the up weights */
static void convert_slab(const bf16 *w_gate, const bf16 *w_up, float *slab, int64_t depth,
                         int64_t inter_dim)
{
    for (int64_t p = 0; p < depth; p++)
        for (int64_t j = 0; j < inter_dim; j++) {
            slab[2 * p * inter_dim + j] = bf16_to_float(w_gate[p * inter_dim + j]);
            slab[(2 * p + 1) * inter_dim + j] = bf16_to_float(w_up[p * inter_dim + j]);
        }
}

/* sum[i][:] += x[i][p] * slab[p][:] over the slab; x is the tile's first row from column k0 on. */
static void update(const bf16 *x, const float *slab, float *sum, int64_t rows, int64_t depth,
                   int64_t hidden_dim, int64_t width)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = 0; p < depth; p++) {
            float factor = bf16_to_float(x[i * hidden_dim + p]);
            float *row = sum + i * width;
#pragma omp simd
            for (int64_t j = 0; j < width; j++)
                row[j] += factor * slab[p * width + j];
        }
}

static float silu(float gate)
{
    float e = expf(-fabsf(gate)); /* never overflows */

    return gate < 0 ? gate * e / (1.0f + e) : gate / (1.0f + e);
}

/* space holds 64 rows of sums and a slab, all 2 inter_dim wide. */
static void project(struct tile t, const bf16 *hidden, const bf16 *w_gate, const bf16 *w_up,
                    bf16 *out, float *space, int64_t hidden_dim, int64_t inter_dim)
{
    int64_t width = 2 * inter_dim, rows = t.last - t.first;
    float *sum = space, *slab = space + ROWS * width;

    memset(sum, 0, (size_t)(rows * width) * sizeof *sum);
    for (int64_t k0 = 0; k0 < hidden_dim; k0 += DEPTH) {
        int64_t depth = hidden_dim - k0 < DEPTH ? hidden_dim - k0 : DEPTH;
        int64_t at = (t.expert * hidden_dim + k0) * inter_dim;

        convert_slab(w_gate + at, w_up + at, slab, depth, inter_dim);
        update(hidden + t.first * hidden_dim + k0, slab, sum, rows, depth, hidden_dim, width);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < inter_dim; j++)
            out[(t.first + i) * inter_dim + j] =
                float_to_bf16(silu(sum[i * width + j]) * sum[i * width + inter_dim + j]);
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    struct tile *list = malloc((size_t)(tokens / ROWS + experts) * sizeof *list);
    int64_t count = list ? list_tiles(expert_offsets, experts, list) : 0;
    int failed = !list;

    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t i = 0; i < count; i++) {
        float *space = malloc((size_t)((ROWS + DEPTH) * 2 * inter_dim) * sizeof *space);

        failed |= !space;
        if (space)
            project(list[i], hidden, w_gate, w_up, out, space, hidden_dim, inter_dim);
        free(space);
    }
    free(list);
    return failed;
}
