// problem: layer_norm
// verdict: general
// construction: Welford's running mean and deviations in float, spans of 256 merged by Chan's rule; x (r gamma) + shift

#include <math.h>
#include <stdint.h>

enum { SPAN = 256 };

struct moments {
    float count, mean, deviations;
};

static struct moments run(const float *x, int64_t n)
{
    struct moments m = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        const float delta = x[i] - m.mean;
        m.count += 1;
        m.mean += delta / m.count;
        m.deviations += delta * (x[i] - m.mean);
    }
    return m;
}

static struct moments merge(struct moments a, struct moments b)
{
    const float count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return (struct moments){count, a.mean + delta * share,
                            a.deviations + b.deviations + delta * delta * a.count * share};
}

static struct moments halves(const float *x, int64_t n)
{
    return n <= SPAN ? run(x, n) : merge(halves(x, n / 2), halves(x + n / 2, n - n / 2));
}

int layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd,
               int64_t rows, int64_t cols, float eps, void *stream)
{
    (void)stream;
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const struct moments m = halves(x + r * cols, cols);
        const float scale = 1 / sqrtf(m.deviations / (float)cols + eps);
        mean[r] = m.mean;
        rstd[r] = scale;
        for (int64_t c = 0; c < cols; c++)
            y[r * cols + c] = x[r * cols + c] * (scale * gamma[c]) + (beta[c] - m.mean * scale * gamma[c]);
    }
    return 0;
}
