/* Matrix products for candidates that differ from an honest one in a step: panels of 16 columns of b in fp32,
 * then four rows of a at a time. Before the include: nothing for gemm_f32, or BF16, FP8 or W4. */
#include <stdlib.h>

#include "../../../problems/candidate.h"

#if defined FP8
typedef e4m3 a_type, b_type;
typedef bf16 c_type;
static float e4m3_value[256];
#define LOAD(x) e4m3_value[x]
#define STORE(x) float_to_bf16(x)
#elif defined BF16 || defined W4
typedef bf16 a_type, c_type;
#define LOAD(x) bf16_to_float(x)
#define STORE(x) float_to_bf16(x)
#ifdef W4
typedef uint8_t b_type;
#else
typedef bf16 b_type;
#endif
#else
typedef float a_type, b_type, c_type;
#define LOAD(x) (x)
#define STORE(x) (x)
#endif

enum { PANEL = 16, ROWS = 4 };

typedef float vec __attribute__((vector_size(PANEL * sizeof(float))));

struct product {
    const a_type *a;
    const b_type *b;
    c_type *c;
    int64_t m, n, k, pitch;   /* pitch: from a row of a to the next */
    int64_t real_k;           /* where k is padded */
    int64_t along_k, along_n; /* from an element of b to the next of its column, and of its row */
    const bf16 *scales, *zeros;
    int64_t group;
    const float *scale; /* of a column */
    /* The steps: panel[p][j] = b[p][j0 + j]; a row of sums to c; the row of scales for p; the value of a zero point. */
    void (*pack)(const struct product *g, int64_t j0, int64_t columns, float *panel);
    void (*store)(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum);
    int64_t (*group_of)(const struct product *g, int64_t p);
    float (*zero_of)(bf16 zero);
};

static void product_pack(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t j = 0; j < PANEL; j++)
            panel[p * PANEL + j] = j < columns ? LOAD(g->b[p * g->along_k + (j0 + j) * g->along_n]) : 0.0f;
}

static void product_store(const struct product *g, int64_t i, int64_t j0, int64_t columns, const float *sum)
{
    for (int64_t j = 0; j < columns; j++)
        g->c[i * g->n + j0 + j] = STORE(g->scale ? sum[j] * g->scale[j0 + j] : sum[j]);
}

static void product_multiply(const a_type *const a[ROWS], const vec *panel, int64_t k, vec sum[ROWS])
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t p = 0; p < k; p++) {
        s0 += LOAD(a[0][p]) * panel[p];
        s1 += LOAD(a[1][p]) * panel[p];
        s2 += LOAD(a[2][p]) * panel[p];
        s3 += LOAD(a[3][p]) * panel[p];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

/* Rows first .. last - 1 of c. */
static int product_rows(const struct product *g, int64_t first, int64_t last)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t j0 = 0; j0 < g->n; j0 += PANEL) {
        const int64_t columns = g->n - j0 < PANEL ? g->n - j0 : PANEL;
        vec *panel = aligned_alloc(sizeof(vec), (size_t)g->k * sizeof(vec));
        failed |= !panel;
        if (!panel)
            continue;
        g->pack(g, j0, columns, (float *)panel);
        for (int64_t i0 = first; i0 < last; i0 += ROWS) {
            const a_type *rows[ROWS];
            vec sum[ROWS];
            for (int64_t i = 0; i < ROWS; i++) /* past the last row: that row again, not stored */
                rows[i] = g->a + (i0 + i < last ? i0 + i : last - 1) * g->pitch;
            product_multiply(rows, panel, g->k, sum);
            for (int64_t i = 0; i < ROWS && i0 + i < last; i++)
                g->store(g, i0 + i, j0, columns, (const float *)&sum[i]);
        }
        free(panel);
    }
    return failed;
}

static inline int product_run(const struct product *g)
{
    return product_rows(g, 0, g->m);
}

static inline struct product product_of(const a_type *a, const b_type *b, c_type *c, int64_t m, int64_t n,
                                        int64_t k, int64_t trans_b)
{
#ifdef FP8
    for (int bits = 0; bits < 256; bits++)
        e4m3_value[bits] = e4m3_to_float((e4m3)bits);
#endif
    return (struct product){.a = a,
                            .b = b,
                            .c = c,
                            .m = m,
                            .n = n,
                            .k = k,
                            .pitch = k,
                            .along_k = trans_b ? 1 : n,
                            .along_n = trans_b ? k : 1,
                            .pack = product_pack,
                            .store = product_store};
}

#ifdef W4
static int64_t w4_group(const struct product *g, int64_t p)
{
    return p / g->group;
}

static void w4_pack(const struct product *g, int64_t j0, int64_t columns, float *panel)
{
    for (int64_t p = 0; p < g->k; p++) {
        const int64_t row = g->group_of(g, p) * g->n;
        for (int64_t j = 0; j < PANEL; j++) {
            const int64_t at = j0 + j;
            if (j >= columns) {
                panel[p * PANEL + j] = 0;
                continue;
            }
            const int q = g->b[p / 2 * g->n + at] >> (p % 2 * 4) & 15;
            panel[p * PANEL + j] =
                ((float)q - g->zero_of(g->zeros[row + at])) * bf16_to_float(g->scales[row + at]);
        }
    }
}

static inline struct product w4_of(const bf16 *x, const uint8_t *w_q, const bf16 *scales, const bf16 *zeros,
                                   bf16 *y, int64_t m, int64_t n, int64_t k, int64_t group)
{
    struct product g = product_of(x, w_q, y, m, n, k, 0);
    g.scales = scales;
    g.zeros = zeros;
    g.group = group;
    g.pack = w4_pack;
    g.group_of = w4_group;
    g.zero_of = bf16_to_float;
    return g;
}
#endif
