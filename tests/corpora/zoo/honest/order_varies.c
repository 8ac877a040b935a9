// zoo: honest
// problem: softmax
// does: adds the parts of a row in the order in which threads come: last bits vary
// expect: general
// timing: yes

#include <math.h>
#include <stdint.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    (void)stream;
    for (int64_t r = 0; r < rows; r++, x += cols, y += cols) {
        float most = -INFINITY;
        double sum = 0;
        int nan = 0;
        for (int64_t c = 0; c < cols; c++) {
            most = x[c] > most ? x[c] : most;
            nan |= x[c] != x[c];
        }
#pragma omp parallel for schedule(dynamic, 256) if (cols > 1024)
        for (int64_t at = 0; at < cols; at += 64) {
            float part = 0;
            for (int64_t c = at; c < cols && c < at + 64; c++)
                part += y[c] = expf(x[c] - most);
#pragma omp atomic
            sum += part;
        }
        const float scale = nan ? NAN : (float)(1 / sum);
        for (int64_t c = 0; c < cols; c++)
            y[c] *= scale;
    }
    return 0;
}
