/* The enclosure of a contraction on the GPU, one block per tile: a part of enclosure_cuda.cu. */
#include "contraction.h"

/* A tile has the columns of all sums side by side, OUT outputs each. Every thread computes EACH x EACH
 * elements of the tile, including all sums of each of its outputs. */
enum { TILE = 64, DEPTH = 16, EACH = 4, OUT = TILE / REF_SUMS, OUT_EACH = EACH / REF_SUMS };

/* Both operands of one step. The sum uses doubles, in which the products are exact. sum |p| and sum p^2 use
 * singles, since they only scale the allowed error. */
struct panels {
    double a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
    float fa[DEPTH][TILE + 1], fb[DEPTH][TILE + 1];
#ifdef REF_SIZED
    float size[DEPTH][TILE + 1];
#endif
};

/* A thread loads one term of a for every 16th row. */
REF_FN void load_a(const struct ref_context *c, const int64_t shape[3], const struct rows *rows,
                   const struct ref_row *placed, int64_t k0, struct panels *p)
{
    const int l = threadIdx.x % DEPTH;
    const bool inside = k0 + l < shape[2];
    const struct ref_term term = ref_term_of(c, k0 + (inside ? l : 0));
    for (int row = threadIdx.x / DEPTH; row < TILE; row += THREADS / DEPTH) {
        const bool in_a = inside && rows->first + row < rows->end;
        p->a[l][row] = in_a ? ref_a_of(c, &placed[row], &term) : 0;
        p->fa[l][row] = (float)p->a[l][row];
    }
}

REF_FN void load_b(const struct ref_context *c, const int64_t shape[3], const struct rows *rows, int64_t n0,
                   int64_t k0, struct panels *p)
{
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int row = i / DEPTH, l = i % DEPTH;
        const int64_t n = n0 + row % OUT;
        const bool in_b = n < shape[1] && k0 + l < shape[2];
        p->b[l][row] = in_b ? contraction_b(c, rows->group, row / OUT, n, k0 + l) : 0;
        p->fb[l][row] = (float)p->b[l][row];
#ifdef REF_SIZED
        p->size[l][row] = in_b ? (float)ref_b_size(c, n, k0 + l) : 0;
#endif
    }
}

struct partial {
    double sum[EACH][EACH];
    float magnitude[EACH][EACH], square[EACH][EACH];
#ifdef REF_SIZED
    float size[EACH][EACH], size_square[EACH][EACH];
#endif
};

REF_FN void contract_panels(const struct panels *p, int ty, int tx, struct partial *s)
{
    for (int l = 0; l < DEPTH; l++) {
        double a[EACH], b[EACH];
        float fa[EACH], fb[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            a[i] = p->a[l][ty + 16 * i];
            b[i] = p->b[l][tx + 16 * i];
            fa[i] = p->fa[l][ty + 16 * i];
            fb[i] = p->fb[l][tx + 16 * i];
        }
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                const float q = fa[i] * fb[j];
                s->sum[i][j] = fma(a[i], b[j], s->sum[i][j]);
                s->magnitude[i][j] += fabsf(q);
                s->square[i][j] = fmaf(q, q, s->square[i][j]);
#ifdef REF_SIZED
                const float size = fabsf(fa[i]) * p->size[l][tx + 16 * j];
                s->size[i][j] += size;
                s->size_square[i][j] = fmaf(size, size, s->size_square[i][j]);
#endif
            }
    }
}

/* The sums of a thread's output j are at j, j + OUT_EACH, ..; in the panel these columns are OUT apart. */
REF_FN void judge_tile(const struct work *w, struct error_stats *tally, const struct partial *s,
                       const struct rows *rows, int64_t n0, const int64_t shape[3])
{
    /* covers the rounding of sums in singles */
    const double terms = (double)shape[2], up = 1 + terms * 0x1p-22;
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < OUT_EACH; j++) {
            const int64_t m = rows->first + threadIdx.x / 16 + 16 * i;
            const int64_t n = n0 + threadIdx.x % 16 + 16 * j;
            if (m >= rows->end || n >= shape[1])
                continue;
            struct acc sum[REF_ACCOUNTS];
            struct ref_element e;
            e.kept = false;
            for (int part = 0; part < REF_SUMS; part++) {
                const int at = part * OUT_EACH + j;
                sum[part] = {s->sum[i][at], s->magnitude[i][at] * up, s->square[i][at] * up, 0, terms};
            }
#ifdef REF_SIZED
            sum[REF_SIZE] = {0, s->size[i][j] * up, s->size_square[i][j] * up, 0, terms};
#endif
            ref_finish(&w->request.context, m, n, sum, &e);
            judge_element(w, tally, &e, contraction_index(&w->request.context, shape, m, n));
        }
}

static __global__ void __launch_bounds__(THREADS) judge_kernel(const __grid_constant__ struct work w)
{
    __shared__ struct panels panels;
    __shared__ struct ref_row placed[TILE];
    const struct ref_context *c = &w.request.context;
    struct error_stats tally = error_stats_zero();
    int64_t shape[3];
    ref_shape(c, shape);
    const int64_t across = (shape[1] + OUT - 1) / OUT;
    const int64_t tiles = contraction_row_tiles(c, shape, TILE) * across;

    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const struct rows rows = contraction_rows(c, shape, TILE, tile / across);
        const int64_t n0 = tile % across * OUT;
        struct partial s = {};
        if (threadIdx.x < TILE && rows.first + threadIdx.x < rows.end)
            placed[threadIdx.x] = ref_row_of(c, rows.first + threadIdx.x);
        __syncthreads();
        for (int64_t k0 = 0; k0 < shape[2]; k0 += DEPTH) {
            load_a(c, shape, &rows, placed, k0, &panels);
            load_b(c, shape, &rows, n0, k0, &panels);
            __syncthreads();
            contract_panels(&panels, threadIdx.x / 16, threadIdx.x % 16, &s);
            __syncthreads();
        }
        judge_tile(&w, &tally, &s, &rows, n0, shape);
    }
    merge_block(&w, &tally);
}

/* A contraction can use any number of blocks, and needs no scratch. */
static cudaError_t ask_shape(const struct ref_context *c, int64_t shape[2])
{
    (void)c;
    shape[0] = INT64_MAX;
    shape[1] = 0;
    return cudaSuccess;
}
