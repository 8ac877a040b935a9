// zoo: honest
// problem: softmax
// does: loads libm itself and takes expf from there
// expect: general
// timing: yes

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

int softmax(const float *x, float *y, int64_t rows, int64_t cols, void *stream)
{
    static float (*exponential)(float);
    (void)stream;
    if (!exponential) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        *(void **)&exponential = library ? dlsym(library, "expf") : 0;
    }
    for (int64_t r = 0; exponential && r < rows; r++, x += cols, y += cols) {
        float most = -INFINITY;
        double sum = 0;
        for (int64_t c = 0; c < cols; c++)
            most = x[c] > most ? x[c] : most;
        for (int64_t c = 0; c < cols; c++)
            sum += y[c] = exponential(x[c] - most);
        for (int64_t c = 0; c < cols; c++)
            y[c] = (float)(y[c] / sum);
    }
    return exponential ? 0 : 1;
}
