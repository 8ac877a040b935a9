// problem: moe_up
// verdict: general
// construction: expert by expert, panels of 16 columns of both weights; 4 x 16 fp32 sums of each
#include "../candidate.h"
#include <stdlib.h>

enum { PANEL = 16, ROWS = 4 };

typedef float vec __attribute__((vector_size(PANEL * sizeof(float))));

/* panel[p][j] = weight[p][j] of a [hidden, inter] matrix, `columns` <= 16 of them, then zeros. */
static void convert_panel(const bf16 *weight, int64_t hidden_dim, int64_t inter_dim,
                          int64_t columns, float *panel)
{
    memset(panel, 0, (size_t)hidden_dim * sizeof(vec));
    for (int64_t p = 0; p < hidden_dim; p++)
        for (int64_t j = 0; j < columns; j++)
            panel[p * PANEL + j] = bf16_to_float(weight[p * inter_dim + j]);
}

/* sum[i][j] = sum over p of x[i][p] * panel[p][j]: one fp32 chain per element. */
static void multiply(const bf16 *const x[ROWS], const vec *panel, int64_t hidden_dim, vec sum[ROWS])
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};

    for (int64_t p = 0; p < hidden_dim; p++) {
        s0 += bf16_to_float(x[0][p]) * panel[p];
        s1 += bf16_to_float(x[1][p]) * panel[p];
        s2 += bf16_to_float(x[2][p]) * panel[p];
        s3 += bf16_to_float(x[3][p]) * panel[p];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

static float silu(float gate)
{
    return gate / (1.0f + expf(-gate));
}

/* The expert's rows first .. last - 1 of `columns` columns of out. */
static void multiply_panel(const bf16 *hidden, const vec *gate_panel, const vec *up_panel,
                           bf16 *out, int64_t first, int64_t last, int64_t hidden_dim,
                           int64_t inter_dim, int64_t columns)
{
    for (int64_t r0 = first; r0 < last; r0 += ROWS) {
        const bf16 *x[ROWS];
        vec gate[ROWS], up[ROWS];

        for (int64_t i = 0; i < ROWS; i++) /* past the last row: that row again, not stored */
            x[i] = hidden + (r0 + i < last ? r0 + i : last - 1) * hidden_dim;
        multiply(x, gate_panel, hidden_dim, gate);
        multiply(x, up_panel, hidden_dim, up);
        for (int64_t i = 0; i < ROWS && r0 + i < last; i++)
            for (int64_t j = 0; j < columns; j++)
                out[(r0 + i) * inter_dim + j] = float_to_bf16(silu(gate[i][j]) * up[i][j]);
    }
}

int moe_up(const bf16 *hidden, const int32_t *expert_offsets, const bf16 *w_gate, const bf16 *w_up,
           bf16 *out, int64_t tokens, int64_t hidden_dim, int64_t inter_dim, int64_t experts,
           void *stream)
{
    int64_t panels = (inter_dim + PANEL - 1) / PANEL;
    int failed = 0;

    (void)tokens;
    (void)stream;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t work = 0; work < experts * panels; work++) {
        int64_t e = work / panels, j0 = work % panels * PANEL;
        int64_t first = expert_offsets[e], last = expert_offsets[e + 1];
        int64_t columns = inter_dim - j0 < PANEL ? inter_dim - j0 : PANEL;
        int64_t at = e * hidden_dim * inter_dim + j0;

        if (first == last)
            continue;
        vec *packed = aligned_alloc(sizeof(vec), 2 * (size_t)hidden_dim * sizeof(vec));
        if (!packed) {
            failed = 1;
            continue;
        }
        convert_panel(w_gate + at, hidden_dim, inter_dim, columns, (float *)packed);
        convert_panel(w_up + at, hidden_dim, inter_dim, columns, (float *)(packed + hidden_dim));
        multiply_panel(hidden, packed, packed + hidden_dim, out + j0, first, last, hidden_dim,
                       inter_dim, columns);
        free(packed);
    }
    return failed;
}
