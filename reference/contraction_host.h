/* The enclosure of a contraction on the host, tile by tile: a part of enclosure_host.c. */
#include "contraction.h"

/* A panel has the columns of all sums side by side: TILE_N / REF_SUMS outputs each. */
enum { TILE_M = 4, TILE_N = 16, OUT_N = TILE_N / REF_SUMS, CHUNK_M = 64, CHUNK_N = 128 / REF_SUMS };

/* Operands of one chunk, unpacked: a is [CHUNK_M][k]; b is [k][TILE_N]; size, the magnitudes that scale b's
 * errors, is [k][TILE_N]. */
struct panels {
    float *a, *b, *size;
};

/* sum, sum |p| and sum p^2 of a TILE_M x TILE_N tile. The products are exact in double. Magnitudes and
 * squares use singles, since they only scale the allowed error. */
struct tile {
    double sum[TILE_M][TILE_N];
    float magnitude[TILE_M][TILE_N], square[TILE_M][TILE_N];
#ifdef REF_SIZED
    float size[TILE_M][TILE_N], size_square[TILE_M][TILE_N];
#endif
};

__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
contract_tile(const float *a, const struct panels *panels, int64_t k, struct tile *tile)
{
    for (int i = 0; i < TILE_M; i++) {
        double sum[TILE_N] = {0};
        float magnitude[TILE_N] = {0}, square[TILE_N] = {0};
        for (int64_t l = 0; l < k; l++) {
            const float x = a[i * k + l];
            const float *y = panels->b + l * TILE_N;
#pragma omp simd
            for (int j = 0; j < TILE_N; j++) {
                const float p = x * y[j];
                sum[j] += (double)x * (double)y[j];
                magnitude[j] += fabsf(p);
                square[j] += p * p;
            }
        }
        memcpy(tile->sum[i], sum, sizeof sum);
        memcpy(tile->magnitude[i], magnitude, sizeof magnitude);
        memcpy(tile->square[i], square, sizeof square);
    }
}

#ifdef REF_SIZED
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static void
size_tile(const float *a, const struct panels *panels, int64_t k, struct tile *tile)
{
    memset(tile->size, 0, sizeof tile->size);
    memset(tile->size_square, 0, sizeof tile->size_square);
    for (int i = 0; i < TILE_M; i++)
        for (int64_t l = 0; l < k; l++)
#pragma omp simd
            for (int j = 0; j < TILE_N; j++) {
                const float p = a[i * k + l] * panels->size[l * TILE_N + j];
                tile->size[i][j] += fabsf(p);
                tile->size_square[i][j] += p * p;
            }
}
#endif

static void judge_tile(const struct work *w, struct error_stats *tally, const struct tile *tile,
                       const struct rows *rows, int64_t m0, int64_t n0, const int64_t shape[3])
{
    const double terms = (double)shape[2], up = singles_up(terms);
    for (int i = 0; i < TILE_M && m0 + i < rows->end; i++)
        for (int j = 0; j < OUT_N && n0 + j < shape[1]; j++) {
            struct acc sum[REF_ACCOUNTS];
            struct ref_element e;
            e.kept = false;
            for (int s = 0; s < REF_SUMS; s++) {
                const int at = s * OUT_N + j;
                sum[s] = (struct acc){tile->sum[i][at], tile->magnitude[i][at] * up, tile->square[i][at] * up,
                                      0, terms};
            }
#ifdef REF_SIZED
            sum[REF_SIZE] = (struct acc){0, tile->size[i][j] * up, tile->size_square[i][j] * up, 0, terms};
#endif
            ref_finish(&w->request->context, m0 + i, n0 + j, sum, &e);
            judge_element(w, tally, &e, contraction_index(&w->request->context, shape, m0 + i, n0 + j));
        }
}

static void unpack_a(const struct ref_context *c, const struct rows *rows, int64_t k, float *a)
{
    const int64_t count = rows->end - rows->first < CHUNK_M ? rows->end - rows->first : CHUNK_M;
    memset(a + count * k, 0, (size_t)((CHUNK_M - count) * k) * sizeof *a);
#ifdef REF_PLACED
    struct ref_row placed[CHUNK_M];
    for (int64_t i = 0; i < count; i++)
        placed[i] = ref_row_of(c, rows->first + i);
    for (int64_t l = 0; l < k; l++) {
        const struct ref_term term = ref_term_of(c, l);
        for (int64_t i = 0; i < count; i++)
            a[i * k + l] = (float)ref_a_of(c, &placed[i], &term);
    }
#else
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < k; l++)
            a[i * k + l] = (float)ref_a(c, rows->first + i, l);
#endif
}

static void unpack_b(const struct ref_context *c, int64_t group, int64_t n0, const int64_t shape[3],
                     const struct panels *panels)
{
    for (int64_t l = 0; l < shape[2]; l++)
        for (int j = 0; j < TILE_N; j++) {
            const int64_t n = n0 + j % OUT_N;
            const bool inside = n < shape[1];
            panels->b[l * TILE_N + j] = inside ? (float)contraction_b(c, group, j / OUT_N, n, l) : 0;
#ifdef REF_SIZED
            panels->size[l * TILE_N + j] = inside ? (float)ref_b_size(c, n, l) : 0;
#endif
        }
}

/* Judges all rows of `rows` (at most CHUNK_M) in columns [n0, n0 + CHUNK_N). */
static void judge_chunk(const struct work *w, struct error_stats *tally, const struct rows *rows, int64_t n0,
                        const int64_t shape[3], const struct panels *panels)
{
    const struct ref_context *c = &w->request->context;
    const int64_t k = shape[2];
    unpack_a(c, rows, k, panels->a);
    for (int64_t n = n0; n < n0 + CHUNK_N && n < shape[1]; n += OUT_N) {
        unpack_b(c, rows->group, n, shape, panels);
        for (int64_t i = 0; rows->first + i < rows->end; i += TILE_M) {
            struct tile tile;
            contract_tile(panels->a + i * k, panels, k, &tile);
#ifdef REF_SIZED
            size_tile(panels->a + i * k, panels, k, &tile);
#endif
            judge_tile(w, tally, &tile, rows, rows->first + i, n, shape);
        }
    }
}

static bool panels_open(struct panels *p, int64_t k)
{
    p->a = malloc((size_t)(CHUNK_M * k) * sizeof *p->a);
    p->b = malloc((size_t)(TILE_N * k) * sizeof *p->b);
    p->size = malloc((size_t)(TILE_N * k) * sizeof *p->size);
    return p->a && p->b && p->size;
}

static int judge_all(const struct work *w, struct error_stats *total)
{
    int64_t shape[3];
    int failed = 0;
    ref_shape(&w->request->context, shape);
    const int64_t across = (shape[1] + CHUNK_N - 1) / CHUNK_N;
    const int64_t chunks = contraction_row_tiles(&w->request->context, shape, CHUNK_M) * across;
#pragma omp parallel
    {
        struct error_stats tally = error_stats_zero();
        struct panels panels;
        const bool ready = panels_open(&panels, shape[2]);
#pragma omp for schedule(dynamic)
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            if (ready) {
                const struct rows rows =
                    contraction_rows(&w->request->context, shape, CHUNK_M, chunk / across);
                judge_chunk(w, &tally, &rows, chunk % across * CHUNK_N, shape, &panels);
            }
#pragma omp critical(judge_merge)
        {
            error_stats_merge(total, &tally);
            failed |= !ready;
        }
        free(panels.a);
        free(panels.b);
        free(panels.size);
    }
    return failed ? -1 : 0;
}
