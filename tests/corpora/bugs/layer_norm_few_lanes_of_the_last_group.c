// problem: layer_norm
// link: https://github.com/ggml-org/llama.cpp/pull/26708
// title: metal : fix NORM/RMS_NORM for row lengths that leave a partial simdgroup
// condition: a thread has an element, or a vector of 4 where they fit; the last simdgroup has fewer lanes than there are simdgroups
// kind: comparison
// when: cols % 4 == 0 and cols < 4096 and cols % 128 != 0 and cols / 4 % 32 < (cols / 4 + 31) / 32 and cols > 128 or cols % 4 != 0 and cols < 1024 and cols > 32 and cols % 32 < (cols + 31) / 32
// collection: third
// wrong: wrong values: each lane reads a partial sum, and the last simdgroup leaves the rest of them out

#include <math.h>
#include <stdint.h>

enum { LANES = 32, MOST_THREADS = 1024, MOST_GROUPS = MOST_THREADS / LANES };

struct layout {
    int64_t width, threads, groups; /* elements of a thread's vector; threads and simdgroups of a row */
};

static struct layout layout_of(int64_t cols)
{
    const int64_t width = cols % 4 == 0 ? 4 : 1, vectors = cols / width;
    int64_t threads = LANES;
    while (threads < vectors && threads < MOST_THREADS)
        threads *= 2;
#ifdef FIXED
    const int64_t most = (vectors + LANES - 1) / LANES * LANES;
#else
    const int64_t most = vectors;
#endif
    threads = threads < most ? threads : most;
    return (struct layout){width, threads, (threads + LANES - 1) / LANES};
}

static int64_t group_of(const struct layout *l, int64_t c)
{
    return c / l->width % l->threads / LANES;
}

/* The sum of all partial sums, as a simdgroup finds it: a lane for each. */
static double total_of(const struct layout *l, const double *partial, int64_t group)
{
    const int64_t lanes = group == l->groups - 1 ? l->threads - group * LANES : LANES;
    double total = 0;
    for (int64_t lane = 0; lane < lanes && lane < l->groups; lane++)
        total += partial[lane];
    return l->groups == 1 ? partial[0] : total;
}

/* Every simdgroup's own mean, then its own scale. */
static void moments(const struct layout *l, const float *in, int64_t cols, float eps, double *mean,
                    double *scale)
{
    double partial[MOST_GROUPS] = {0};
    for (int64_t c = 0; c < cols; c++)
        partial[group_of(l, c)] += (double)in[c];
    for (int64_t group = 0; group < l->groups; group++)
        mean[group] = total_of(l, partial, group) / (double)cols;
    for (int64_t group = 0; group < l->groups; group++)
        partial[group] = 0;
    for (int64_t c = 0; c < cols; c++) {
        const double centred = (double)in[c] - mean[group_of(l, c)];
        partial[group_of(l, c)] += centred * centred;
    }
    for (int64_t group = 0; group < l->groups; group++)
        scale[group] = 1 / sqrt(total_of(l, partial, group) / (double)cols + (double)eps);
}

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    const struct layout l = layout_of(cols);
    (void)stream;
#pragma omp parallel for schedule(static) if (rows > 1 && rows * cols > 8192)
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * cols;
        double m[MOST_GROUPS] = {0}, scale[MOST_GROUPS] = {0};
        moments(&l, in, cols, eps, m, scale);
        mean[r] = (float)m[0];
        rstd[r] = (float)scale[0];
        for (int64_t c = 0; c < cols; c++) {
            const int64_t group = group_of(&l, c);
            y[r * cols + c] =
                (float)(((double)in[c] - m[group]) * scale[group] * (double)gamma[c] + (double)beta[c]);
        }
    }
    return 0;
}
